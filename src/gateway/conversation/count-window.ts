// Counting is free and asks no database, so a window of its own bounds it: one process, one minute, one key.

import { LRUCache } from "lru-cache";
import { RateLimited } from "../../kernel/errors.ts";
import type { Clock } from "../../kernel/clock.ts";

/** Claude Code counts 25 times at once for one overview. */
export const COUNTS_IN_A_MINUTE = 300;
const WINDOW_MS = 60_000;
const MOST_REMEMBERED = 10_000;

type Window = { readonly endsAtMs: number; taken: number };

/** Takes a slot of a key. Errors: RateLimited where none is left in its minute. */
export type TakeCountSlot = (keyId: string) => void;

/** Makes the windows of one process. The clock must never go back. */
export function createCountWindows(clock: Clock = { now: () => performance.now() }): TakeCountSlot {
  const windows = new LRUCache<string, Window>({ max: MOST_REMEMBERED });
  return (keyId) => {
    const now = clock.now();
    let window = windows.get(keyId);
    if (window === undefined || window.endsAtMs <= now) {
      window = { endsAtMs: now + WINDOW_MS, taken: 0 };
      windows.set(keyId, window);
    }
    if (window.taken >= COUNTS_IN_A_MINUTE) {
      const retryAfterSeconds = Math.ceil((window.endsAtMs - now) / 1_000);
      throw new RateLimited({ retryAfterSeconds, limit: COUNTS_IN_A_MINUTE });
    }
    window.taken += 1;
  };
}
