// What an owner or operator does with keys that exist: list, rename, revoke. Nothing here can show a secret.

import { raw, type EntityData } from "@mikro-orm/core";
import type { EntityManager } from "@mikro-orm/postgresql";
import type { Database } from "../database/database.ts";
import { withRetry } from "../database/transactions.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";
import { requireKeyName, type ApiKey } from "./api-key.ts";
import { ApiKeyEntity, type ApiKeyRow } from "./entities.ts";

/** The most keys of one page. */
export const MAX_PAGE_SIZE = 200;
const DEFAULT_PAGE_SIZE = 50;

/** `nextPageToken` is empty on the last page. */
export type KeyPage = { readonly keys: readonly ApiKey[]; readonly nextPageToken: string };

type Orm = Pick<Database, "orm">;

/** Lists an account's keys, newest first, revoked ones included. `pageSize` 0: 50. Errors: ValidationError. */
export async function listKeys(
  { orm }: Orm,
  { accountId, pageSize = 0, pageToken = "" }: { accountId: string; pageSize?: number; pageToken?: string },
): Promise<KeyPage> {
  if (!Number.isInteger(pageSize) || pageSize < 0 || pageSize > MAX_PAGE_SIZE) {
    const message = `must be a whole number from 0 to ${MAX_PAGE_SIZE}`;
    throw new ValidationError([{ field: "page_size", rule: "page_size.range", message }]);
  }
  if (pageToken !== "" && !isUuid(pageToken)) {
    throw new ValidationError([{ field: "page_token", rule: "page_token", message: "must come from the page before" }]);
  }
  const limit = pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize;
  // Ids begin with the time they were made, so their order is the order of the keys.
  const rows = await orm.em
    .fork()
    .find(
      ApiKeyEntity,
      { accountId, ...(pageToken === "" ? {} : { id: { $lt: pageToken } }) },
      { orderBy: { id: "desc" }, limit: limit + 1 },
    );
  const page = rows.slice(0, limit);
  return { keys: page.map(fromRowKey), nextPageToken: rows.length > limit ? (page.at(-1)?.id ?? "") : "" };
}

/** Renames a key of an account. Errors: ValidationError, NotFound. */
export async function renameKey(
  { orm }: Orm,
  { accountId, keyId, name }: { accountId: string; keyId: string; name: string },
): Promise<ApiKey> {
  requireKeyName(name);
  return changeKey(orm.em.fork(), { accountId, keyId }, { name });
}

/**
 * Revokes a key for good; revoking it again changes nothing. Without an account any key is meant, as an operator may.
 * From the commit on no request of the key is admitted; an answer from memory dies within five seconds. Errors: NotFound.
 */
export async function revokeKey(
  { orm }: Orm,
  { keyId, accountId }: { keyId: string; accountId?: string },
): Promise<ApiKey> {
  const which = accountId === undefined ? { keyId } : { keyId, accountId };
  return changeKey(orm.em.fork(), which, { revokedAt: raw("coalesce(revoked_at, clock_timestamp())") });
}

async function changeKey(
  em: EntityManager,
  { keyId, accountId }: { keyId: string; accountId?: string },
  change: EntityData<ApiKeyRow>,
): Promise<ApiKey> {
  if (!isUuid(keyId)) throw noKey();
  const which = accountId === undefined ? { id: keyId } : { id: keyId, accountId };
  const row = await withRetry(() =>
    em.transactional(async (tx) => {
      // A busy key's row is locked most of the time; whoever manages it waits longer for it than a request would.
      await tx.execute("SET LOCAL lock_timeout = '5s'");
      await tx.nativeUpdate(ApiKeyEntity, which, change);
      return tx.findOne(ApiKeyEntity, which);
    }),
  );
  if (row === null) throw noKey();
  return fromRowKey(row);
}

function fromRowKey({ id, ...row }: ApiKeyRow): ApiKey {
  return {
    keyId: id,
    accountId: row.accountId,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.lastFour,
    rateLimit: row.rateLimit,
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt ?? null,
    revokedAt: row.revokedAt ?? null,
  };
}

function noKey(): NotFound {
  return new NotFound("There is no such key.");
}
