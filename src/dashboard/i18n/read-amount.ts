// Amounts as people type them. "1.000" is a thousand to one reader and one to another: what has one meaning only is understood,
// in Indonesian and in English writing, and what has two is not guessed at.

import type { Decimal } from "./decimal.ts";

/** What an amount may be. */
export type AmountRules = {
  /** The most digits behind the point. None: only whole numbers. */
  readonly decimals: number;
  /** Whether nothing is an amount too. */
  readonly zero?: boolean;
};

/** The decimal string that a text means, or why it means none. */
export type ReadAmount =
  | { readonly amount: Decimal }
  | { readonly wrong: "empty" | "noNumber" | "zero" | "notWhole" | "tooFine" }
  | { readonly wrong: "ambiguous"; readonly grouped: Decimal; readonly fraction: Decimal };

/** Rupiah, to the millionth that the ledger keeps. */
export const RUPIAH: AmountRules = { decimals: 6 };
/** Rupiah without sen. */
export const WHOLE_RUPIAH: AmountRules = { decimals: 0 };
/** Coins: how many decimals one has, the server knows. */
export const COINS: AmountRules = { decimals: 30 };

const MOST_DIGITS = 30;
/** Digits with a point or a comma between some of them; a sign and a power of ten are none. */
const NUMBER = /^\d+(?:[.,]\d+)*$/;
const GROUPS = { ".": /^\d{1,3}(\.\d{3})+$/, ",": /^\d{1,3}(,\d{3})+$/ } as const;

/** Reads what was typed, with or without "Rp" before it. */
export function readAmount(typed: string, rules: AmountRules): ReadAmount {
  const text = typed.trim().replace(/^(rp\.?|idr)\s*/i, "");
  if (text === "") return { wrong: "empty" };
  if (!NUMBER.test(text) || text.length > 2 * MOST_DIGITS) return { wrong: "noNumber" };
  const last = Math.max(text.lastIndexOf("."), text.lastIndexOf(","));
  if (last === -1) return fit(text, "", rules);
  const [separator, before, behind] = [text.charAt(last), text.slice(0, last), text.slice(last + 1)];
  if (separator !== "." && separator !== ",") return { wrong: "noNumber" };
  if (/[.,]/.test(before)) return readSeveral({ text, separator, before, behind }, rules);
  const isGrouped = GROUPS[separator].test(text) && !text.startsWith("0");
  if (!isGrouped) return fit(before, behind, rules);
  if (rules.decimals === 0) return fit(before + behind, "", rules);
  return { wrong: "ambiguous", grouped: before + behind, fraction: decimal(before, behind) };
}

/** The amount that a text means. Null: it is not understood, or none. */
export function amountOf(typed: string, rules: AmountRules): Decimal | null {
  const read = readAmount(typed, rules);
  return "amount" in read ? read.amount : null;
}

type Parts = { readonly text: string; readonly separator: "." | ","; readonly before: string; readonly behind: string };

/** Two separators or more: one kind groups, and another that comes once after it begins the decimals. */
function readSeveral({ text, separator, before, behind }: Parts, rules: AmountRules): ReadAmount {
  if (text.startsWith("0")) return { wrong: "noNumber" };
  if (GROUPS[separator].test(text)) return fit(text.replaceAll(separator, ""), "", rules);
  const other = separator === "." ? "," : ".";
  return GROUPS[other].test(before) ? fit(before.replaceAll(other, ""), behind, rules) : { wrong: "noNumber" };
}

function fit(whole: string, fraction: string, { decimals, zero = false }: AmountRules): ReadAmount {
  if (whole.length > MOST_DIGITS) return { wrong: "noNumber" };
  if (fraction.replace(/(?<!0)0+$/, "").length > decimals) return { wrong: decimals === 0 ? "notWhole" : "tooFine" };
  const amount = decimal(whole, fraction);
  return amount === "0" && !zero ? { wrong: "zero" } : { amount };
}

function decimal(whole: string, fraction: string): Decimal {
  const [digits, decimals] = [whole.replace(/^0+(?=\d)/, ""), fraction.replace(/(?<!0)0+$/, "")];
  return decimals === "" ? digits : `${digits}.${decimals}`;
}

/** A decimal string as a field begins with it: written so that it is read as the same amount. */
export function asTyped(amount: Decimal): string {
  return /^\d{1,3}\.\d{3}$/.test(amount) ? `${amount}0` : amount;
}
