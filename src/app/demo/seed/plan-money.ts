// The money of a made-up month: what each planned request costs, and when balance is bought for them, so that the account is above
// zero at every line of its ledger. A plan is nothing but values.

import { costOf } from "../../../billing/cost.ts";
import type { CatalogModel } from "../../../catalog/catalog-model.ts";
import { invariant } from "../../../kernel/invariant.ts";
import { IDR, parseMoney } from "../../../kernel/money.ts";
import type { PriceSnapshot } from "../../../ledger/ledger.ts";
import type { PlannedRequest } from "./plan-requests.ts";

/** Balance is bought before a stretch of so many requests. */
const STRETCH = 50;
/** Below this balance a person buys more. */
const LOW = parseMoney("15000", IDR).units;
const AMOUNTS = ["50000", "25000", "100000", "50000"].map((rupiah) => parseMoney(rupiah, IDR).units);
const MINUTE_MS = 60_000;

/** A planned request with its key, its model's prices, and its cost in micro-rupiah. */
export type PricedRequest = {
  readonly request: PlannedRequest;
  readonly keyId: string;
  readonly model: CatalogModel;
  readonly prices: PriceSnapshot;
  readonly cost: bigint;
};

/** An order of balance: its moment in milliseconds of Unix time, micro-rupiah, and whether it was paid or ran out. */
export type PlannedTopUp = { readonly atMs: number; readonly amount: bigint; readonly state: "paid" | "expired" };

/** Prices requests. A request names its key and model by their place in the lists. */
export function priceRequests(
  requests: readonly PlannedRequest[],
  { keyIds, models }: { keyIds: readonly string[]; models: readonly CatalogModel[] },
): PricedRequest[] {
  return requests.map((request) => {
    const [keyId, model] = [keyIds[request.key], models[request.model]];
    invariant(keyId !== undefined && model !== undefined, "a plan names keys and models that are there");
    const prices = { input: model.inputPrice, output: model.outputPrice, cacheHit: model.cacheHitPrice };
    return { request, keyId, model, prices, cost: costOf(request.counts, prices) };
  });
}

/** The top-ups that cover requests, oldest first, some minutes before the requests that need them. */
export function planTopUps(requests: readonly PricedRequest[]): PlannedTopUp[] {
  const topUps: PlannedTopUp[] = [];
  let balance = 0n;
  for (let from = 0; from < requests.length; from += STRETCH) {
    const stretch = requests.slice(from, from + STRETCH);
    const cost = stretch.reduce((sum, each) => sum + each.cost, 0n);
    const firstMs = stretch[0]?.request.atMs ?? 0;
    for (let before = 4; balance < cost + LOW; before -= 1) {
      const amount = AMOUNTS[topUps.length % AMOUNTS.length] ?? 0n;
      topUps.push({ atMs: firstMs - before * MINUTE_MS, amount, state: "paid" });
      balance += amount;
    }
    balance -= cost;
  }
  return topUps;
}
