// What the request path needs of keys: who a secret belongs to, and whether its key may do one more request now.
// Issuing, listing, renaming and revoking keys are in issue-key.ts and issued-keys.ts.

import type { Database } from "../database/database.ts";
import { isDatabaseAway } from "../database/transactions.ts";
import type { Clock } from "../kernel/clock.ts";
import { InvalidApiKey, RateLimited, ServiceBusy } from "../kernel/errors.ts";
import type { RateState } from "../kernel/rate.ts";
import { createSecretLookup } from "../kernel/credential-cache.ts";
import { createLimitedKeys, retryAfterSeconds } from "./limited-keys.ts";
import { readWorkingKey, takeSlotOfKey } from "./store.ts";
import type { VerifiedKey } from "./verified-key.ts";

export interface Keys {
  /**
   * Looks a key up by its digest, from memory if that was read in the last five seconds. Null: no key that works.
   * Errors: ServiceBusy when the database is away.
   */
  verify(secret: string): Promise<VerifiedKey | null>;
  /** Whether a key has worked in this process, however long ago. It may have been revoked since. */
  hasWorked(secret: string): boolean;
  /** The key of a secret, where that was read in the last five seconds. Undefined: `verify` has to look. */
  known(secret: string): VerifiedKey | undefined;
  /**
   * Takes a slot of the key's window for a read. Errors: RateLimited, InvalidApiKey when the key was revoked meanwhile,
   * ServiceBusy when the database is away.
   */
  takeSlot(key: VerifiedKey): Promise<RateState>;
  /** Refuses a key that was asked to wait and has not waited, without asking the database. Errors: RateLimited. */
  refuseWhileLimited(key: VerifiedKey): void;
  /** Remembers that no slot of the key is free for so long. */
  rememberLimited(key: VerifiedKey, retryAfterMs: number): void;
}

export type KeysDependencies = {
  readonly database: Pick<Database, "pool">;
  /** Ages are counted on a clock that never goes back, even when the time of day is set back. */
  readonly monotonicClock?: Clock;
};

/** Makes the keys of one node; what it remembers between requests is its own. */
export function createKeys({
  database: { pool },
  monotonicClock: clock = { now: () => performance.now() },
}: KeysDependencies): Keys {
  const lookUp = createSecretLookup({ prefix: "gw_", read: (digest) => orBusy(readWorkingKey(pool, digest)), clock });
  const limitedKeys = createLimitedKeys({ clock });
  return {
    verify: lookUp,
    hasWorked: (secret) => lookUp.hasWorked(secret),
    known: (secret) => lookUp.known(secret),

    async takeSlot(key) {
      limitedKeys.refuseWhileLimited(key);
      const decision = await orBusy(takeSlotOfKey(pool, key));
      if (decision.outcome === "revoked") throw new InvalidApiKey();
      const { rateLimit: limit } = decision;
      if (decision.outcome === "limited") {
        limitedKeys.rememberLimited({ ...key, rateLimit: limit }, decision.waitMs);
        throw new RateLimited({ retryAfterSeconds: retryAfterSeconds(decision.waitMs), limit });
      }
      const remaining = Math.max(0, limit - decision.used - 1);
      return { limit, remaining, resetSeconds: decision.resetSeconds };
    },

    ...limitedKeys,
  };
}

async function orBusy<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw isDatabaseAway(error) ? new ServiceBusy(undefined, { cause: error }) : error;
  }
}
