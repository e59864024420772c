// Admission of one request: it places the hold, or throws the reason. A request whose idempotency key was used before is not
// admitted: it gets the kept answer of the earlier request, or is refused.

import type { CatalogModel } from "../../catalog/catalog-model.ts";
import {
  AccountFrozen,
  type DomainError,
  InsufficientBalance,
  InvalidApiKey,
  RateLimited,
  TooManyAtOnce,
} from "../../kernel/errors.ts";
import { budgetExceeded, ModelNotAllowed, TokenLimitExceeded } from "../../kernel/key-limit-errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import type { RateState } from "../../kernel/rate.ts";
import { AlreadyAnswered, AlreadyRunning, IdempotencyConflict } from "../../kernel/retry-errors.ts";
import type { Keys } from "../../keys/keys.ts";
import { retryAfterSeconds } from "../../keys/limited-keys.ts";
import type { Admission, AdmissionRequest, Ledger } from "../../ledger/ledger.ts";
import type { ChatCall, ChatSink } from "../chat.ts";
import { heldTokens, type HoldPlan, leastTokens, planWithin } from "./hold.ts";
import type { KeptAnswer } from "../retries/kept-answer.ts";
import type { Retries } from "../retries/retries.ts";

export type AdmitDeps = {
  readonly keys: Pick<Keys, "rememberLimited">;
  readonly ledger: Pick<Ledger, "admit">;
  /** Where a customer tops up, named in the message of a refused request. */
  readonly topUpUrl?: () => string;
  /** Absent: idempotency keys are ignored. */
  readonly retries?: Retries;
};

/**
 * How often a request is admitted with fewer tokens than before: once with those that are left, and again where parallel requests took
 * them in between.
 */
const MOST_CUTS = 2;

/**
 * A request is refused rather than cut below this output where all that it asks for is free so soon: client libraries send it again after the
 * wait, and get a whole answer.
 */
const USUAL_OUTPUT = 1_024;
const SHORT_WAIT_MS = 3_000;

/** `keepsAnswer`: the answer is kept for a retry with the same idempotency key. */
export type Granted = {
  readonly amount: bigint;
  readonly rate: RateState;
  readonly keepsAnswer: boolean;
  /** What was held: the plan of the request, or the part of it that the tokens of the key allow. */
  readonly plan: HoldPlan;
};
/** The earlier request with this idempotency key, its charge, and its answer. */
export type Replay = { readonly answeredRequestId: string; readonly charge: bigint; readonly answer: KeptAnswer };

/**
 * Errors: RateLimited, TooManyAtOnce, AccountFrozen, InvalidApiKey, InsufficientBalance, BudgetExceeded,
 * ModelNotAllowed, TokenLimitExceeded, UpstreamBusy, AlreadyRunning,
 * AlreadyAnswered, IdempotencyConflict.
 */
export async function admit(
  deps: AdmitDeps,
  call: ChatCall,
  model: CatalogModel,
  wanted: HoldPlan,
): Promise<Granted | Replay> {
  const { key, requestId } = call;
  const { accountId, keyId } = key;
  const hold = { accountId, keyId, requestId, model: model.id };
  const once = await onceOf(deps, call);
  const placed = await placeHold(deps, once === null ? hold : { ...hold, once }, wanted);
  const { admission, plan } = placed;
  if (admission.outcome === "granted") {
    return { amount: admission.amount, rate: admission.rate, keepsAnswer: admission.keepsAnswers === true, plan };
  }
  if (admission.outcome === "answered") return replayOf(deps, call, admission);
  throw refusalOf(deps, call, { ...placed, admission, plan: wanted, modelId: model.id });
}

/** `neededTokens`: those that a refusal for want of tokens names. */
type Placed = { readonly admission: Admission; readonly plan: HoldPlan; readonly neededTokens: number };

