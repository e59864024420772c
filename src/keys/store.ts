// The key table in SQL: what a request asks of it, row locks and counts, and whatever has a digest.

import type { Pool, PoolClient } from "pg";
import { sqlState, sqlStates, waitForLocks } from "../database/transactions.ts";
import { ServiceBusy } from "../kernel/errors.ts";
import { invariant } from "../kernel/invariant.ts";
import type { KeyLimits } from "./key-limits.ts";
import type { VerifiedKey } from "./verified-key.ts";

/** A key to be written. The secret itself never comes here. */
export type NewKey = {
  readonly accountId: string;
  readonly keyId: string;
  readonly digest: Buffer;
  readonly name: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly rateLimit: number;
  /** The person who makes it. Null: a service or an operator. */
  readonly personId: string | null;
  /** The most that its owner may set. Null: the present limit. */
  readonly rateLimitBound: number | null;
};

/** What was decided on one request, on the locked row of its key. */
export type SlotDecision =
  | { readonly outcome: "taken"; readonly rateLimit: number; readonly used: number; readonly resetSeconds: number }
  | { readonly outcome: "limited"; readonly rateLimit: number; readonly waitMs: number }
  | { readonly outcome: "revoked" };

/** Who else than a key has a window. */
export type CallerKind = "person" | "merchant" | "service";
const CALLER_LETTERS = { person: "p", merchant: "m", service: "s" } as const satisfies Record<CallerKind, string>;

/** What was decided on one request of such a caller. */
export type CallerSlot = { readonly outcome: "taken" | "limited" | "revoked"; readonly waitMs: number };

/** How often a slot is asked for while others hold the key's row for longer than the role's lock time-out. */
const MAX_LOCK_ATTEMPTS = 3;

const WORKING_KEY_BY_DIGEST = `
SELECT id, account_id, rate_limit, allowed_models, allowed_networks, person_id FROM api_key
WHERE digest = $1::bytea AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())`;

// The clock is read in a step behind the lock: beside it, it would be read before the wait. Only the key's row is locked,
// so a read never waits for the money of its account; admission takes the account first and then this row, no ring.
const TAKE_SLOT = `
WITH key AS MATERIALIZED (
  SELECT k.rate_limit, k.slots, k.slot_counts, k.revoked_at IS NOT NULL AS revoked, k.expires_at
  FROM api_key k WHERE k.account_id = $1::uuid AND k.id = $2::uuid FOR NO KEY UPDATE
), timed AS MATERIALIZED (
  SELECT key.*, clock_timestamp() AS t FROM key
), rated AS MATERIALIZED (
  SELECT timed.*, slots_used(slots, slot_counts, rate_limit, t) AS used FROM timed
), decided AS MATERIALIZED (
  SELECT rated.*, CASE WHEN revoked OR expires_at <= t THEN 'revoked'
                       WHEN rate_limit > 0 AND used + 1 > rate_limit THEN 'limited'
                       ELSE 'taken' END AS outcome
  FROM rated
), slot AS (
  UPDATE api_key k SET slots = slots_after(d.slots, d.slot_counts, d.rate_limit, d.t, 1),
                       slot_counts = slot_counts_after(d.slots, d.slot_counts, d.rate_limit, d.t, 1)
  FROM decided d
  WHERE k.account_id = $1::uuid AND k.id = $2::uuid AND d.outcome = 'taken' AND d.rate_limit > 0
)
SELECT outcome, rate_limit, used, slots_reset_seconds(slots, slot_counts, rate_limit, t) AS reset_seconds,
       CASE WHEN outcome = 'limited' THEN slot_wait_ms(slots, slot_counts, rate_limit, t, 1) END AS wait_ms
FROM decided`;

const TAKE_CALLER_SLOT = `
SELECT outcome, wait_ms AS "waitMs" FROM take_caller_slot($1::text, $2::uuid, $3::int)`;

