// Failpoints: places at which a test kills the process, as a power cut would. What each leaves behind is a table in
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

/** The places that a payout passes, in this order. */
export const PAYOUT_FAILPOINTS = [
  "after-payout-chosen",
  "after-payout-signed",
  "after-payout-stored",
  "after-payout-broadcast",
  "before-payout-settled",
  "after-payout-settled",
] as const;

/** The places in the delivery of a callback. */
export const CALLBACK_FAILPOINTS = ["after-callback-sent"] as const;

export const FAILPOINTS = [
  ...REQUEST_FAILPOINTS,
  ...TRANSFER_FAILPOINTS,
  ...PAYOUT_FAILPOINTS,
  ...TOP_UP_FAILPOINTS,
  ...CALLBACK_FAILPOINTS,
] as const;

export type RequestFailpoint = (typeof REQUEST_FAILPOINTS)[number];
export type Failpoint = (typeof FAILPOINTS)[number];

/** The place to die at, when it is reached for the nth time. */
export type FailpointSetting = { readonly name: Failpoint; readonly nth: number };

/** Reports that a place is reached: `failpoint?.("mid-settle")`. Undefined unless one is armed, which is all a request pays. */
export let failpoint: ((reached: Failpoint) => void) | undefined;

/** Reads `name` or `name:nth`. Undefined: there is no such place. */
export function parseFailpoint(text: string): FailpointSetting | undefined {
  const [, name, nth = "1"] = /^([a-z-]+)(?::([1-9]\d{0,8}))?$/.exec(text) ?? [];
  const known = FAILPOINTS.find((each) => each === name);
  return known === undefined ? undefined : { name: known, nth: Number(nth) };
}

/** Calls `die` when the place is reached for the nth time, until the returned function is called. */
export function armFailpoint({ name, nth }: FailpointSetting, die: () => void): () => void {
  let times = 0;
  failpoint = (reached) => {
    if (reached !== name) return;
    times += 1;
    if (times === nth) die();
  };
  return () => {
    failpoint = undefined;
  };
}
