// Counting is free and asks no database, so two windows of one process bound it, each of one key and one minute: the calls, and
// the bytes that are counted. The second is for the processor alone, and 300 calls of an agent's usual size have room in it.

import { RateLimited, TooManyRequests } from "../../kernel/errors.ts";
import type { Clock } from "../../kernel/clock.ts";
import { MinuteWindows } from "../../kernel/minute-windows.ts";

/** Claude Code counts 25 times at once for one overview. */
export const COUNTS_IN_A_MINUTE = 300;
/** A MiB takes about a tenth of a second: a tenth of a core for each key at most, and 218 KiB for each of its calls. */
export const COUNTED_BYTES_IN_A_MINUTE = 64 * 1_024 * 1_024;

/** The windows of counts. */
export type CountWindows = {
  /** Takes a call of a key, before its body is read. Errors: RateLimited; TooManyRequests where its bytes are used up. */
  readonly takeCountSlot: (keyId: string) => void;
  /** Takes the bytes that are counted, before they are. Errors: TooManyRequests. */
  readonly takeCountedBytes: (keyId: string, bytes: number) => void;
};

export type CountWindowOptions = { readonly bytesInAMinute?: number; readonly clock?: Clock };

/** Makes the windows of one process. The clock must never go back. */
export function createCountWindows({
  bytesInAMinute = COUNTED_BYTES_IN_A_MINUTE,
  clock,
}: CountWindowOptions = {}): CountWindows {
  const calls = new MinuteWindows(COUNTS_IN_A_MINUTE, clock);
  const bytes = new MinuteWindows(bytesInAMinute, clock);
  return {
    takeCountSlot(keyId) {
      const retryAfterSeconds = calls.take(keyId);
      if (retryAfterSeconds > 0) throw new RateLimited({ retryAfterSeconds, limit: COUNTS_IN_A_MINUTE });
      refuseFor(bytes.waitOf(keyId));
    },
    takeCountedBytes(keyId, size) {
      refuseFor(bytes.take(keyId, size));
    },
  };
}

function refuseFor(waitSeconds: number): void {
  if (waitSeconds === 0) return;
  throw new TooManyRequests(waitSeconds, "Too many large prompts were counted with this key.");
}
