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
import { budgetExceeded, budgetResetMs, ModelNotAllowed, TokenLimitExceeded } from "../../kernel/key-limit-errors.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import type { RateState } from "../../kernel/rate.ts";
import { AlreadyAnswered, AlreadyRunning, IdempotencyConflict } from "../../kernel/retry-errors.ts";
import type { Keys } from "../../keys/keys.ts";
import { retryAfterSeconds } from "../../keys/limited-keys.ts";
import type { Admission, Ledger } from "../../ledger/ledger.ts";
import type { ChatCall, ChatSink } from "../chat.ts";
import { heldTokens, type HoldPlan } from "./hold.ts";
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

/** `keepsAnswer`: the answer is kept for a retry with the same idempotency key. */
export type Granted = { readonly amount: bigint; readonly rate: RateState; readonly keepsAnswer: boolean };
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
  plan: HoldPlan,
): Promise<Granted | Replay> {
  const { key, requestId } = call;
  const { accountId, keyId } = key;
  const { amount, leastAmount, prices } = plan;
  const tokens = heldTokens(plan);
  const hold = { accountId, keyId, requestId, amount, leastAmount, model: model.id, prices, tokens };
  const once = await onceOf(deps, call);
  const admission = await deps.ledger.admit(once === null ? hold : { ...hold, once });
  if (admission.outcome === "granted") {
    return { amount: admission.amount, rate: admission.rate, keepsAnswer: admission.keepsAnswers === true };
  }
  if (admission.outcome === "answered") return replayOf(deps, call, admission);
  throw refusalOf(deps, call, { admission, leastAmount, tokens, modelId: model.id });
}

type Refused = Exclude<Admission, { outcome: "granted" | "answered" }>;

function refusalOf(
  { keys, topUpUrl }: AdmitDeps,
  { key }: ChatCall,
  {
    admission,
    leastAmount,
    tokens,
    modelId,
  }: {
    readonly admission: Refused;
    readonly leastAmount: bigint;
    readonly tokens: number;
    readonly modelId: string;
  },
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
    const wait = retryAfterSeconds(retryAfterMs);
    return new TokenLimitExceeded({ needed: tokens, left, limit, retryAfterSeconds: wait });
  }
  if (outcome === "not_allowed") return new ModelNotAllowed(modelId);
  if (outcome === "over_budget") {
    const { of, period, left } = admission;
    const resetMs = budgetResetMs(period, Date.now());
    const resetsAt = resetMs === null ? null : new Date(resetMs);
    return budgetExceeded(of, { left: idr(left), needed: idr(leastAmount), resetsAt });
  }
  const { available, owed } = admission;
  const needed = {
    available: idr(available),
    needed: idr(leastAmount),
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
