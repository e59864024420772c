// What owners and operators do with keys that exist, by the entity manager. What a request asks, row locks and digests are SQL in
// `store.ts`.

import type { Pool, PoolClient } from "pg";
import type { Entities } from "../database/orm-loaded.ts";
import { entitiesOn } from "../database/orm.ts";
import { waitForLocks } from "../database/transactions.ts";
import type { BudgetPeriod } from "../kernel/key-limit-errors.ts";
import { invariant } from "../kernel/invariant.ts";
import type { ApiKey } from "./api-key.ts";
import { type BudgetColumns, budgetState } from "./key-limits.ts";
import { lockKey } from "./store.ts";

const SECRET_OR_LARGE = ["digest", "slots", "slotCounts", "tokenTimes", "tokenCounts"] as const;

/** The keys that people issue; the others are of the playground. */
const ISSUED = { isPlayground: false, isMemberPlayground: false } as const;

/** Reads keys of an account, or those that one person has made there, newest first, from the one behind `beforeId` on; null: from the newest on. */
export async function readKeys(
  pool: Pool,
  {
    accountId,
    personId = null,
    beforeId,
    limit,
  }: { accountId: string; personId?: string | null | undefined; beforeId: string | null; limit: number },
): Promise<ApiKey[]> {
  const { em, ApiKey } = await entitiesOn(pool);
  // Ids begin with the time they were made, so their order is the order of the keys.
  const where = {
    accountId,
    ...(personId === null ? {} : { personId }),
    ...(beforeId === null ? {} : { id: { $lt: beforeId } }),
  };
  const rows = await em.find(ApiKey, where, { orderBy: { id: "desc" }, limit, exclude: SECRET_OR_LARGE });
  return rows.map(fromRow);
}

