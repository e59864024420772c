// Rupiah in sentences for people. A number with one separator and three digits behind it is a thousand to one reader and a
// fraction to another, so none is ever written: there are two decimals at least, and four where there would be three.

import { invariant } from "./invariant.ts";
import { codeOf, formatMoney, type Money } from "./money.ts";

const LEAST_DECIMALS = 2;
/** What would be three digits behind the point. */
const LIKE_A_GROUP = 3;
const SEPARATORS = { en: { group: ",", point: "." }, id: { group: ".", point: "," } } as const;

/** Every digit of an amount of rupiah: `Rp 4,296.00` in English, `Rp 4.296,00` in Indonesian. */
export function rupiahText(money: Money, language: keyof typeof SEPARATORS = "en"): string {
  invariant(codeOf(money.asset) === "IDR", "rupiah are written as rupiah");
  const { group, point } = SEPARATORS[language];
  const [whole = "", fraction = ""] = formatMoney(money).split(".");
  const decimals = fraction.length === LIKE_A_GROUP ? `${fraction}0` : fraction.padEnd(LEAST_DECIMALS, "0");
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, group);
  return grouped.startsWith("-") ? `-Rp ${grouped.slice(1)}${point}${decimals}` : `Rp ${grouped}${point}${decimals}`;
}
