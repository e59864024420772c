// What a request costs. Exact integers throughout and one rounding, upwards, per request.

import { divideCeil } from "../kernel/money.ts";
import type { PriceSnapshot } from "../ledger/ledger.ts";

/** Tokens of one request. The three counts do not overlap. */
export type TokenCounts = {
  readonly inputTokensUncached: number;
  readonly inputTokensCached: number;
  readonly outputTokens: number;
};

/** Prices are per this many tokens. */
export const TOKENS_PER_PRICE = 1_000_000n;

/** The cost in micro-rupiah. Cached tokens cost the cache-hit price where there is one, else as much as other input. */
export function costOf(tokens: TokenCounts, prices: PriceSnapshot): bigint {
  const total =
    BigInt(tokens.inputTokensUncached) * prices.input +
    BigInt(tokens.inputTokensCached) * (prices.cacheHit ?? prices.input) +
    BigInt(tokens.outputTokens) * prices.output;
  return divideCeil(total, TOKENS_PER_PRICE);
}

/** What the cached tokens would have cost more as other input: a whole number, so that sums of it are exact. */
export function savedByCache(tokens: TokenCounts, prices: PriceSnapshot, cost: bigint): bigint {
  if (tokens.inputTokensCached === 0 || prices.cacheHit === null) return 0n;
  return costOf(tokens, { ...prices, cacheHit: null }) - cost;
}
