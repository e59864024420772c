// Calls that customers do not pay for although upstreams may charge for them: calls that were given up, and calls that failed
// after the request was sent. Their input is the least they can have cost; the operator bears it.

import { costOf } from "../../billing/cost.ts";
import type { RouteCost } from "../../catalog/catalog-model.ts";
import type { PriceSnapshot } from "../../ledger/ledger.ts";

export class LostAttempts {
  readonly #costs: (RouteCost | null)[] = [];

  /** `cost` null: the catalog does not have what the upstream charges. */
  add(cost: RouteCost | null): void {
    this.#costs.push(cost);
  }

  /** The input of all of them at the customer's prices, in micro-rupiah. */
  unbilledCost(inputTokens: number, prices: PriceSnapshot): bigint {
    return costOf(countsOf(inputTokens), prices) * BigInt(this.#costs.length);
  }

  /** What upstreams charge us for a request with these calls, in micro-rupiah. Null: the cost of one of them is unknown. */
  upstreamCost(inputTokens: number, ofAnswer: bigint | null): bigint | null {
    let sum = ofAnswer;
    for (const cost of this.#costs) {
      sum = sum === null || cost === null ? null : sum + costOf(countsOf(inputTokens), cost);
    }
    return sum;
  }
}

function countsOf(inputTokens: number) {
  return { inputTokensUncached: inputTokens, inputTokensCached: 0, outputTokens: 0 };
}
