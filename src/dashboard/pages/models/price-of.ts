// What a number of tokens would come to, digit for digit as a bill would say it: whole numbers throughout, and one rounding,
// upwards. The bill itself is the server's.

import type { ModelPricing } from "#gen/saldo/gateway/v1/model_pb.ts";
import { decimalOf, unitsOf } from "../../language/decimal.ts";
import type { Decimal } from "../../language/format.ts";
import { amountOf } from "../../language/read-amount.ts";

/** Tokens of one request; the three do not overlap. */
export type Tokens = { readonly input: bigint; readonly cached: bigint; readonly output: bigint };

const TOKENS_PER_PRICE = 1_000_000n;
const MOST_DIGITS = 12;

/** The price of so many tokens, in rupiah. */
export function priceOf(tokens: Tokens, { input, output, cacheHit }: ModelPricing): Decimal {
  const total =
    tokens.input * unitsOf(input) + tokens.cached * unitsOf(cacheHit ?? input) + tokens.output * unitsOf(output);
  return decimalOf((total + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE);
}

/** A count as people write one, with or without separators. Null: it is none. */
export function readTokens(text: string): bigint | null {
  if (text.trim() === "") return 0n;
  const count = amountOf(text, { decimals: 0, zero: true });
  return count === null || count.length > MOST_DIGITS ? null : BigInt(count);
}
