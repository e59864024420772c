// The keys, and other callers with a window, that were asked to wait and have not waited yet, remembered on this node alone: a client that storms on after a
// 429 is refused without the database. It only ever refuses what the database has refused, so forgetting is harmless.

import { LRUCache } from "lru-cache";
import type { Clock } from "../kernel/clock.ts";
import { RateLimited } from "../kernel/errors.ts";

const MAX_LIMITED_KEYS = 50_000;
const MAX_RETRY_AFTER_SECONDS = 60;

/** A caller with a window, by its id, and the limit it has now. */
export type LimitedCaller = { readonly keyId: string; readonly rateLimit: number };

type Refusal = { readonly untilMs: number; readonly limit: number };

/** What a node remembers of the keys that have to wait. */
export interface LimitedKeys {
  /** Errors: RateLimited while no slot of the key can be free. */
  refuseWhileLimited(key: LimitedCaller): void;
  /** Milliseconds until a slot can be free; 0: it may be free now. */
  waitMsOf(key: LimitedCaller): number;
  /** No slot of the key is free for so long. */
  rememberLimited(key: LimitedCaller, retryAfterMs: number): void;
}

/** Makes an empty memory. The clock must never go back. */
export function createLimitedKeys({ clock }: { clock: Clock }): LimitedKeys {
  const refusals = new LRUCache<string, Refusal>({ max: MAX_LIMITED_KEYS });

  /** The refusal that still holds. One under another limit does not count for the key's present limit. */
  function current(key: LimitedCaller): Refusal | undefined {
    const refusal = refusals.get(key.keyId);
    return refusal !== undefined && refusal.untilMs > clock.now() && refusal.limit === key.rateLimit
      ? refusal
      : undefined;
  }

  return {
    refuseWhileLimited(key) {
      const refusal = current(key);
      if (refusal === undefined) return;
      throw new RateLimited({
        retryAfterSeconds: retryAfterSeconds(refusal.untilMs - clock.now()),
        limit: refusal.limit,
      });
    },

    waitMsOf(key) {
      const refusal = current(key);
      return refusal === undefined ? 0 : refusal.untilMs - clock.now();
    },

    rememberLimited(key, retryAfterMs) {
      const untilMs = clock.now() + retryAfterMs;
      // Of several requests refused together each waits for a slot of its own; the first one is free the earliest.
      const earlier = current(key);
      if (earlier !== undefined && earlier.untilMs <= untilMs) return;
      refusals.set(key.keyId, { untilMs, limit: key.rateLimit });
    },
  };
}

/** Whole seconds that a client has to wait, 1 to 60. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(waitMs / 1000)));
}
