// Finds the owner of a secret: from memory for at most five seconds, else from the database. Entries in memory are found
// by digest, so neither memory nor a core dump of the caches holds a secret. Gateway keys and service tokens share it.

import { LRUCache } from "lru-cache";
import type { Clock } from "./clock.ts";
import { digestSecretToken, isSecretToken, type SecretTokenPrefix } from "./secret-token.ts";

/** How old an answer from memory may be, counted from the start of the read that gave it. */
export const SECRET_MAX_AGE_MS = 5_000;
/** The same for "there is no such secret". */
export const UNKNOWN_SECRET_MAX_AGE_MS = 1_000;
const MAX_KNOWN = 50_000;
// Kept apart, so that a flood of made-up secrets never pushes out a real one.
const MAX_UNKNOWN = 10_000;

type Read<Answer> = { readonly startedAtMs: number; readonly answer: Answer };

export type SecretLookupDependencies<Owner> = {
  /** How the secrets begin. */
  readonly prefix: SecretTokenPrefix;
  /** Reads the owner of a digest. Null: there is no valid credential. */
  readonly read: (digest: Buffer) => Promise<Owner | null>;
  /** A clock that never goes back. */
  readonly clock: Clock;
};

/** The owner of a secret. */
export type SecretLookup<Owner> = {
  /** Null: nothing that works. */
  (secret: string): Promise<Owner | null>;
  /** The same from memory alone and at once. Undefined: a look-up is needed. */
  known(secret: string): Owner | undefined;
  /** Whether the secret had an owner when it was last read, however long ago. It may have been revoked since. */
  hasWorked(secret: string): boolean;
};

/** Makes the function that finds the owner of a secret: one read at a time per secret, remembered for a short while. */
export function createSecretLookup<Owner extends object>({
  prefix,
  read,
  clock,
}: SecretLookupDependencies<Owner>): SecretLookup<Owner> {
  const known = new LRUCache<string, Read<Owner>>({ max: MAX_KNOWN });
  const unknown = new LRUCache<string, Read<null>>({ max: MAX_UNKNOWN });
  const running = new Map<string, Read<Promise<Owner | null>>>();

  async function startRead(name: string, digest: Buffer, startedAtMs: number): Promise<Owner | null> {
    try {
      const owner = await read(digest);
      // The result of a read that a younger one has overtaken is ignored.
      if (running.get(name)?.startedAtMs === startedAtMs) {
        if (owner !== null) known.set(name, { startedAtMs, answer: owner });
        else {
          known.delete(name);
          unknown.set(name, { startedAtMs, answer: null });
        }
      }
      return owner;
    } finally {
      if (running.get(name)?.startedAtMs === startedAtMs) running.delete(name);
    }
  }

  const lookUp = async (secret: string): Promise<Owner | null> => {
    const digest = digestSecretToken(secret);
    const name = digest.toString("latin1");
    const nowMs = clock.now();
    const isYoung = (entry: Read<unknown> | undefined, maxAgeMs: number) =>
      entry !== undefined && nowMs - entry.startedAtMs < maxAgeMs;

    const found = known.get(name);
    if (found !== undefined && isYoung(found, SECRET_MAX_AGE_MS)) return found.answer;
    // Behind what is known: a known secret has the form.
    if (!isSecretToken(secret, prefix)) return null;
    if (isYoung(unknown.get(name), UNKNOWN_SECRET_MAX_AGE_MS)) return null;
    const inFlight = running.get(name);
    if (inFlight !== undefined && isYoung(inFlight, SECRET_MAX_AGE_MS)) return inFlight.answer;

    const answer = startRead(name, digest, nowMs);
    running.set(name, { startedAtMs: nowMs, answer });
    return answer;
  };
  return Object.assign(lookUp, {
    known(secret: string): Owner | undefined {
      const found = known.get(digestSecretToken(secret).toString("latin1"));
      return found !== undefined && clock.now() - found.startedAtMs < SECRET_MAX_AGE_MS ? found.answer : undefined;
    },
    hasWorked: (secret: string): boolean => known.has(digestSecretToken(secret).toString("latin1")),
  });
}
