import type { RateState } from "../kernel/rate.ts";

/** A key that was valid at most five seconds ago. */
export type VerifiedKey = {
  readonly keyId: string;
  readonly accountId: string;
  /** Requests in any 60 seconds; 0: no limit. */
  readonly rateLimit: number;
};

export interface Keys {
  /** Looks a key up by its digest, from memory if that was read in the last five seconds. Null: no key that works. */
  verify(secret: string): Promise<VerifiedKey | null>;
  /** Takes a slot of the key's window for a read. Errors: RateLimited, InvalidApiKey when the key was revoked meanwhile. */
  takeSlot(key: VerifiedKey): Promise<RateState>;
  /** Refuses a key that was told to wait and has not waited, without asking the database. Errors: RateLimited. */
  refuseWhileLimited(key: VerifiedKey): void;
  /** Remembers that no slot of the key is free for so long. */
  rememberLimited(key: VerifiedKey, retryAfterMs: number): void;
}
