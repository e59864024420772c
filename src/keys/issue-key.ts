import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { type RecordChange, UNRECORDED } from "../database/record-change.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { LimitExceeded } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { digestSecretToken, newSecretToken } from "../kernel/secret-token.ts";
import { lockAccount } from "../ledger/account-lock.ts";
import { requireKeyName, requireWithinBound, type ApiKey } from "./api-key.ts";
import { type KeyLimits, NO_LIMITS, requireFutureEnd, requireKeyLimits } from "./key-limits.ts";
import { findKey } from "./issued-keys-store.ts";
import { keyFacts } from "./key-facts.ts";
import { setKeyLimits } from "./set-key-limits.ts";
import { countWorkingKeys, insertKey } from "./store.ts";

/** The limit a key has unless an operator sets another: requests in any 60 seconds. */
export const DEFAULT_RATE_LIMIT = 60;
/** How many keys of one account may work at the same time. */
export const MAX_WORKING_KEYS = 100;
// `gw_` and four characters: enough for its owner to distinguish keys, and useless to others.
const SHOWN_PREFIX_LENGTH = 7;
const SHOWN_END_LENGTH = 4;

/** A key as it was just made. The secret is here and nowhere else: only its digest was stored. */
export type IssuedKey = ApiKey & { readonly secret: string };

/**
 * A key to be issued. `rateLimit` is requests in any 60 seconds, 0 for no limit; left out, it is 60. `rateLimitBound` is the most that its
 * owner may set, the present limit where it is left out. `limits` left out: none.
 */
export type KeyRequest = {
  readonly accountId: string;
  readonly name: string;
  readonly rateLimit?: number;
  readonly rateLimitBound?: number;
  readonly limits?: KeyLimits;
  /** The member who makes it. Left out: a service or an operator does. */
  readonly maker?: KeyMaker;
};

/** A person who makes a key. `requireRole` throws unless the person may have keys now; it is called behind the lock of the account. */
export type KeyMaker = { readonly personId: string; readonly requireRole: (client: PoolClient) => Promise<void> };

/**
 * Issues a key of an account; `record` writes a line of it in the same transaction. Errors: ValidationError, NotFound when there is no such account, LimitExceeded when the
 * account has too many keys that work.
 */
export async function issueKey(
  database: Pick<Database, "pool">,
  request: KeyRequest,
  record: RecordChange = UNRECORDED,
): Promise<IssuedKey> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      const issued = await addKey(client, request);
      await record(client, { subject: issued.keyId, facts: keyFacts(issued) });
      return issued;
    }),
  );
}

/** The same inside the caller's transaction. */
export async function addKey(
  client: PoolClient,
  {
    accountId,
    name,
    rateLimit = DEFAULT_RATE_LIMIT,
    rateLimitBound = rateLimit,
    limits = NO_LIMITS,
    maker,
  }: KeyRequest,
): Promise<IssuedKey> {
  requireKeyName(name);
  requireKeyLimits(limits);
  requireFutureEnd(limits, null, Date.now());
  requireWithinBound(rateLimit, rateLimitBound);
  // Loading the ORM takes a while, and requests of the account wait for its lock.
  const keyId = uuidv7();
  if (limits.budget !== null) await findKey(client, { accountId, keyId });
  // The lock makes the count exact: two that issue at the same time do not both take the last place.
  await lockAccount(client, accountId);
  // A member who is removed meanwhile makes no key behind it.
  await maker?.requireRole(client);
  if ((await countWorkingKeys(client, accountId)) >= MAX_WORKING_KEYS) throw tooManyKeys();
  const secret = newSecretToken("gw_");
  const key = {
    keyId,
    accountId,
    name,
    prefix: secret.slice(0, SHOWN_PREFIX_LENGTH),
    lastFour: secret.slice(-SHOWN_END_LENGTH),
    rateLimit,
    personId: maker?.personId ?? null,
    rateLimitBound,
  };
  const digest = digestSecretToken(secret);
  const bound = rateLimitBound === rateLimit ? null : rateLimitBound;
  const createdAt = await insertKey(client, { ...key, rateLimitBound: bound, digest });
  if (limits !== NO_LIMITS) await setKeyLimits(client, { accountId, keyId, limits });
  const budget = limits.budget === null ? null : ((await findKey(client, key))?.budget ?? null);
  return {
    ...key,
    createdAt,
    lastUsedAt: null,
    revokedAt: null,
    isPlayground: false,
    limits,
    budget,
    tokensLeft: limits.tokenLimit,
    secret,
  };
}

/** The account has as many keys that work as it may have. */
export function tooManyKeys(): LimitExceeded {
  return new LimitExceeded(`An account has at most ${MAX_WORKING_KEYS} keys that work. Revoke one first.`);
}
