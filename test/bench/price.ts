// The prices of the benchmark's model, and the cost of each of its requests. Computed here without the gateway's code,
// so that a mistake there cannot confirm itself.

/**
 * Tokens that the mock upstream reports for every request; physically possible for the smallest of them. The output is what a
 * stream of a hundred chunks has: an upstream that reports what it wrote. A report far below it would be counted, and the
 * benchmark would measure the tokenizer.
 */
export const USAGE = { input: 240, cached: 128, output: 300 };

/** Rupiah per 1M tokens. The cache-hit price is odd, so that every request has a remainder to round up. */
export const PRICE = { input: "5000", output: "15000", cacheHit: "947.123457" };

const MICRO_DIGITS = 6;
const PER_TOKENS = 1_000_000n;

/** Micro-rupiah of one request. */
export function costOfRequest(): bigint {
  const exact =
    BigInt(USAGE.input - USAGE.cached) * micro(PRICE.input) +
    BigInt(USAGE.cached) * micro(PRICE.cacheHit) +
    BigInt(USAGE.output) * micro(PRICE.output);
  return (exact + PER_TOKENS - 1n) / PER_TOKENS;
}

function micro(decimal: string): bigint {
  const [whole = "", fraction = ""] = decimal.split(".");
  return BigInt(whole + fraction.padEnd(MICRO_DIGITS, "0"));
}
