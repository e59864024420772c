// The use case of the gateway: one chat request from its body to its settlement. It asks keys, catalog and ledger, calls an
// upstream, and lets nobody see a completed answer that is not billed. It knows nothing of HTTP or RPC.

import type { Catalog, CatalogModel } from "../catalog/catalog.ts";
import type { Clock } from "../kernel/clock.ts";
import {
  AccountFrozen,
  DomainError,
  InsufficientBalance,
  InternalError,
  InvalidApiKey,
  ModelNotFound,
  RateLimited,
  TooManyAtOnce,
  UpstreamBusy,
} from "../kernel/errors.ts";
import { idr } from "../kernel/money.ts";
import type { RateState } from "../kernel/rate.ts";
import type { Keys } from "../keys/keys.ts";
import { retryAfterSeconds } from "../keys/limited-keys.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { answerStreamed } from "./answer-streamed.ts";
import { answerWhole } from "./answer-whole.ts";
import { Bill } from "./bill.ts";
import type { ChatCall, ChatOutcome, ChatSink, Gateway } from "./chat.ts";
import type { Exchange, GatewayEvent } from "./exchange.ts";
import { type HoldPlan, outputCap, planHold } from "./hold.ts";
import { readRequest, requireFits } from "./request/read-request.ts";
import type { Upstreams } from "./upstreams/upstreams.ts";
import { ClientPresence } from "./client-presence.ts";
import { Drains } from "./drains.ts";

/** A request that is still running after this long is ended, so that no hold keeps a balance aside without end. */
export const MAX_DURATION_MS = 15 * 60_000;

export type GatewayDeps = {
  readonly keys: Pick<Keys, "refuseWhileLimited" | "rememberLimited">;
  readonly ledger: Ledger;
  readonly catalog: Catalog;
  readonly upstreams: Upstreams;
  readonly clock: Clock;
  /** Where a customer tops up, named in the message of a refused request. */
  readonly topUpUrl?: () => string;
  readonly maxDurationMs?: number;
  /** Reads on what clients have left. Without it nothing is read on. */
  readonly drains?: Drains;
  /** Where streams are kept while they wait for more to be held. */
  readonly waitingStreams?: Set<unknown>;
  /** Hears of what callers are not told: failed attempts, broken streams, settlements that failed, upstreams not set up. */
  readonly report?: (event: GatewayEvent) => void;
};

/** Opens the gateway over its neighbours. */
export function createGateway(deps: GatewayDeps): Gateway {
  return {
    async answerChat(call, sink) {
      try {
        return await answerChat(deps, call, sink);
      } catch (error) {
        throw error instanceof DomainError ? error : new InternalError({ cause: error });
      }
    },
  };
}

async function answerChat(deps: GatewayDeps, call: ChatCall, sink: ChatSink): Promise<ChatOutcome> {
  deps.keys.refuseWhileLimited(call.key);
  const request = readRequest(call.body);
  const snapshot = await deps.catalog.snapshot();
  const model = snapshot.models.get(request.model);
  if (model === undefined) throw new ModelNotFound(request.model);
  requireFits(request, model);
  const report = deps.report ?? ignore;
  const routes = deps.upstreams.open(model.routes, snapshot.upstreams, (unset) =>
    report({ kind: "upstream_without_credential", requestId: call.requestId, ...unset }),
  );
  if (routes.length === 0) throw new UpstreamBusy();

  const client = new ClientPresence(sink);
  if (client.isGone) return "client_left";
  const plan = planHold(request, model);
  const { amount, rate } = await admit(deps, call, model, plan);
  const cap = outputCap(plan, amount);
  const bill = new Bill({ call, request, plan, outputCap: cap, ledger: deps.ledger, clock: deps.clock });
  const exchange: Exchange = {
    call,
    sink,
    client,
    request,
    model,
    routes,
    bill,
    rate,
    outputCap: cap,
    plan,
    granted: amount,
    drains: deps.drains ?? NO_DRAINS,
    waitingStreams: deps.waitingStreams ?? new Set(),
    topUpUrl: deps.topUpUrl,
    deadlineMs: call.receivedAtMs + (deps.maxDurationMs ?? MAX_DURATION_MS),
    clock: deps.clock,
    report,
  };
  try {
    if (client.isGone) return "client_left";
    return await (request.stream ? answerStreamed(exchange) : answerWhole(exchange));
  } finally {
    if (!bill.isSettled) await settleUndelivered(exchange);
  }
}

/** Errors: RateLimited, TooManyAtOnce, AccountFrozen, InvalidApiKey, InsufficientBalance, UpstreamBusy. */
async function admit(
  deps: GatewayDeps,
  { key, requestId }: ChatCall,
  model: CatalogModel,
  { amount, leastAmount, prices }: HoldPlan,
): Promise<{ amount: bigint; rate: RateState }> {
  const { accountId, keyId } = key;
  const hold = { accountId, keyId, requestId, amount, leastAmount, model: model.id, prices };
  const admission = await deps.ledger.admit(hold);
  if (admission.outcome === "granted") return admission;
  if (admission.outcome === "revoked") throw new InvalidApiKey();
  if (admission.outcome === "frozen") throw new AccountFrozen();
  if (admission.outcome === "crowded") throw new TooManyAtOnce();
  if (admission.outcome === "limited") {
    deps.keys.rememberLimited(key, admission.retryAfterMs);
    const wait = retryAfterSeconds(admission.retryAfterMs);
    throw new RateLimited({ retryAfterSeconds: wait, limit: admission.rate.limit });
  }
  const needed = { available: idr(admission.available), needed: idr(leastAmount) };
  throw new InsufficientBalance(deps.topUpUrl === undefined ? needed : { ...needed, topUpUrl: deps.topUpUrl() });
}

/** The caller is told why nothing came; a settlement that fails as well must not hide that. Recovery then sweeps the hold. */
async function settleUndelivered({ bill, call, report }: Exchange): Promise<void> {
  try {
    await bill.settleFree();
  } catch (cause) {
    report({ kind: "settlement_failed", requestId: call.requestId, cause });
  }
}

const NO_DRAINS = new Drains({ most: 0, withinMs: 0 });

function ignore(): void {}
