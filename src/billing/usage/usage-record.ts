// A usage record as it is read.

import type { OtherPrices, PriceSnapshot } from "../../kernel/token-prices.ts";
import type { Settlement } from "../../ledger/ledger.ts";

/**
 * One request as it was billed: what it was settled with, what it was for, and what it was charged. Money is micro-rupiah,
 * prices micro-rupiah per 1M tokens. Of upstreams nothing is for customers.
 */
export type UsageRecord = Omit<Settlement, "accountId" | "delivered"> & {
  readonly keyId: string;
  readonly model: string;
  readonly inputPrice: bigint;
  readonly outputPrice: bigint;
  readonly cacheHitPrice: bigint | null;
  readonly otherPrices: OtherPrices | null;
  readonly charge: bigint;
  /** What was charged after the record was written, for output that had been relayed by then. Its tokens are among the counts. */
  readonly lateCharge: bigint;
  /** What the counts come to: the cost, and what was due late. */
  readonly costOfTokens: bigint;
  readonly settledAt: Date;
};

/** The prices of a record as they were at admission. */
export function pricesOf({ inputPrice, outputPrice, cacheHitPrice, otherPrices }: UsageRecord): PriceSnapshot {
  return { input: inputPrice, output: outputPrice, cacheHit: cacheHitPrice, other: otherPrices };
}
