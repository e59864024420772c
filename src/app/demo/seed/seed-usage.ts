// Makes planned requests happen: each is admitted and settled by the ledger like any other, only that it came at another time.
// Money comes first: before a stretch of requests the balance is filled up at a moment before them, so that it is above zero in
// every line of the ledger, not only now.

import { costOf } from "../../../billing/cost.ts";
import type { CatalogModel } from "../../../catalog/catalog-model.ts";
import type { Database } from "../../../database/database.ts";
import { billingDay } from "../../../kernel/clock.ts";
import { invariant } from "../../../kernel/invariant.ts";
import { IDR, parseMoney } from "../../../kernel/money.ts";
import { GroupCommitLedger } from "../../../ledger/group-commit/group-commit.ts";
import type { PriceSnapshot } from "../../../ledger/ledger.ts";
import { ProcessLease } from "../../../ledger/process-lease.ts";
import type { PlannedRequest } from "./plan-requests.ts";

/** Requests that are open at once. */
const STRETCH = 50;
/** The balance at which an account tops up. */
const LOW = parseMoney("15000", IDR).units;
const MINUTE_MS = 60_000;
/** What a request may write at most; it is held for. */
const MOST_OUTPUT = 4_096;

export type UsageSeed = {
  readonly database: Database;
  readonly accountId: string;
  readonly keyIds: readonly string[];
  readonly models: readonly CatalogModel[];
  readonly requests: readonly PlannedRequest[];
  /** Buys balance at a moment and gives how much, in micro-rupiah. */
  readonly topUp: (at: Date) => Promise<bigint>;
};

/** Settles every planned request. Gives what they came to, in micro-rupiah. */
export async function seedUsage(seed: UsageSeed): Promise<bigint> {
  const { database, requests } = seed;
  await using stack = new AsyncDisposableStack();
  const lease = await ProcessLease.take(database);
  stack.defer(() => lease.resign());
  const ledger = new GroupCommitLedger({ database, owner: () => lease.owner(), lanes: 1 });
  stack.defer(() => ledger.close());
  await ledger.open();
  let [balance, spent] = [0n, 0n];
  for (let from = 0; from < requests.length; from += STRETCH) {
    const stretch = requests.slice(from, from + STRETCH).map((request) => price(seed, request));
    const cost = stretch.reduce((sum, each) => sum + each.cost, 0n);
    const firstMs = stretch[0]?.request.atMs ?? 0;
    for (let before = 4; balance < cost + LOW; before -= 1) {
      balance += await seed.topUp(new Date(firstMs - before * MINUTE_MS));
    }
    await lease.renew();
    await settleAll(ledger, seed.accountId, stretch);
    balance -= cost;
    spent += cost;
  }
  return spent;
}

type PricedRequest = {
  readonly request: PlannedRequest;
  readonly keyId: string;
  readonly model: CatalogModel;
  readonly prices: PriceSnapshot;
  readonly cost: bigint;
};

function price({ keyIds, models }: UsageSeed, request: PlannedRequest): PricedRequest {
  const [keyId, model] = [keyIds[request.key], models[request.model]];
  invariant(keyId !== undefined && model !== undefined, "a plan names keys and models that are there");
  const prices = { input: model.inputPrice, output: model.outputPrice, cacheHit: model.cacheHitPrice };
  return { request, keyId, model, prices, cost: costOf(request.counts, prices) };
}

async function settleAll(ledger: GroupCommitLedger, accountId: string, stretch: readonly PricedRequest[]) {
  await Promise.all(
    stretch.map(async ({ request, keyId, model, prices }) => {
      const { requestId, counts } = request;
      const inputTokensUncached = counts.inputTokensUncached + counts.inputTokensCached;
      const amount = costOf({ inputTokensUncached, inputTokensCached: 0, outputTokens: MOST_OUTPUT }, prices);
      const order = { accountId, keyId, requestId, amount, leastAmount: 0n, model: model.id, prices };
      const { outcome } = await ledger.admit(order);
      invariant(outcome === "granted", `a balance that was filled up covers the request: ${outcome}`);
    }),
  );
  await Promise.all(stretch.map((each) => settle(ledger, accountId, each)));
}

async function settle(ledger: GroupCommitLedger, accountId: string, { request, model, cost }: PricedRequest) {
  const { requestId, atMs, counts, basis, streamed, durationMs, firstByteMs } = request;
  const [route] = model.routes;
  const answered = basis !== "free" && route !== undefined;
  const { charge } = await ledger.settle({
    accountId,
    requestId,
    cost,
    ...counts,
    basis,
    billingDay: billingDay(atMs),
    upstream: answered ? route.upstream : null,
    upstreamModel: answered ? route.model : null,
    upstreamRequestId: answered ? `seed-${requestId.slice(-12)}` : null,
    upstreamCost: answered && route.cost !== undefined ? costOf(counts, route.cost) : null,
    streamed,
    durationMs,
    settledAt: new Date(atMs + durationMs),
    firstByteMs,
    clamped: false,
    delivered: streamed && firstByteMs !== null,
  });
  invariant(charge === cost, "a balance that was filled up bears the whole cost");
}
