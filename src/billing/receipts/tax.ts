// The tax on a top-up (PPN). It is computed once, when a top-up is ordered, and stored with it: a later rate does not change it.
//
// The rule of rounding: the tax is a whole rupiah, the nearest one, and a half is rounded up. Where prices do not include the tax, it is
// computed from the net amount and added. Where they include it, it is computed from the amount that is paid, and the net amount is
// the rest. So net + tax is what is paid, always.

import { divideCeil, divideFloor } from "../../kernel/money.ts";
import { invariant } from "../../kernel/invariant.ts";

/** Micro-rupiah of a rupiah. */
const RUPIAH = 1_000_000n;
/** A rate is in hundredths of a percent: 1100 is 11 %. */
export const WHOLE_RATE = 10_000n;

/** How top-ups are taxed. */
export type TaxRule = {
  /** Hundredths of a percent; 0: the seller is no taxable entrepreneur, and nothing is added. */
  readonly rate: number;
  /** Whether the amount that is ordered includes the tax. */
  readonly isIncluded: boolean;
};

/** The parts of what is paid, in micro-rupiah. */
export type TaxedAmount = { readonly net: bigint; readonly tax: bigint };

/** The parts of an order of whole rupiah. */
export function taxedAmountOf(ordered: bigint, { rate, isIncluded }: TaxRule): TaxedAmount {
  invariant(ordered > 0n && ordered % RUPIAH === 0n, "an order is of whole rupiah");
  const whole = BigInt(rate);
  invariant(whole >= 0n && whole <= WHOLE_RATE, "a rate of tax is from 0 to 100 %");
  if (!isIncluded) return { net: ordered, tax: nearestRupiah(ordered * whole, WHOLE_RATE) };
  const tax = nearestRupiah(ordered * whole, WHOLE_RATE + whole);
  return { net: ordered - tax, tax };
}

/** The least order of whole rupiah whose net amount is at least this one. */
export function leastOrderOf(net: bigint, rule: TaxRule): bigint {
  invariant(net > 0n && net % RUPIAH === 0n, "a least amount is of whole rupiah");
  if (!rule.isIncluded) return net;
  const whole = BigInt(rule.rate);
  // At most one rupiah less than the order, because the tax is rounded.
  const before = divideFloor(net * (WHOLE_RATE + whole), WHOLE_RATE * RUPIAH) - 1n;
  let ordered = (before > 0n ? before : 1n) * RUPIAH;
  while (taxedAmountOf(ordered, rule).net < net) ordered += RUPIAH;
  return ordered;
}

/**
 * The parts of what was given back of a payment, in all. The tax goes back in proportion, by the same rule of rounding as it was paid, and
 * the whole of it with the whole payment. Both parts only grow with the sum. `taxBefore`: the tax that went back before, which had parts
 * of a rupiah by a former rule; the sum is whole again.
 */
export function givenBackParts(givenBack: bigint, { net, tax }: TaxedAmount, taxBefore = 0n): TaxedAmount {
  const paid = net + tax;
  invariant(givenBack >= 0n && givenBack <= paid, "no more is given back than was paid");
  invariant(tax === 0n || givenBack % RUPIAH === 0n, "whole rupiah of a taxed payment are given back");
  const least = divideCeil(taxBefore, RUPIAH) * RUPIAH;
  const nearest = nearestRupiah(givenBack * tax, paid);
  const taxBack = nearest > least ? nearest : least;
  return { net: givenBack - taxBack, tax: taxBack };
}

/** So much of what a provider gave back as has parts: of a taxed payment whole rupiah. Money in parts of a rupiah does not exist. */
export function divisibleOf(givenBack: bigint, { tax }: TaxedAmount): bigint {
  return tax === 0n ? givenBack : givenBack - (givenBack % RUPIAH);
}

/** `a / b` in whole rupiah, the nearest; a half is rounded up. */
function nearestRupiah(a: bigint, b: bigint): bigint {
  return divideFloor(a * 2n + b * RUPIAH, b * RUPIAH * 2n) * RUPIAH;
}
