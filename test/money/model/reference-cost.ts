import type { AdmissionRequest } from "../../../src/ledger/ledger.ts";
import type { Tokens } from "./actions.ts";

const TOKENS_PER_PRICE = 1_000_000n;

/** The exact cost in micro-rupiah, as a fraction that is rounded up once. */
export function costAt(prices: AdmissionRequest["prices"], { uncached, cached, output }: Tokens): bigint {
  const millionths =
    BigInt(uncached) * prices.input +
    BigInt(cached) * (prices.cacheHit ?? prices.input) +
    BigInt(output) * prices.output;
  const whole = millionths / TOKENS_PER_PRICE;
  return millionths % TOKENS_PER_PRICE === 0n ? whole : whole + 1n;
}
