// A receipt, and its number.

import type { Party } from "./party.ts";

/** A receipt of a paid top-up, or a credit note for what was given back of one. */
export type ReceiptKind = "receipt" | "credit_note";

/** Money is micro-rupiah. Nothing of a receipt ever changes. */
export type Receipt = {
  readonly receiptId: string;
  readonly kind: ReceiptKind;
  readonly series: string;
  readonly year: number;
  readonly number: number;
  readonly accountId: string;
  readonly topUpId: string;
  /** What the account was credited, or what was given back of that. */
  readonly net: bigint;
  readonly tax: bigint;
  /** Hundredths of a percent. */
  readonly taxRate: number;
  readonly isTaxIncluded: boolean;
  /** What its top-up had given back up to this credit note; 0 on a receipt. */
  readonly givenBack: bigint;
  readonly provider: string;
  readonly seller: Party;
  readonly buyer: Party;
  /** When the payment was credited; of a credit note when it was issued. */
  readonly datedAt: Date;
  readonly issuedAt: Date;
};

const SERIES = { receipt: "KW", credit_note: "NK" } as const satisfies Record<ReceiptKind, string>;
/** The provider whose money is play money. Its receipts have series of their own, so real ones have no gaps. */
const PLAY_PROVIDER = "sandbox";
const LEAST_DIGITS = 6;

/**
 * The series in which a receipt is numbered. Another cell than the home, with its name in the series: each cell counts alone, and
 * no two receipts of a seller have one number. Names of cells begin with a letter, so no series ends like the year of another.
 */
export function seriesOf(
  { kind, provider }: Pick<Receipt, "kind" | "provider">,
  otherCell: string | null = null,
): string {
  const series = (provider === PLAY_PROVIDER ? "DEMO-" : "") + SERIES[kind];
  return otherCell === null ? series : `${series}-${otherCell.toUpperCase()}`;
}

/** The number as people write it, such as `KW-2026-000123`. */
export function numberText({ series, year, number }: Pick<Receipt, "series" | "year" | "number">): string {
  return `${series}-${year}-${String(number).padStart(LEAST_DIGITS, "0")}`;
}

/** Whether a receipt is of play money. */
export function isPlay({ provider }: Pick<Receipt, "provider">): boolean {
  return provider === PLAY_PROVIDER;
}
