// Counting is free and asks no database, so a window of its own bounds it: one process, one minute, one key.

import { LRUCache } from "lru-cache";
import { RateLimited } from "../../kernel/errors.ts";
import type { Clock } from "../../kernel/clock.ts";

/** Claude Code counts 25 times at once for one overview. */
export const COUNTS_IN_A_MINUTE = 300;
const WINDOW_MS = 60_000;
const MOST_REMEMBERED = 10_000;

type Window = { readonly endsAtMs: number; taken: number };

/** What is counted costs by its size: a slot more for each of so many bytes. */
const BYTES_PER_SLOT = 16 * 1_024;

/** Takes slots of a key, one unless more are asked for. Errors: RateLimited where too few are left in its minute. */
export type TakeCountSlot = (keyId: string, slots?: number) => void;

/** The slots that a body costs beside the one that is taken before it is read. */
export function slotsOfSize(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_SLOT);
}

/** Makes the windows of one process. The clock must never go back. */
export function createCountWindows(clock: Clock = { now: () => performance.now() }): TakeCountSlot {
  const windows = new LRUCache<string, Window>({ max: MOST_REMEMBERED });
  return (keyId, slots = 1) => {
    const now = clock.now();
    let window = windows.get(keyId);
    if (window === undefined || window.endsAtMs <= now) {
      window = { endsAtMs: now + WINDOW_MS, taken: 0 };
      windows.set(keyId, window);
    }
    const isFull = window.taken + slots > COUNTS_IN_A_MINUTE;
    // One that is refused for its size leaves nothing for the next, which is then refused before it is read.
    window.taken = isFull ? COUNTS_IN_A_MINUTE : window.taken + slots;
    if (isFull) {
      const retryAfterSeconds = Math.ceil((window.endsAtMs - now) / 1_000);
      throw new RateLimited({ retryAfterSeconds, limit: COUNTS_IN_A_MINUTE });
    }
  };
}
