// The outcome of a payment on the sandbox chain: the decimals of its amount choose it, for every currency and network.
// `1.0004` and `25.0004` are reverted; an amount with other decimals, or none, is simply paid.

import type { ChainPayment } from "../payout-chain.ts";

/** The outcomes, by the four decimals that choose them. */
const OUTCOMES = {
  "0001": "delayed",
  "0002": "dropped",
  "0003": "reorganized",
  "0004": "reverted",
  "0005": "refused",
  "0006": "unsignable",
  "0007": "unanswered",
  "0008": "underpriced",
} as const;

export type Outcome = "paid" | (typeof OUTCOMES)[keyof typeof OUTCOMES];

/** Every coin has more decimals. */
const DECIMALS = 4;

/** The outcome of a payment. A transaction that only fills a nonce is simply mined. */
export function outcomeOf(payment: ChainPayment | null): Outcome {
  if (payment === null) return "paid";
  const { decimals } = payment.coin;
  const step = 10n ** BigInt(decimals - DECIMALS);
  const fraction = payment.units % 10n ** BigInt(decimals);
  if (fraction % step !== 0n) return "paid";
  const digits = String(fraction / step).padStart(DECIMALS, "0");
  return digits in OUTCOMES ? OUTCOMES[digits as keyof typeof OUTCOMES] : "paid";
}
