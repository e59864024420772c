// What an owner or operator does with keys that exist: list, rename, revoke. Nothing here can show a secret.

import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import { type Page, type PageRequest, readPage } from "../kernel/paging.ts";
import { requireKeyName, requireRateLimit, requireWithinBound, type ApiKey } from "./api-key.ts";
import { MAX_WORKING_KEYS, tooManyKeys } from "./issue-key.ts";
import { type KeyLimits, requireFutureEnd, requireKeyLimits } from "./key-limits.ts";
import { setKeyLimits } from "./set-key-limits.ts";
import { findKey, readKeys, writeKey, writeRevocation } from "./issued-keys-store.ts";
import { countWorkingKeys, countWorkingKeysOf, lockKey } from "./store.ts";

/** The most keys of one page. */
export const MAX_PAGE_SIZE = 200;

type WithPool = Pick<Database, "pool">;

/**
 * Lists an account's keys, or those that one person has made there, newest first, revoked ones included. `pageSize` 0: 50.
 * Errors: ValidationError.
 */
export async function listKeys(
  { pool }: WithPool,
  {
    accountId,
    personId,
    pageSize = 0,
    pageToken = "",
  }: { accountId: string; personId?: string | null } & Partial<PageRequest>,
): Promise<Page<ApiKey>> {
  if (!Number.isInteger(pageSize) || pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
    const message = `must be a whole number from 0 to ${MAX_PAGE_SIZE}`;
    throw new ValidationError([{ field: "pageSize", rule: "page_size.range", message }]);
  }
  return readPage(
    { pageSize, pageToken },
    (range) => readKeys(pool, { accountId, personId, ...range }),
    ({ keyId }) => keyId,
  );
}

/** How many keys of each account work. An account without one is not in it. */
export function countKeys({ pool }: WithPool, accountIds: readonly string[]): Promise<Map<string, number>> {
  return countWorkingKeysOf(pool, accountIds);
}

/** `keyId` of every account, only of the given one, or only of those that a person has made there. */
export type WhichKey = { readonly keyId: string; readonly accountId?: string; readonly personId?: string | null };

/** A key with the state of its budget. Errors: NotFound. */
export async function getKey({ pool }: WithPool, which: WhichKey): Promise<ApiKey> {
  const key = isUuid(which.keyId) ? await findKey(pool, which) : null;
  if (key === null) throw noKey();
  return key;
}

/**
 * A change of a key. `limits` replaces all limits. `rateLimit` is set by an operator and is the bound from then on; `ownRateLimit` is set by
 * the owner, within the bound. What is left out stays.
 */
export type KeyChange = {
  readonly accountId: string;
  readonly keyId: string;
  readonly name: string;
  readonly rateLimit?: number;
  readonly ownRateLimit?: number;
  readonly limits?: KeyLimits;
  /** Only where this person has made the key. Null or left out: any key of the account. */
  readonly personId?: string | null;
};

/**
 * Renames a key of an account, and sets what it may do. Errors: ValidationError, NotFound, LimitExceeded when a key that has ended is to
 * work again and the account has too many that do.
 */
export async function updateKey(database: WithPool, change: KeyChange): Promise<ApiKey> {
  return withRetry(() => withTransaction(database, (client) => changeKey(client, change)));
}

/** The same inside the caller's transaction. */
export async function changeKey(
  client: PoolClient,
  { accountId, keyId, name, rateLimit, ownRateLimit, limits, personId = null }: KeyChange,
): Promise<ApiKey> {
  requireKeyName(name);
  if (rateLimit !== undefined) requireRateLimit(rateLimit);
  if (limits !== undefined) requireKeyLimits(limits);
  if (!isUuid(keyId)) throw noKey();
  if (limits !== undefined) {
    // Loading the ORM takes a while, and requests of the account wait for its lock.
    const present = await findKey(client, { accountId, keyId, personId });
    if (present === null) throw noKey();
    requireFutureEnd(limits, present.limits.expiresAt, Date.now());
    // The account is locked before the key.
    if (!(await setKeyLimits(client, { accountId, keyId, limits }))) throw noKey();
    const had = present.limits.expiresAt;
    const hadEnded = had !== null && had.getTime() <= Date.now();
    if (hadEnded && (await countWorkingKeys(client, accountId)) > MAX_WORKING_KEYS) throw tooManyKeys();
  }
  const rate = ownRateLimit === undefined ? { rateLimit } : await ownRate(client, { accountId, keyId, ownRateLimit });
  const changed = await writeKey(client, { accountId, keyId, name, ...rate, personId });
  if (changed === null) throw noKey();
  return changed;
}

/** The rate limit that an owner sets, and the bound that an operator has set, read behind the lock of the key. */
async function ownRate(
  client: PoolClient,
  { accountId, keyId, ownRateLimit }: { accountId: string; keyId: string; ownRateLimit: number },
): Promise<{ rateLimit: number; rateLimitBound: number }> {
  const present = (await lockKey(client, { accountId, keyId })) ? await findKey(client, { accountId, keyId }) : null;
  if (present === null) throw noKey();
  const { rateLimitBound } = present;
  requireWithinBound(ownRateLimit, rateLimitBound);
  return { rateLimit: ownRateLimit, rateLimitBound };
}

/** A key that is revoked now. `isNew`: this call has done it. */
export type RevokedKey = ApiKey & { readonly isNew: boolean };

/**
 * Revokes a key for good; revoking it again changes nothing. Without an account any key is meant, as an operator may.
 * From the commit on no request of the key is admitted; an answer from memory dies within five seconds. Errors: NotFound.
 */
export async function revokeKey(database: WithPool, which: WhichKey): Promise<ApiKey> {
  return withRetry(() => withTransaction(database, (client) => withdrawKey(client, which)));
}

/** The same inside the caller's transaction. */
export async function withdrawKey(client: PoolClient, which: WhichKey): Promise<RevokedKey> {
  const revoked = isUuid(which.keyId) ? await writeRevocation(client, which) : null;
  if (revoked === null) throw noKey();
  return revoked;
}

function noKey(): NotFound {
  return new NotFound("There is no such key.");
}
