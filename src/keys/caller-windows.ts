// The rate windows of all callers but keys: people, merchant pairs and service tokens, each exact over all nodes, by the
// same SQL functions as a key's. A pair or token that was revoked is refused here on its own row, from the commit of the
// revocation on, even where a process still remembers it.

import type { Pool } from "pg";
import type { Clock } from "../kernel/clock.ts";
import { InvalidApiKey, InvalidCredentials, TooManyRequests } from "../kernel/errors.ts";
import { createLimitedKeys, retryAfterSeconds } from "./limited-keys.ts";
import { type CallerKind, takeSlotOfCaller } from "./store.ts";

/** Requests in any 60 seconds by kind of caller; 0: no limit. */
export type CallerLimits = Readonly<Record<CallerKind, number>>;

export type WindowedCaller = { readonly kind: CallerKind; readonly callerId: string };

/**
 * Takes a slot of a caller's window. Errors: TooManyRequests; InvalidCredentials, InvalidApiKey when the pair or token does not
 * work any more; ServiceBusy.
 */
export type TakeCallerSlot = (caller: WindowedCaller) => Promise<void>;

/** Makes the windows of one node. A caller that was asked to wait is refused without the database until then. */
export function createCallerWindows({
  pool,
  limits,
  clock = { now: () => performance.now() },
}: {
  pool: Pool;
  limits: CallerLimits;
  clock?: Clock;
}): TakeCallerSlot {
  const waiting = createLimitedKeys({ clock });
  return async ({ kind, callerId }) => {
    const rateLimit = limits[kind];
    const known = { keyId: callerId, rateLimit };
    const waitMs = waiting.waitMsOf(known);
    if (waitMs > 0) throw new TooManyRequests(retryAfterSeconds(waitMs));
    const slot = await takeSlotOfCaller(pool, { kind, callerId, rateLimit });
    if (slot.outcome === "revoked") throw kind === "merchant" ? new InvalidCredentials() : new InvalidApiKey();
    if (slot.outcome === "taken") return;
    waiting.rememberLimited(known, slot.waitMs);
    throw new TooManyRequests(retryAfterSeconds(slot.waitMs));
  };
}
