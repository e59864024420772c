// What a provider keeps of a payment: a part of it, a flat amount, or both. Written `4000`, `0.7%` or `2.9%+2000`, in rupiah.

import { divideCeil } from "./money.ts";

export type FeeRule = {
  /** Micro-rupiah. */
  readonly flat: bigint;
  /** Millionths of the payment. */
  readonly part: bigint;
};

const MICRO = 1_000_000n;
const FORM = /^(?:(?<percent>\d{1,2})(?:\.(?<decimals>\d{1,4}))?%(?:\+(?<more>\d{1,9}))?|(?<flat>\d{1,9}))$/;

/** Reads a rule; undefined where the text is none. */
export function parseFeeRule(text: string): FeeRule | undefined {
  const groups = FORM.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { percent = "0", decimals = "", more, flat } = groups;
  return { flat: BigInt(flat ?? more ?? "0") * MICRO, part: BigInt(percent + decimals.padEnd(4, "0")) };
}

/** What is kept of an amount of micro-rupiah: rounded up to whole rupiah, as providers do, and at most the amount. */
export function feeOf({ flat, part }: FeeRule, amount: bigint): bigint {
  const rounded = divideCeil(flat * MICRO + amount * part, MICRO * MICRO) * MICRO;
  return rounded < amount ? rounded : amount;
}
