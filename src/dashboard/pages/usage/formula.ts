// How the cost of a request adds up. The sum is the server's; the lines are multiplied out here only to be read.

import type { UsageRecord } from "#gen/saldo/billing/v1/usage_pb.ts";
import { decimalOf, unitsOf } from "../../language/decimal.ts";
import type { Decimal } from "../../language/format.ts";

/** Prices are for so many tokens: a line has as many decimals more than its price. */
const TOKENS_PER_PRICE = 1_000_000n;
const LINE_SCALE = 12;

export type FormulaLine = {
  readonly name: "input" | "cached" | "output";
  readonly tokens: number;
  readonly price: Decimal;
  /** Tokens times price, every digit. */
  readonly amount: Decimal;
};

/** The lines, and what rounding up to a millionth of a rupiah adds to them. */
export function formulaOf(record: UsageRecord): { readonly lines: readonly FormulaLine[]; readonly rounding: Decimal } {
  const rows = [
    { name: "input", tokens: record.inputTokensUncached, price: record.inputPrice },
    { name: "cached", tokens: record.inputTokensCached, price: record.cacheHitPrice ?? record.inputPrice },
    { name: "output", tokens: record.outputTokens, price: record.outputPrice },
  ] as const;
  const parts = rows.map((row) => ({ ...row, fine: BigInt(row.tokens) * unitsOf(row.price) }));
  const sum = parts.reduce((total, { fine }) => total + fine, 0n);
  return {
    lines: parts.map(({ fine, ...row }) => ({ ...row, amount: decimalOf(fine, LINE_SCALE) })),
    rounding: decimalOf(unitsOf(record.cost) * TOKENS_PER_PRICE - sum, LINE_SCALE),
  };
}
