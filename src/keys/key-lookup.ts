// Which key a secret is: from memory while that is at most five seconds old, else from the database. What is remembered is
// found by digest, so neither memory nor a core dump of the caches holds a secret.

import { LRUCache } from "lru-cache";
import type { Clock } from "../kernel/clock.ts";
import { digestSecretToken, isSecretToken } from "../kernel/secret-token.ts";
import type { VerifiedKey } from "./keys.ts";

/** How old an answer from memory may be, counted from the start of the read that gave it. */
export const KEY_MAX_AGE_MS = 5_000;
/** The same for "there is no such key". */
export const UNKNOWN_KEY_MAX_AGE_MS = 1_000;
const MAX_KNOWN_KEYS = 50_000;
// Kept apart, so that a flood of made-up keys never pushes out a real one.
const MAX_UNKNOWN_KEYS = 10_000;

type Read<Answer> = { readonly startedAtMs: number; readonly answer: Answer };

export type KeyLookupDependencies = {
  /** Reads the working key of a digest. */
  readonly read: (digest: Buffer) => Promise<VerifiedKey | null>;
  /** A clock that never goes back. */
  readonly clock: Clock;
};

/** Makes the function behind `Keys.verify`: one read at a time per secret, remembered for a short while. */
export function createKeyLookup({
  read,
  clock,
}: KeyLookupDependencies): (secret: string) => Promise<VerifiedKey | null> {
  const known = new LRUCache<string, Read<VerifiedKey>>({ max: MAX_KNOWN_KEYS });
  const unknown = new LRUCache<string, Read<null>>({ max: MAX_UNKNOWN_KEYS });
  const running = new Map<string, Read<Promise<VerifiedKey | null>>>();

  async function startRead(name: string, digest: Buffer, startedAtMs: number): Promise<VerifiedKey | null> {
    try {
      const key = await read(digest);
      // A read that was overtaken by a younger one has nothing to say.
      if (running.get(name)?.startedAtMs === startedAtMs) {
        if (key !== null) known.set(name, { startedAtMs, answer: key });
        else unknown.set(name, { startedAtMs, answer: null });
      }
      return key;
    } finally {
      if (running.get(name)?.startedAtMs === startedAtMs) running.delete(name);
    }
  }

  return async (secret) => {
    const digest = digestSecretToken(secret);
    const name = digest.toString("latin1");
    const nowMs = clock.now();
    const isYoung = (entry: Read<unknown> | undefined, maxAgeMs: number) =>
      entry !== undefined && nowMs - entry.startedAtMs < maxAgeMs;

    const found = known.get(name);
    if (found !== undefined && isYoung(found, KEY_MAX_AGE_MS)) return found.answer;
    // Behind what is known: a known key has a key's form.
    if (!isSecretToken(secret, "gw_")) return null;
    if (isYoung(unknown.get(name), UNKNOWN_KEY_MAX_AGE_MS)) return null;
    const inFlight = running.get(name);
    if (inFlight !== undefined && isYoung(inFlight, KEY_MAX_AGE_MS)) return inFlight.answer;

    const answer = startRead(name, digest, nowMs);
    running.set(name, { startedAtMs: nowMs, answer });
    return answer;
  };
}
