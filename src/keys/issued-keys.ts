// What an owner or operator does with keys that exist: list, rename, revoke. Nothing here can show a secret.

import type { PoolClient } from "pg";
import type { Database } from "../database/database.ts";
import { type RecordChange, UNRECORDED } from "../database/record-change.ts";
import { withRetry, withTransaction } from "../database/transactions.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import { type Page, type PageRequest, readPage } from "../kernel/paging.ts";
import { lockAccount } from "../ledger/account-lock.ts";
import { requireKeyName, requireRateLimit, requireWithinBound, type ApiKey } from "./api-key.ts";
import { MAX_WORKING_KEYS, tooManyKeys } from "./issue-key.ts";
import { type KeyLimits, requireFutureEnd, requireKeyLimits } from "./key-limits.ts";
import { changedKeyFacts } from "./key-facts.ts";
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
 * Renames a key of an account, and sets what it may do; `record` writes a line of it in the same transaction. Errors: ValidationError, NotFound, LimitExceeded when a key that has ended is to
 * work again and the account has too many that do.
 */
export async function updateKey(
  database: WithPool,
  change: KeyChange,
  record: RecordChange = UNRECORDED,
): Promise<ApiKey> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      const changed = await changeKey(client, change);
      await record(client, { subject: changed.keyId, facts: changedKeyFacts(changed.before, changed) });
      return changed;
    }),
  );
}

/** A key that was changed, and how it was before, read behind its lock. */
export type ChangedKey = ApiKey & { readonly before: ApiKey };

/** The same inside the caller's transaction. */
export async function changeKey(
  client: PoolClient,
  { accountId, keyId, name, rateLimit, ownRateLimit, limits, personId = null }: KeyChange,
): Promise<ChangedKey> {
  requireKeyName(name);
  if (rateLimit !== undefined) requireRateLimit(rateLimit);
  if (limits !== undefined) requireKeyLimits(limits);
  if (!isUuid(keyId)) throw noKey();
  const which = { accountId, keyId, personId };
  // Loading the ORM takes a while, and requests of the account wait for its lock.
  if ((await findKey(client, which)) === null) throw noKey();
  // The account is locked before the key.
  if (limits !== undefined) await lockAccount(client, accountId);
  if (!(await lockKey(client, { accountId, keyId }))) throw noKey();
  const before = await findKey(client, which);
  if (before === null) throw noKey();
  if (limits !== undefined) {
    requireFutureEnd(limits, before.limits.expiresAt, Date.now());
    if (!(await setKeyLimits(client, { accountId, keyId, limits }))) throw noKey();
    const had = before.limits.expiresAt;
    const hadEnded = had !== null && had.getTime() <= Date.now();
    if (hadEnded && (await countWorkingKeys(client, accountId)) > MAX_WORKING_KEYS) throw tooManyKeys();
  }
  if (ownRateLimit !== undefined) requireWithinBound(ownRateLimit, before.rateLimitBound);
  const rate =
    ownRateLimit === undefined ? { rateLimit } : { rateLimit: ownRateLimit, rateLimitBound: before.rateLimitBound };
  const changed = await writeKey(client, { ...which, name, ...rate });
  if (changed === null) throw noKey();
  return { ...changed, before };
}

/** A key that is revoked now. `isNew`: this call has done it. */
export type RevokedKey = ApiKey & { readonly isNew: boolean };

/**
 * Revokes a key for good; revoking it again changes nothing. Without an account any key is meant, as an operator may.
 * From the commit on no request of the key is admitted; an answer from memory dies within five seconds. Errors: NotFound.
 */
export async function revokeKey(
  database: WithPool,
  which: WhichKey,
  record: RecordChange = UNRECORDED,
): Promise<ApiKey> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      const revoked = await withdrawKey(client, which);
      const { keyId: subject, name, isNew } = revoked;
      await record(client, isNew ? { subject, facts: { name } } : null);
      return revoked;
    }),
  );
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