/** The names of an account's keys by their ids, revoked ones included. */
export async function readKeyNames(pool: Pool, accountId: string): Promise<ReadonlyMap<string, string>> {
  const { em, ApiKey } = await entitiesOn(pool);
  const rows = await em.find(ApiKey, { accountId }, { fields: ["id", "name"] });
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Who made each key of an account, playground keys too, by the keys' ids. Keys of services and operators are left out. */
export async function readKeyMakers(pool: Pool, accountId: string): Promise<ReadonlyMap<string, string>> {
  const { em, ApiKey } = await entitiesOn(pool);
  const rows = await em.find(ApiKey, { accountId, personId: { $ne: null } }, { fields: ["id", "personId"] });
  return new Map(rows.map(({ id, personId }) => [id, personId ?? ""]));
}

/**
 * Gives a key another name, and another rate limit where there is one; without a bound it is the bound as well. Null: the account has no
 * such key.
 */
export async function writeKey(
  client: PoolClient,
  {
    accountId,
    keyId,
    name,
    rateLimit,
    rateLimitBound = null,
    personId = null,
  }: {
    accountId: string;
    keyId: string;
    name: string;
    rateLimit?: number | undefined;
    rateLimitBound?: number | null;
    personId?: string | null;
  },
): Promise<ApiKey | null> {
  await waitForLocks(client);
  const { em, ApiKey } = await entitiesOn(client);
  const changes = rateLimit === undefined ? { name } : { name, rateLimit, rateLimitBound };
  const which = { accountId, id: keyId, ...ISSUED, ...(personId === null ? {} : { personId }) };
  const changed = await em.nativeUpdate(ApiKey, which, changes);
  return changed === 0 ? null : readKey({ em, ApiKey }, keyId);
}

/**
 * Marks a key as revoked now, unless it was before, and returns which. Null: there is no such key, or it is not of the account
 * that is given.
 */
export async function writeRevocation(
  client: PoolClient,
  which: { keyId: string; accountId?: string | null; personId?: string | null },
): Promise<(ApiKey & { readonly isNew: boolean }) | null> {
  // Loading the ORM takes a while, and requests of the key wait for the lock.
  const { em, ApiKey, raw } = await entitiesOn(client);
  // Behind the lock, no request was admitted after the moment of revocation.
  if (!(await lockKey(client, which))) return null;
  const id = which.keyId;
  const revoked = await em.nativeUpdate(ApiKey, { id, revokedAt: null }, { revokedAt: raw("clock_timestamp()") });
  return { ...(await readKey({ em, ApiKey }, id)), isNew: revoked === 1 };
}

/** Revokes every key that works. Gives how many there were. */
export async function revokeAllKeys(client: PoolClient): Promise<number> {
  const { em, ApiKey, raw } = await entitiesOn(client);
  // No person knows the secret of a playground key.
  return em.nativeUpdate(ApiKey, { revokedAt: null, ...ISSUED }, { revokedAt: raw("clock_timestamp()") });
}

/** Reads one key, of any account or of the given one. Null: there is none. */
export async function findKey(
  pool: Pool | PoolClient,
  { accountId, keyId, personId = null }: { keyId: string; accountId?: string; personId?: string | null },
): Promise<ApiKey | null> {
  const { em, ApiKey } = await entitiesOn(pool);
  const where = {
    id: keyId,
    ...(accountId === undefined ? {} : { accountId }),
    ...(personId === null ? {} : { personId }),
  };
  const row = await em.findOne(ApiKey, where, { exclude: SECRET_OR_LARGE });
  return row === null ? null : fromRow(row);
}

async function readKey({ em, ApiKey }: Pick<Entities, "em" | "ApiKey">, id: string): Promise<ApiKey> {
  const row = await em.findOne(ApiKey, { id }, { exclude: SECRET_OR_LARGE });
  invariant(row !== null, "a key that was changed is there");
  return fromRow(row);
}

type Row = Omit<
  ApiKey,
  "keyId" | "rateLimitBound" | "tokensLeft" | "lastUsedAt" | "revokedAt" | "limits" | "budget" | "personId"
> & {
  readonly personId: string | null | undefined;
  readonly isMemberPlayground: boolean;
  readonly rateLimitBound: number | null | undefined;
  readonly allowedNetworks: readonly string[] | null | undefined;
  readonly tokenLimit: number;
  readonly tokensUsed: bigint;
  readonly expiresAt: Date | null | undefined;
  readonly allowedModels: readonly string[] | null | undefined;
  readonly budget: bigint | null | undefined;
  readonly budgetPeriod: BudgetPeriod | null | undefined;
  readonly budgetSpentNow: bigint;
  readonly budgetHeld: bigint;
  readonly budgetZone: string | null | undefined;
  readonly budgetEndsAt: Date | null | undefined;
  readonly id: string;
  readonly lastUsedAt: Date | null | undefined;
  readonly revokedAt: Date | null | undefined;
};

/** A budget has all of its columns, or none. */
function budgetOf(row: Row): BudgetColumns | null {
  const { budget, budgetPeriod, budgetSpentNow, budgetHeld, budgetZone, budgetEndsAt } = row;
  if (budget == null || budgetPeriod == null) return null;
  const counted = { spentNow: budgetSpentNow, held: budgetHeld, zone: budgetZone, endsAt: budgetEndsAt };
  return { amount: budget, period: budgetPeriod, ...counted };
}

function fromRow(row: Row): ApiKey {
  const budget = budgetOf(row);
  return {
    keyId: row.id,
    accountId: row.accountId,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.lastFour,
    rateLimit: row.rateLimit,
    rateLimitBound: row.rateLimitBound ?? row.rateLimit,
    createdAt: row.createdAt,
    lastUsedAt: row.lastUsedAt ?? null,
    revokedAt: row.revokedAt ?? null,
    isPlayground: row.isPlayground || row.isMemberPlayground,
    personId: row.personId ?? null,
    limits: {
      budget: budget === null ? null : { amount: budget.amount, period: budget.period },
      expiresAt: row.expiresAt ?? null,
      allowedModels: row.allowedModels ?? null,
      allowedNetworks: row.allowedNetworks ?? null,
      tokenLimit: row.tokenLimit === 0 ? null : row.tokenLimit,
    },
    budget: budget === null ? null : budgetState(budget),
    tokensLeft: row.tokenLimit === 0 ? null : Math.max(0, row.tokenLimit - Number(row.tokensUsed)),
  };
}
