// The fee of a transfer. The most specific matching row applies as a whole; rows are never mixed. A row never changes:
// a new version is added, and a transfer keeps the row of its price.

import { invariant } from "../../kernel/invariant.ts";
import { divideCeil, type Money, scaleOf } from "../../kernel/money.ts";

/** Decimals in which fee terms are kept: no coin has more. */
export const FEE_DECIMALS = 18;
/** A whole coin, or a rate of one, in fee terms. */
export const FEE_UNIT = 10n ** BigInt(FEE_DECIMALS);

/** How a fee is computed, in 10^-18: of a whole coin, the rate of one. */
export type FeeTerms = {
  readonly flat: bigint;
  readonly rate: bigint;
  readonly min: bigint | null;
  readonly max: bigint | null;
};

/** One version of the terms for a scope; null: every merchant, every currency. */
export type FeeRow = FeeTerms & {
  readonly id: string;
  readonly merchantId: string | null;
  readonly currencyCode: string | null;
  readonly version: number;
  readonly createdAt: Date;
};

/** `min(max, max(min, flat + rate × amount))`, each term rounded up to the amount's smallest unit. */
export function computeFee(terms: FeeTerms, amount: Money): Money {
  const scale = scaleOf(amount.asset);
  invariant(scale <= FEE_DECIMALS, "fee terms are as fine as every coin");
  const toUnits = (fine: bigint): bigint => divideCeil(fine, 10n ** BigInt(FEE_DECIMALS - scale));
  let units = toUnits(terms.flat) + divideCeil(terms.rate * amount.units, FEE_UNIT);
  if (terms.min !== null && units < toUnits(terms.min)) units = toUnits(terms.min);
  if (terms.max !== null && units > toUnits(terms.max)) units = toUnits(terms.max);
  return { units, asset: amount.asset };
}

/**
 * The row that applies: merchant and currency before merchant before currency before the default, and of one scope the
 * newest version.
 */
export function chooseFeeRow(
  rows: readonly FeeRow[],
  transfer: { merchantId: string; currencyCode: string },
): FeeRow | undefined {
  return rows
    .filter((row) => fits(row.merchantId, transfer.merchantId) && fits(row.currencyCode, transfer.currencyCode))
    .toSorted((a, b) => specificity(b) - specificity(a) || b.version - a.version)[0];
}

function fits(own: string | null, asked: string): boolean {
  return own === null || own === asked;
}

function specificity(row: FeeRow): number {
  return (row.merchantId === null ? 0 : 2) + (row.currencyCode === null ? 0 : 1);
}
