// Reads amounts as people type them. "1.000" is a thousand to one reader and one to another: an amount with one meaning
// is read, in Indonesian or English notation, and an ambiguous one is refused.

import type { Decimal } from "./decimal.ts";

/** The allowed amounts. */
export type AmountRules = {
  /** The most decimals. None: only whole numbers. */
  readonly decimals: number;
  /** Whether zero is allowed. */
  readonly zero?: boolean;
};

/** The decimal string of a text, or why it has none. */
export type ReadAmount =
  | { readonly amount: Decimal }
  | { readonly wrong: "empty" | "noNumber" | "zero" | "notWhole" | "tooFine" }
  | { readonly wrong: "ambiguous"; readonly grouped: Decimal; readonly fraction: Decimal };

/** Rupiah, to the millionth that the ledger keeps. */
export const RUPIAH: AmountRules = { decimals: 6 };
/** Rupiah without sen. */
export const WHOLE_RUPIAH: AmountRules = { decimals: 0 };
/** Coins: the server sends how many decimals a currency has. */
export const COINS: AmountRules = { decimals: 30 };

const MOST_DIGITS = 30;
/** Digits, with a point or comma between some of them; signs and exponents are refused. */
const NUMBER = /^\d+(?:[.,]\d+)*$/;
const GROUPS = { ".": /^\d{1,3}(\.\d{3})+$/, ",": /^\d{1,3}(,\d{3})+$/ } as const;

/** Reads the typed text, with or without "Rp" before it. */
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

/** The amount of a text. Null: it could not be read or is not allowed. */
export function amountOf(typed: string, rules: AmountRules): Decimal | null {
  const read = readAmount(typed, rules);
  return "amount" in read ? read.amount : null;
}

type Parts = { readonly text: string; readonly separator: "." | ","; readonly before: string; readonly behind: string };

/**
 * With two or more separators, one kind groups; the other kind may occur once after the groups and begins the decimals.
 */
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

/** The initial text of a field for a decimal string: written so that it is read as the same amount. */
export function asTyped(amount: Decimal): string {
  return /^\d{1,3}\.\d{3}$/.test(amount) ? `${amount}0` : amount;
}
