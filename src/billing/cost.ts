// What a request costs. Exact integers throughout and one rounding, upwards, per request. The function `usage_cost` of the
// database is the same formula, for the audit and for recovery.

import { divideCeil } from "../kernel/money.ts";
import { type PriceSnapshot, pricesAt, type TokenCounts } from "../kernel/token-prices.ts";

export { longContextOf, pricesAt, type PricesOfAllKinds, type TokenCounts } from "../kernel/token-prices.ts";

/** Prices are per this many tokens. */
export const TOKENS_PER_PRICE = 1_000_000n;

/** All tokens of the input, of every kind. */
export function inputTokensOf({ inputTokensUncached, inputTokensCached, otherTokens }: TokenCounts): number {
  const plain = inputTokensUncached + inputTokensCached;
  if (!otherTokens) return plain;
  const { cacheWrite = 0, cacheWrite1h = 0, audioInput = 0, imageInput = 0 } = otherTokens;
  return plain + cacheWrite + cacheWrite1h + audioInput + imageInput;
}

/** All tokens of the output, of every kind. */
export function outputTokensOf({ outputTokens, otherTokens }: TokenCounts): number {
  return outputTokens + (otherTokens?.imageOutput ?? 0);
}

/**
 * The cost in micro-rupiah. A kind of token without a price of its own costs: cached input and cache writes as much as input,
 * one-hour writes as much as other writes, sound and pictures as much as input or output.
 */
export function costOf(tokens: TokenCounts, prices: PriceSnapshot): bigint {
  if (prices.other || tokens.otherTokens) return costOfAllKinds(tokens, prices);
  const total =
    BigInt(tokens.inputTokensUncached) * prices.input +
    BigInt(tokens.inputTokensCached) * (prices.cacheHit ?? prices.input) +
    BigInt(tokens.outputTokens) * prices.output;
  return perMillion(total);
}

function costOfAllKinds(tokens: TokenCounts, prices: PriceSnapshot): bigint {
  const input = inputTokensOf(tokens);
  const price = pricesAt(prices, input);
  const {
    cacheWrite = 0,
    cacheWrite1h = 0,
    audioInput = 0,
    imageInput = 0,
    imageOutput = 0,
  } = tokens.otherTokens ?? {};
  const total =
    BigInt(tokens.inputTokensUncached) * price.input +
    BigInt(tokens.inputTokensCached) * price.cacheHit +
    BigInt(cacheWrite) * price.cacheWrite +
    BigInt(cacheWrite1h) * price.cacheWrite1h +
    BigInt(audioInput) * price.audioInput +
    BigInt(imageInput) * price.imageInput +
    BigInt(tokens.outputTokens) * price.output +
    BigInt(imageOutput) * price.imageOutput;
  const usesAny = input > 0 || tokens.outputTokens > 0 || imageOutput > 0;
  return perMillion(total) + (usesAny ? price.perRequest : 0n);
}

/** The one rounding of a cost. */
function perMillion(total: bigint): bigint {
  return divideCeil(total, TOKENS_PER_PRICE);
}

/** What the cached tokens would have cost more as other input: a whole number, so that sums of it are exact. */
export function savedByCache(tokens: TokenCounts, prices: PriceSnapshot, cost: bigint): bigint {
  if (tokens.inputTokensCached === 0 || prices.cacheHit === null) return 0n;
  const { inputTokensUncached, inputTokensCached } = tokens;
  const uncached = { ...tokens, inputTokensUncached: inputTokensUncached + inputTokensCached, inputTokensCached: 0 };
  return costOf(uncached, prices) - cost;
}
