// The use case of the gateway: one chat request from its body to its settlement. It asks keys, catalog and ledger, calls an
// upstream, and completes no answer before it is billed. It depends on neither HTTP nor RPC.

import type { Catalog } from "../../catalog/catalog.ts";
import type { CatalogModel, CatalogSnapshot } from "../../catalog/catalog-model.ts";
import { nearestModel } from "../../catalog/nearest-model.ts";
import type { Clock } from "../../kernel/clock.ts";
import { DomainError, InternalError, ModelNotFound, UpstreamBusy } from "../../kernel/errors.ts";
import type { Keys } from "../../keys/keys.ts";
import { ENDLESS_TERM, type RequestTerm } from "../../ledger/lease-term.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { admit, sendReplay } from "../admission/admit.ts";
import { countLargeRefusal } from "../admission/count-large-refusal.ts";
import { answerStreamed } from "./answer-streamed.ts";
import { answerWhole } from "./answer-whole.ts";
import { Bill } from "../metering/bill.ts";
import type { ChatCall, ChatOutcome, ChatSink, Gateway } from "../chat.ts";
import type { Exchange, GatewayEvent } from "./exchange.ts";
import { outputCap, planHold } from "../admission/hold.ts";
import { LearnedModels } from "../upstreams/learned-models.ts";
import { routesThatMayTake } from "../request/cache-marks.ts";
import { type ChatRequest, readRequest, requireFits } from "../request/read-request.ts";
import { KeepingSink } from "../retries/keeping-sink.ts";
import type { Retries } from "../retries/retries.ts";
import { settleUndelivered } from "./settle-undelivered.ts";
import type { Upstreams } from "../upstreams/upstreams.ts";
import { ClientPresence } from "./client-presence.ts";
import { Drains } from "./drains.ts";
import { ProgressRecorder } from "./progress.ts";

/** A request that is still running after this long is ended, so that no hold keeps a balance aside without end. */
export const MAX_DURATION_MS = 15 * 60_000;

export type GatewayDeps = {
  readonly keys: Pick<Keys, "refuseWhileLimited" | "rememberLimited" | "takeSlot">;
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly upstreams: Upstreams;
  readonly clock: Clock;
  /** Where a customer tops up, named in the message of a refused request. */
  readonly topUpUrl?: () => string;
  /** The answers that retries with the same Idempotency-Key get. Absent: idempotency keys are ignored. */
  readonly retries?: Retries;
  readonly maxDurationMs?: number;
  /** Records the progress of streams. */
  readonly progress?: ProgressRecorder;
  /** The lease term of requests that are admitted now. Absent: no lease ends a request. */
  readonly term?: () => RequestTerm;
  /** The silence of a stream after which a comment goes out, in milliseconds. 0 or absent: never. */
  readonly keepAliveMs?: number;
  /** What earlier answers showed about models. Absent: each gateway learns by itself. */
  readonly learned?: LearnedModels;
  /** The lowest speed at which an answer is written that is not streamed. Absent: as in time-limits.ts. */
  readonly slowestTokensPerSecond?: number;
  /** Reads answers to their end after their clients have left. Absent: such calls are aborted. */
  readonly drains?: Drains;
  /** Where streams are kept while they wait for more to be held. */
  readonly waitingStreams?: Set<unknown>;
  /** Receives the events that callers do not see: failed attempts, broken streams, failed settlements, missing credentials. */
  readonly report?: (event: GatewayEvent) => void;
};

/** Opens the gateway over its neighbours. */
export function createGateway(given: GatewayDeps): Gateway {
  const deps = { progress: new ProgressRecorder(), learned: new LearnedModels(), ...given };
  return {
    async answerChat(call, sink) {
      try {
        return await answerChat(deps, call, sink);
      } catch (error) {
        throw error instanceof DomainError ? error : new InternalError({ cause: error });
      }
    },
    async takesEffort(model) {
      const sold = (await deps.catalog.snapshot()).models.get(model);
      return sold !== undefined && deps.learned.apply(sold).hiddenOutput;
    },
  };
}

async function answerChat(
  deps: GatewayDeps & Required<Pick<GatewayDeps, "progress" | "learned">>,
  call: ChatCall,
  sink: ChatSink,
): Promise<ChatOutcome> {
  deps.keys.refuseWhileLimited(call.key);
  const snapshot = await deps.catalog.snapshot();
  let request: ChatRequest;
  let model: CatalogModel;
  try {
    request = readRequest(call.body, snapshot.models);
    model = deps.learned.apply(soldModel(request, snapshot));
    requireFits(request, model);
  } catch (error) {
    await countLargeRefusal(deps.keys, call, error);
    throw error;
  }
  const report = deps.report ?? ignore;
  const mayTake = routesThatMayTake(request, model, snapshot.upstreams);
  const routes = deps.upstreams.open(mayTake, snapshot.upstreams, (unset) =>
    report({ kind: "upstream_without_credential", requestId: call.requestId, ...unset }),
  );
  if (routes.length === 0) throw new UpstreamBusy();

  const client = new ClientPresence(sink);
  if (client.isGone) return "client_left";
  const plan = planHold(request, model);
  const term = deps.term?.() ?? ENDLESS_TERM;
  const admission = await admit(deps, call, model, plan);
  if ("answer" in admission) {
    sendReplay(admission, sink);
    return "answered";
  }
  const { amount, rate, keepsAnswer } = admission;
  const keeper = keepsAnswer ? new KeepingSink(sink) : null;
  const cap = outputCap(plan, amount);
  const bill = new Bill({ call, request, plan, outputCap: cap, ledger: deps.ledger, clock: deps.clock });
  const exchange: Exchange = {
    call,
    sink: keeper ?? sink,
    client: keeper === null ? client : new ClientPresence(keeper),
    request,
    model,
    routes,
    bill,
    rate,
    outputCap: cap,
    plan,
    granted: amount,
    drains: deps.drains ?? NO_DRAINS,
    progress: deps.progress,
    waitingStreams: deps.waitingStreams ?? new Set(),
    topUpUrl: deps.topUpUrl,
    deadlineMs: call.receivedAtMs + (deps.maxDurationMs ?? MAX_DURATION_MS),
    clock: deps.clock,
    term,
    keepAliveMs: deps.keepAliveMs ?? 0,
    slowestTokensPerSecond: deps.slowestTokensPerSecond,
    learned: deps.learned,
    report,
  };
  try {
    if (exchange.client.isGone) return "client_left";
    const outcome = await (request.stream ? answerStreamed(exchange) : answerWhole(exchange));
    if (keeper !== null && outcome === "answered") await keepAnswer(deps, exchange, keeper);
    return outcome;
  } finally {
    if (!bill.isSettled) await settleUndelivered(exchange);
  }
}

function soldModel(request: ChatRequest, { models }: CatalogSnapshot): CatalogModel {
  const sold = models.get(request.model);
  if (sold === undefined) throw new ModelNotFound(request.model, nearestModel(request.model, models.keys()));
  return sold;
}

/** The client already has the answer: where it cannot be kept, a retry is refused and nothing else fails. */
async function keepAnswer({ retries }: GatewayDeps, { call, report }: Exchange, keeper: KeepingSink): Promise<void> {
  const { kept } = keeper;
  if (kept === null) return;
  const { requestId } = call;
  try {
    await retries?.keep({ accountId: call.key.accountId, requestId }, kept);
  } catch (cause) {
    report({ kind: "answer_not_kept", requestId, cause });
  }
}

const NO_DRAINS = new Drains({ most: 0, withinMs: 0 });

function ignore(): void {}
