// What every request has in common, from its body to its settlement: it asks keys, catalog and ledger, calls an upstream, and
// completes no answer before it is billed. It depends on neither HTTP nor RPC.

import { traced } from "../../kernel/tracing.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { CatalogModel, CatalogSnapshot, ModelKind, Route } from "../../catalog/catalog-model.ts";
import { nearestModel } from "../../catalog/nearest-model.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type DomainError, ModelNotFound, UpstreamBusy } from "../../kernel/errors.ts";
import type { Keys } from "../../keys/keys.ts";
import { ENDLESS_TERM, type RequestTerm } from "../../ledger/lease-term.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { admit, sendReplay } from "../admission/admit.ts";
import { countLargeRefusal } from "../admission/count-large-refusal.ts";
import { type HoldPlan, outputCap } from "../admission/hold.ts";
import type { ChatCall, ChatOutcome, ChatSink } from "../chat.ts";
import { Bill } from "../metering/bill.ts";
import type { BilledRequest } from "../metering/billed-request.ts";
import { problem } from "../request/field-rules.ts";
import { refuse } from "../request/read-json.ts";
import { KeepingSink } from "../retries/keeping-sink.ts";
import type { Retries } from "../retries/retries.ts";
import type { LearnedModels } from "../upstreams/learned-models.ts";
import type { OpenRoute, Upstreams } from "../upstreams/upstreams.ts";
import { ClientPresence } from "./client-presence.ts";
import { Drains } from "./drains.ts";
import type { Exchange, GatewayEvent } from "./exchange.ts";
import type { ProgressRecorder } from "./progress.ts";
import type { RouteHealth } from "./route-health.ts";
import { CLIENT_LEFT, failureOf } from "./failure-of.ts";
import { settleUndelivered } from "./settle-undelivered.ts";

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

/** The parts, with those that are there by default. */
export type ServeDeps = GatewayDeps &
  Required<Pick<GatewayDeps, "progress" | "learned">> & { readonly health: RouteHealth };

/** A request whose body was read and found well-formed, and how it is answered. */
export type ReadRequest = Pick<Exchange, "endpoint" | "requestFor"> & {
  readonly model: CatalogModel;
  /** The routes of the model that may take it. */
  readonly routes: readonly Route[];
  readonly billed: BilledRequest;
  /** Why a route cannot take it, null where it can. Absent: each route can. */
  readonly refusalBy?: (route: OpenRoute) => DomainError | null;
  /** The routes in the order in which they are tried. Absent: that of the catalog. */
  readonly inOrder?: (routes: readonly OpenRoute[]) => readonly OpenRoute[];
  /** Sizes the hold for the dearest of the routes. */
  readonly planHold: (routes: readonly OpenRoute[]) => HoldPlan;
  readonly answer: (exchange: Exchange) => Promise<ChatOutcome>;
};

/** Reads the call of one endpoint. Errors: ModelNotFound, ValidationError. */
export type ReadCall = (call: ChatCall, snapshot: CatalogSnapshot) => ReadRequest;

/** Reads, admits, answers and settles one request. Errors: those of `Gateway.answerChat`. */
export async function serve(deps: ServeDeps, call: ChatCall, sink: ChatSink, read: ReadCall): Promise<ChatOutcome> {
  deps.keys.refuseWhileLimited(call.key);
  const snapshot = await deps.catalog.snapshot();
  let request: ReadRequest;
  try {
    request = read(call, snapshot);
  } catch (error) {
    await countLargeRefusal(deps.keys, call, error);
    throw error;
  }
  const report = deps.report ?? ignore;
  const open = deps.upstreams.open(request.routes, snapshot.upstreams, (unset) =>
    report({ kind: "upstream_without_credential", requestId: call.requestId, ...unset }),
  );
  if (open.length === 0) throw new UpstreamBusy();
  const taking = routesThatTake(request, open);
  const routes = request.inOrder?.(taking) ?? taking;

  const client = new ClientPresence(sink);
  if (client.isGone) return "client_left";
  const { model, billed, endpoint, requestFor } = request;
  const wanted = request.planHold(routes);
  const term = deps.term?.() ?? ENDLESS_TERM;
  const admission = await traced(call.span, "admit", () => admit(deps, call, model, wanted));
  if ("answer" in admission) {
    sendReplay(admission, sink);
    return "answered";
  }
  const { amount, rate, keepsAnswer, plan } = admission;
  const keeper = keepsAnswer ? new KeepingSink(sink) : null;
  const cap = outputCap(plan, amount);
  const { requestId } = call;
  const onUnpriced = (upstream: string): void => deps.report?.({ kind: "usage_unpriced", requestId, upstream });
  const bill = new Bill({
    call,
    request: billed,
    plan,
    outputCap: cap,
    ledger: deps.ledger,
    clock: deps.clock,
    onUnpriced,
  });
  const exchange: Exchange = {
    call,
    sink: keeper ?? sink,
    client: keeper === null ? client : new ClientPresence(keeper),
    endpoint,
    stream: billed.stream,
    requestFor,
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
    health: deps.health,
    report,
  };
  try {
    const outcome = exchange.client.isGone ? "client_left" : await request.answer(exchange);
    if (outcome === "client_left") bill.failed(CLIENT_LEFT);
    if (keeper !== null && outcome === "answered") await keepAnswer(deps, exchange, keeper);
    return outcome;
  } catch (error) {
    bill.failed(failureOf(error, { inStream: false }));
    throw error;
  } finally {
    if (!bill.isSettled) await settleUndelivered(exchange);
  }
}

/** The routes that can take a request. Errors: that of the first one where none can. */
function routesThatTake({ refusalBy }: ReadRequest, routes: readonly OpenRoute[]): readonly OpenRoute[] {
  if (refusalBy === undefined) return routes;
  const refusals = routes.map((route) => refusalBy(route));
  const taking = routes.filter((_, index) => refusals[index] === null);
  const [refusal] = refusals;
  if (taking.length === 0 && refusal) throw refusal;
  return taking;
}

/** The model of a request, if it is sold and of the kind that is asked for. Errors: ModelNotFound, ValidationError. */
export function soldModel(id: string, { models }: CatalogSnapshot, kind: ModelKind): CatalogModel {
  const sold = models.get(id);
  if (sold === undefined) throw new ModelNotFound(id, nearestModel(id, models.keys()));
  if (sold.kind !== kind) throw refuse(problem("model", "kind", WRONG_KIND[sold.kind]));
  return sold;
}

const WRONG_KIND: Readonly<Record<ModelKind, string>> = {
  chat: "is a chat model, which makes no embeddings; send it to /v1/chat/completions",
  embeddings: "is an embeddings model, which answers no chat; send it to /v1/embeddings",
};

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