/** The keys that people issue; the others are of the playground. */
const IS_ISSUED = `NOT is_playground AND NOT is_member_playground`;
const IS_WORKING = `revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()) AND ${IS_ISSUED}`;
const COUNT_WORKING = `SELECT count(*)::int AS count FROM api_key WHERE account_id = $1::uuid AND ${IS_WORKING}`;
const COUNT_OF_PEOPLE = `
SELECT person_id, count(*)::int AS count FROM api_key
WHERE account_id = $1::uuid AND person_id IS NOT NULL AND ${IS_WORKING} GROUP BY person_id`;
const COUNT_WORKING_OF = `
SELECT account_id, count(*)::int AS count FROM api_key
WHERE account_id = ANY ($1::uuid[]) AND ${IS_WORKING} GROUP BY account_id`;
const INSERT = `
INSERT INTO api_key (account_id, id, digest, name, prefix, last_four, rate_limit, rate_limit_bound, person_id)
VALUES ($1::uuid, $2::uuid, $3::bytea, $4, $5, $6, $7::int, $8::int, $9::uuid) RETURNING created_at`;
const KEYS_OF_PERSON = `SELECT id FROM api_key WHERE account_id = $1::uuid AND person_id = $2::uuid`;
const REVOKE_OF_PERSON = `
UPDATE api_key SET revoked_at = clock_timestamp()
WHERE account_id = $1::uuid AND person_id = $2::uuid AND revoked_at IS NULL RETURNING is_member_playground AS "isPlayground"`;

const LOCK_KEY = `
SELECT FROM api_key
WHERE id = $1::uuid AND account_id = coalesce($2::uuid, account_id) AND ${IS_ISSUED}
  AND ($3::uuid IS NULL OR person_id = $3) FOR NO KEY UPDATE`;

const SET_BUDGET = `SELECT set_key_budget($1::uuid, $2::uuid, $3::bigint, $4::text) AS set`;
const SET_END = `
UPDATE api_key SET expires_at = $3::timestamptz, allowed_models = $4::text[], allowed_networks = $5::text[],
                   token_limit = coalesce($6::int, 0)
WHERE account_id = $1::uuid AND id = $2::uuid`;

/** The columns of a key that may be used. */
export type KeyRow = {
  id: string;
  account_id: string;
  rate_limit: number;
  allowed_models: string[] | null;
  allowed_networks: string[] | null;
  person_id: string | null;
};
type SlotRow = {
  outcome: SlotDecision["outcome"];
  rate_limit: number;
  used: number;
  reset_seconds: number;
  wait_ms: number | null;
};

/** Reads the key of a digest. Null: there is none, or it was revoked. */
export async function readWorkingKey(pool: Pool, digest: Buffer): Promise<VerifiedKey | null> {
  const { rows } = await pool.query<KeyRow>({
    name: "key_by_digest",
    text: WORKING_KEY_BY_DIGEST,
    values: [digest],
  });
  return fromRowWorking(rows[0]);
}

/** The ids of all keys that a person has made in an account, revoked ones and that of the playground included. */
export async function readKeysOfPerson(
  pool: Pool,
  { accountId, personId }: { accountId: string; personId: string },
): Promise<string[]> {
  return (await pool.query<{ id: string }>(KEYS_OF_PERSON, [accountId, personId])).rows.map(({ id }) => id);
}

/** Revokes the keys that a person has made in an account, behind the lock of the account. Returns how many people could see. */
export async function revokeKeysOfPerson(
  client: PoolClient,
  { accountId, personId }: { accountId: string; personId: string },
): Promise<number> {
  const { rows } = await client.query<{ isPlayground: boolean }>(REVOKE_OF_PERSON, [accountId, personId]);
  return rows.filter(({ isPlayground }) => !isPlayground).length;
}

/** Decides on one request of a key and counts it if it is let in. Errors: ServiceBusy when the row stays locked. */
export function takeSlotOfKey(
  pool: Pool,
  { accountId, keyId }: { accountId: string; keyId: string },
): Promise<SlotDecision> {
  return whileLocked(async () => {
    const { rows } = await pool.query<SlotRow>({ name: "take_slot", text: TAKE_SLOT, values: [accountId, keyId] });
    return fromRowSlot(rows[0]);
  });
}

/**
 * Decides on one request of a person, merchant pair or service token and counts it if it is let in. A pair or token that does not
 * work any more is "revoked". Errors: ServiceBusy when the row stays locked.
 */
