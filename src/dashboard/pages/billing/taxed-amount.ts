// What an order costs with its tax, before it is made: the rule of the service (billing/receipts/tax.ts), for a form to show.

/** Decimal texts of whole rupiah. */
export type TaxedAmount = { readonly net: string; readonly tax: string; readonly total: string };

/** Hundredths of a percent in the whole. */
const WHOLE = 10_000n;

/** The parts of an order. Without terms, while they are not known, there is no tax. */
export function taxedAmount(
  ordered: string,
  terms: { readonly percent: string; readonly included: boolean } | null,
): TaxedAmount {
  const amount = BigInt(ordered);
  const [whole = "", fraction = ""] = (terms?.percent || "0").split(".");
  const rate = BigInt(whole + fraction.padEnd(2, "0"));
  const base = terms?.included === true ? WHOLE + rate : WHOLE;
  // The nearest rupiah; a half is rounded up.
  const tax = (amount * rate * 2n + base) / (base * 2n);
  const net = terms?.included === true ? amount - tax : amount;
  return { net: String(net), tax: String(tax), total: String(net + tax) };
}
