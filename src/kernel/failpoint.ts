// Failpoints: places at which a test ends the process, as a power cut would. What each leaves behind is a table in
// test/faults/README.md, and a test for every line of it.

/** The places that a chat request passes, in this order. */
export const REQUEST_FAILPOINTS = [
  "before-hold-commit",
  "after-hold-commit",
  "after-upstream-send",
  "after-first-byte",
  "after-usage",
  "before-settle",
  "mid-settle",
  "after-settle",
] as const;

/** The places that a merchant's transfer passes, in this order. */
export const TRANSFER_FAILPOINTS = ["before-transfer-commit", "after-transfer-commit"] as const;

/** The place that a payment provider's notification passes: it is durable, and the provider has no answer yet. */
export const TOP_UP_FAILPOINTS = ["mid-webhook"] as const;

/** The places that a receipt passes: its number is taken and not committed, and both are committed. */
export const RECEIPT_FAILPOINTS = ["before-receipt-commit", "after-receipt-commit"] as const;

/** The places that a payout passes, in this order. */
export const PAYOUT_FAILPOINTS = [
  "after-payout-chosen",
  "after-payout-signed",
  "after-payout-stored",
  "after-payout-journaled",
  "after-payout-broadcast",
  "before-payout-settled",
  "after-payout-settled",
] as const;

/** The places that a callback to a merchant passes. */
export const CALLBACK_FAILPOINTS = ["after-callback-sent"] as const;

export const FAILPOINTS = [
  ...REQUEST_FAILPOINTS,
  ...TRANSFER_FAILPOINTS,
  ...PAYOUT_FAILPOINTS,
  ...TOP_UP_FAILPOINTS,
  ...RECEIPT_FAILPOINTS,
  ...CALLBACK_FAILPOINTS,
] as const;

export type RequestFailpoint = (typeof REQUEST_FAILPOINTS)[number];
export type Failpoint = (typeof FAILPOINTS)[number];

/** Reports that a place is reached: `failpoint?.("mid-settle")`. Undefined in production, and unless a test has armed one. */
export let failpoint: ((reached: Failpoint) => void) | undefined;

/** Sets what is called at every place; undefined: nothing. Only app/compose/arm-failpoint.ts does, which production does not load. */
export function observeFailpoints(observer: ((reached: Failpoint) => void) | undefined): void {
  failpoint = observer;
}
