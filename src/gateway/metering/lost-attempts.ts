// Calls that no customer pays for and that upstreams may charge for all the same: those that were given up, and those that
// failed after the request had left. Their input is what they can have cost at least; the operator bears it.

import { costOf } from "../../billing/cost.ts";
import type { RouteCost } from "../../catalog/catalog-model.ts";
import type { PriceSnapshot } from "../../ledger/ledger.ts";

export class LostAttempts {
  readonly #costs: (RouteCost | null)[] = [];

  /** `cost` null: nobody has said what the upstream charges. */
  add(cost: RouteCost | null): void {
    this.#costs.push(cost);
  }

  /** The input of all of them at the customer's prices, in micro-rupiah. */
  unbilledCost(inputTokens: number, prices: PriceSnapshot): bigint {
    return costOf(countsOf(inputTokens), prices) * BigInt(this.#costs.length);
  }

  /** What upstreams charge us for a request, in micro-rupiah, with these calls. Null: nobody can say of one of them. */
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
