import { ValidationError } from "../kernel/errors.ts";
import type { KeyBudgetState, KeyLimits } from "./key-limits.ts";

/** A key as its owner sees it: everything but the secret. */
export type ApiKey = {
  readonly keyId: string;
  readonly accountId: string;
  readonly name: string;
  /** The first characters of the secret, to distinguish keys. */
  readonly prefix: string;
  readonly lastFour: string;
  /** Requests in any 60 seconds; 0: no limit. */
  readonly rateLimit: number;
  /** The most that its owner may set; 0: any number, and no limit. */
  readonly rateLimitBound: number;
  readonly createdAt: Date;
  /** When the last request was counted. Null: never, or the key has no limit and nothing is counted. */
  readonly lastUsedAt: Date | null;
  /** Null: it works. */
  readonly revokedAt: Date | null;
  /** The key of the account's own people in the playground: it has no secret, and is neither renamed nor revoked. */
  readonly isPlayground: boolean;
  /** The person who made it. Null: a service or an operator, or not known. */
  readonly personId: string | null;
  readonly limits: KeyLimits;
  /** The state of its budget. Null: it has none. */
  readonly budget: KeyBudgetState | null;
  /** What is left of its tokens in this minute. Null: it has no limit of them. */
  readonly tokensLeft: number | null;
};

/** The largest limit a key can have. */
export const MAX_RATE_LIMIT = 1_000_000;

const MAX_NAME_LENGTH = 100;

/** A name is for people: something to read, and short. Errors: ValidationError. */
export function requireKeyName(name: string): void {
  if (name.trim() !== "" && name.length <= MAX_NAME_LENGTH) return;
  const message = `must be 1 to ${MAX_NAME_LENGTH} characters and not only spaces`;
  throw new ValidationError([{ field: "name", rule: "name.length", message }]);
}

/** Requests in any 60 seconds; 0: no limit. Errors: ValidationError. */
export function requireRateLimit(rateLimit: number): void {
  if (Number.isInteger(rateLimit) && rateLimit >= 0 && rateLimit <= MAX_RATE_LIMIT) return;
  const message = `must be a whole number from 0 to ${MAX_RATE_LIMIT}`;
  throw new ValidationError([{ field: "rateLimit", rule: "rate_limit.range", message }]);
}

/** The rate limit that an owner sets is within the bound that an operator has set. Errors: ValidationError. */
export function requireWithinBound(rateLimit: number, bound: number): void {
  requireRateLimit(rateLimit);
  if (bound === 0 || (rateLimit > 0 && rateLimit <= bound)) return;
  const message = `must be from 1 to ${bound}, the limit that an operator has set`;
  throw new ValidationError([{ field: "rateLimit", rule: "rate_limit.bound", message }]);
}
