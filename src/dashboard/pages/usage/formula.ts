// How the cost of a request adds up. The sum is the server's; the lines are multiplied here only for display.

import type { UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { decimalOf, unitsOf } from "../../i18n/decimal.ts";
import type { Decimal } from "../../i18n/format.ts";

/** Prices are for so many tokens: a line has that many more decimals than its price. */
const TOKENS_PER_PRICE = 1_000_000n;
const LINE_SCALE = 12;

export type FormulaLine = {
  readonly name: keyof typeof ALWAYS_SHOWN;
  readonly tokens: number;
  readonly price: Decimal;
  /** Tokens times price, with all digits. */
  readonly amount: Decimal;
};

export type Formula = {
  /** The cost of all tokens, including those charged late. */
  readonly cost: Decimal;
  readonly lines: readonly FormulaLine[];
  /** The price of the request itself. `0`: it has none. */
  readonly perRequest: Decimal;
  /** The part that rounding up to a millionth of a rupiah adds. */
  readonly rounding: Decimal;
};

/** The kinds of tokens; a line of the rarer ones is shown only where there are any. */
const ALWAYS_SHOWN = {
  input: true,
  cached: true,
  cacheWrite: false,
  cacheWrite1h: false,
  audioInput: false,
  imageInput: false,
  output: true,
  imageOutput: false,
} as const;

export function formulaOf(record: UsageRecord): Formula {
  const { otherTokens: other, billedPrices: billed } = record;
  const usualCached = record.cacheHitPrice ?? record.inputPrice;
  const rows = [
    { name: "input", tokens: record.inputTokensUncached, price: billed?.input ?? record.inputPrice },
    { name: "cached", tokens: record.inputTokensCached, price: billed?.cacheHit ?? usualCached },
    { name: "cacheWrite", tokens: Number(other?.cacheWrite ?? 0n), price: billed?.cacheWrite ?? "0" },
    { name: "cacheWrite1h", tokens: Number(other?.cacheWrite1h ?? 0n), price: billed?.cacheWrite1h ?? "0" },
    { name: "audioInput", tokens: Number(other?.audioInput ?? 0n), price: billed?.audioInput ?? "0" },
    { name: "imageInput", tokens: Number(other?.imageInput ?? 0n), price: billed?.imageInput ?? "0" },
    { name: "output", tokens: record.outputTokens, price: billed?.output ?? record.outputPrice },
    { name: "imageOutput", tokens: Number(other?.imageOutput ?? 0n), price: billed?.imageOutput ?? "0" },
  ] as const;
  const shown = rows.filter(({ name, tokens }) => ALWAYS_SHOWN[name] || tokens > 0);
  const parts = shown.map((row) => ({ ...row, fine: BigInt(row.tokens) * unitsOf(row.price) }));
  const sum = parts.reduce((total, { fine }) => total + fine, 0n);
  const usesAny = rows.some(({ tokens }) => tokens > 0);
  const perRequest = usesAny ? (billed?.perRequest ?? "0") : "0";
  const cost = unitsOf(record.cost) + unitsOf(record.lateCharge === "" ? "0" : record.lateCharge);
  return {
    cost: decimalOf(cost),
    lines: parts.map(({ fine, ...row }) => ({ ...row, amount: decimalOf(fine, LINE_SCALE) })),
    perRequest,
    rounding: decimalOf((cost - unitsOf(perRequest)) * TOKENS_PER_PRICE - sum, LINE_SCALE),
  };
}