/** Admits with the tokens that the key has left where they are fewer than the plan has, and enough to be useful. */
async function placeHold(
  { ledger }: AdmitDeps,
  hold: Pick<AdmissionRequest, "accountId" | "keyId" | "requestId" | "model" | "once">,
  wanted: HoldPlan,
): Promise<Placed> {
  const least = leastTokens(wanted);
  let plan = wanted;
  for (let cuts = 0; ; cuts += 1) {
    const { amount, leastAmount, prices } = plan;
    const tokens = heldTokens(plan);
    const admission = await ledger.admit({ ...hold, amount, leastAmount, prices, tokens });
    const isCut = admission.outcome === "token_limited" && least <= admission.limit && least < tokens;
    if (!isCut || cuts === MOST_CUTS) return { admission, plan, neededTokens: least };
    // With fewer left than the least, the least is asked for: the answer has the time after which it is free.
    plan = planWithin(wanted, Math.max(least, Math.min(admission.left, tokens - 1)));
    const isShort = plan.outputBound < Math.min(USUAL_OUTPUT, wanted.outputBound);
    if (cuts === 0 && isShort && admission.retryAfterMs <= SHORT_WAIT_MS)
      return { admission, plan, neededTokens: tokens };
  }
}

type Refused = Exclude<Admission, { outcome: "granted" | "answered" }>;

function refusalOf(
  { keys, topUpUrl }: AdmitDeps,
  { key }: ChatCall,
  { admission, plan, neededTokens, modelId }: Placed & { readonly admission: Refused; readonly modelId: string },
): DomainError {
  const { outcome } = admission;
  if (outcome === "running") return new AlreadyRunning();
  if (outcome === "other_body") return new IdempotencyConflict();
  if (outcome === "revoked") return new InvalidApiKey();
  if (outcome === "frozen") return new AccountFrozen();
  if (outcome === "crowded") return new TooManyAtOnce();
  if (outcome === "limited") {
    keys.rememberLimited(key, admission.retryAfterMs);
    const wait = retryAfterSeconds(admission.retryAfterMs);
    return new RateLimited({ retryAfterSeconds: wait, limit: admission.rate.limit });
  }
  if (outcome === "token_limited") {
    const { limit, left, retryAfterMs } = admission;
    return new TokenLimitExceeded({
      needed: neededTokens,
      left,
      limit,
      retryAfterSeconds: retryAfterSeconds(retryAfterMs),
    });
  }
  if (outcome === "not_allowed") return new ModelNotAllowed(modelId);
  if (outcome === "over_budget") {
    const { of, left, resetsAt } = admission;
    return budgetExceeded(of, { left: idr(left), needed: idr(plan.leastAmount), resetsAt });
  }
  const { available, owed } = admission;
  const needed = {
    available: idr(available),
    needed: idr(plan.leastAmount),
    owed: owed === undefined ? undefined : idr(owed),
  };
  return new InsufficientBalance(topUpUrl === undefined ? needed : { ...needed, topUpUrl: topUpUrl() });
}

/** Sends the kept answer of an earlier request. */
export function sendReplay({ answeredRequestId, charge, answer }: Replay, sink: ChatSink): void {
  const { bytes, format, demo, origin, streamed } = answer;
  const head = { rate: null, demo, origin, replayOf: answeredRequestId };
  if (!streamed) {
    sink.answer(head, { json: bytes, format, costIdr: formatMoney(idr(charge)) });
    return;
  }
  sink.begin(head);
  sink.end({ passed: bytes, format });
}

async function onceOf({ retries }: AdmitDeps, { idempotencyKey, body, client }: ChatCall) {
  if (retries === undefined || idempotencyKey === undefined || idempotencyKey === null) return null;
  // The same chat form in another protocol is another request: its answer is written in another form.
  const own = client === undefined ? body : Buffer.concat([Buffer.from(`${client.protocol} `), client.body]);
  return { name: idempotencyKey, bodyDigest: await retries.digestOf(own) };
}

async function replayOf(
  { retries }: AdmitDeps,
  { key: { accountId } }: ChatCall,
  { requestId, charge, keepsAnswers }: Extract<Admission, { outcome: "answered" }>,
): Promise<Replay> {
  const answer = keepsAnswers ? await retries?.find({ accountId, requestId }) : null;
  if (!answer) throw new AlreadyAnswered({ requestId, cost: idr(charge) });
  return { answeredRequestId: requestId, charge, answer };
}