export function takeSlotOfCaller(
  pool: Pool,
  { kind, callerId, rateLimit }: { kind: CallerKind; callerId: string; rateLimit: number },
): Promise<CallerSlot> {
  return whileLocked(async () => {
    const values = [CALLER_LETTERS[kind], callerId, rateLimit];
    const { rows } = await pool.query<CallerSlot>({ name: "take_caller_slot", text: TAKE_CALLER_SLOT, values });
    invariant(rows[0] !== undefined, "a function gives its row");
    return rows[0];
  });
}

async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (sqlState(error) !== sqlStates.lockTimeout) throw error;
      if (attempt === MAX_LOCK_ATTEMPTS) throw new ServiceBusy(1, { cause: error });
    }
  }
}

/** Counts the keys of an account that work: neither revoked nor ended. */
export async function countWorkingKeys(client: PoolClient, accountId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(COUNT_WORKING, [accountId]);
  return rows[0]?.count ?? 0;
}

/** The same for several accounts. One without such a key is not in it. */
export async function countWorkingKeysOf(pool: Pool, accountIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ account_id: string; count: number }>(COUNT_WORKING_OF, [accountIds]);
  return new Map(rows.map((row) => [row.account_id, row.count]));
}

/** How many keys of each person of an account were not revoked. */
export async function countKeysOfPeople(pool: Pool, accountId: string): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ person_id: string; count: number }>(COUNT_OF_PEOPLE, [accountId]);
  return new Map(rows.map((row) => [row.person_id, row.count]));
}

/** Writes a key and gives the moment it was made. */
export async function insertKey(client: PoolClient, key: NewKey): Promise<Date> {
  const { rows } = await client.query<{ created_at: Date }>(INSERT, [
    key.accountId,
    key.keyId,
    key.digest,
    key.name,
    key.prefix,
    key.lastFour,
    key.rateLimit,
    key.rateLimitBound,
    key.personId,
  ]);
  invariant(rows[0] !== undefined, "an insert gives its row back");
  return rows[0].created_at;
}

/** Locks a key of any account, of one, or of one person there, before it is changed. False: there is none that people may change. */
export async function lockKey(
  client: PoolClient,
  { keyId, accountId = null, personId = null }: { keyId: string; accountId?: string | null; personId?: string | null },
): Promise<boolean> {
  await waitForLocks(client);
  return (await client.query(LOCK_KEY, [keyId, accountId, personId])).rowCount === 1;
}

/** Sets the budget of a key behind the lock of its account. False: the account has no such key. */
export async function setKeyBudget(
  client: PoolClient,
  { accountId, keyId, budget }: { accountId: string; keyId: string; budget: KeyLimits["budget"] },
): Promise<boolean> {
  const values = [accountId, keyId, budget?.amount ?? null, budget?.period ?? null];
  return (await client.query<{ set: boolean }>(SET_BUDGET, values)).rows[0]?.set === true;
}

/** Sets when a key ends, the models that it may ask, the networks that may use it, and its tokens in a minute. */
export async function writeKeyEnd(
  client: PoolClient,
  key: { accountId: string; keyId: string } & Omit<KeyLimits, "budget">,
): Promise<void> {
  const { accountId, keyId, expiresAt, allowedModels, allowedNetworks, tokenLimit } = key;
  await client.query(SET_END, [accountId, keyId, expiresAt, allowedModels, allowedNetworks, tokenLimit]);
}

/** The key of a row; null where there is none. */
export function fromRowWorking(row: KeyRow | undefined): VerifiedKey | null {
  if (row === undefined) return null;
  const { id: keyId, account_id: accountId, rate_limit: rateLimit, person_id } = row;
  const { allowed_models: allowedModels, allowed_networks: allowedNetworks } = row;
  return {
    keyId,
    accountId,
    rateLimit,
    ...(allowedModels === null ? {} : { allowedModels }),
    ...(person_id === null ? {} : { personId: person_id }),
    ...(allowedNetworks === null ? {} : { allowedNetworks }),
  };
}

function fromRowSlot(row: SlotRow | undefined): SlotDecision {
  // A key is never deleted, so a missing row is one of another account: as good as revoked.
  if (row === undefined || row.outcome === "revoked") return { outcome: "revoked" };
  const { rate_limit: rateLimit, used, reset_seconds: resetSeconds, wait_ms: waitMs } = row;
  if (row.outcome === "limited") return { outcome: "limited", rateLimit, waitMs: waitMs ?? 0 };
  return { outcome: "taken", rateLimit, used, resetSeconds };
}
