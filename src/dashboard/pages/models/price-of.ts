// The cost of a number of tokens, digit for digit as it would be billed: integers throughout, and one rounding,
// upwards. The server computes the bill itself.

import type { LongContextPricing, ModelPricing } from "#gen/saldo/gateway/v1/model_pb.ts";
import { type Decimal, decimalOf, unitsOf } from "../../i18n/decimal.ts";
import { amountOf } from "../../i18n/read-amount.ts";

/** Tokens of one request; the counts do not overlap. An omitted count is zero. */
export type Tokens = {
  readonly input: bigint;
  readonly cached: bigint;
  readonly output: bigint;
  readonly cacheWrite?: bigint;
  readonly cacheWrite1h?: bigint;
  readonly audioInput?: bigint;
  readonly imageInput?: bigint;
  readonly imageOutput?: bigint;
};

const TOKENS_PER_PRICE = 1_000_000n;
const MOST_DIGITS = 12;

/** The price of so many tokens, in rupiah. */
export function priceOf(tokens: Tokens, pricing: ModelPricing): Decimal {
  const { input, cached, output } = tokens;
  const { cacheWrite = 0n, cacheWrite1h = 0n, audioInput = 0n, imageInput = 0n, imageOutput = 0n } = tokens;
  const price = pricesFor(tokens, pricing);
  const total =
    input * price.input +
    cached * price.cacheHit +
    cacheWrite * price.cacheWrite +
    cacheWrite1h * price.cacheWrite1h +
    audioInput * price.audioInput +
    imageInput * price.imageInput +
    output * price.output +
    imageOutput * price.imageOutput;
  const usesAny = inputOf(tokens) > 0n || output > 0n || imageOutput > 0n;
  const ofTokens = (total + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE;
  return decimalOf(ofTokens + (usesAny ? unitsOf(pricing.perRequest ?? "0") : 0n));
}

/** The long-input prices for so many tokens. Undefined: the usual prices apply. */
export function tierOf(tokens: Tokens, { longContext }: ModelPricing): LongContextPricing | undefined {
  return longContext.findLast(({ above }) => inputOf(tokens) > BigInt(above));
}

/** All tokens of the input. */
function inputOf({ input, cached, ...tokens }: Tokens): bigint {
  const { cacheWrite = 0n, cacheWrite1h = 0n, audioInput = 0n, imageInput = 0n } = tokens;
  return input + cached + cacheWrite + cacheWrite1h + audioInput + imageInput;
}

/** What each kind costs. A kind without a price of its own costs what input or output does. */
function pricesFor(tokens: Tokens, pricing: ModelPricing) {
  const tier = tierOf(tokens, pricing);
  const { input, output, cacheHit, cacheWrite } = tier ?? pricing;
  const writes = unitsOf(cacheWrite ?? input);
  const ownWrites1h = unitsOf(tier?.cacheWrite1h ?? pricing.cacheWrite1h ?? "0");
  return {
    input: unitsOf(input),
    output: unitsOf(output),
    cacheHit: unitsOf(cacheHit ?? input),
    cacheWrite: writes,
    cacheWrite1h: tier?.cacheWrite1h !== undefined || ownWrites1h > writes ? ownWrites1h : writes,
    audioInput: unitsOf(pricing.audioInput ?? input),
    imageInput: unitsOf(pricing.imageInput ?? input),
    imageOutput: unitsOf(pricing.imageOutput ?? output),
  };
}

/** Reads a count, with or without separators. Null: it is not a count. */
export function readTokens(text: string): bigint | null {
  if (text.trim() === "") return 0n;
  const count = amountOf(text, { decimals: 0, zero: true });
  return count === null || count.length > MOST_DIGITS ? null : BigInt(count);
}
