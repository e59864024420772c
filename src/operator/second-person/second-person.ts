// Which commands need a second operator: merchant credits in production, and what is above the sum of its currency, alone or with
// what the same operator has commanded in the last 24 hours. The sums are a setting of the process, so that no operator can raise
// them through the service.

import { LIMIT_DECIMALS } from "../../merchant/merchants/limits-store.ts";
import { parseDecimal } from "../../kernel/decimal.ts";

/** The sums by currency, in rupiah or whole coins. A currency that is not named has the sum 0. */
export type SecondPersonRule = { readonly above: Readonly<Record<string, string>> };

/** An amount in whole coins or rupiah, a decimal text. Below 0 it is taken off. */
export type CommandAmount = { readonly currencyCode: string; readonly amount: string };

/** Whether an amount is above the sum of its currency, either way. `before`: what counts with it, a decimal text. */
export function isAboveSum(
  { above }: SecondPersonRule,
  { currencyCode, amount }: CommandAmount,
  before = "0",
): boolean {
  return inUnits(before) + inUnits(amount.replace(/^-/, "")) > inUnits(above[currencyCode] ?? "0");
}

/** Every currency has at most so many decimals. */
function inUnits(amount: string): bigint {
  return parseDecimal(amount, LIMIT_DECIMALS);
}
