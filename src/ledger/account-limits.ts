// What an operator allows an account besides its balance: whether its requests are admitted, and how many run at once. The
// admission statement reads these columns from the locked row. Running requests are finished and billed.

import type { Pool, PoolClient } from "pg";
import { NotFound } from "../kernel/errors.ts";
import { lockAccount } from "./account-lock.ts";

export type AccountLimits = {
  /** Since when the account is frozen; null: it is not frozen. */
  readonly frozenAt: Date | null;
  /** How many requests may run at once; 0: no limit besides the balance. */
  readonly maxOpenRequests: number;
  /** How many run now. */
  readonly openRequests: number;
};

/** The limits before and after a change. */
export type ChangedLimits = AccountLimits & { readonly isChanged: boolean };

const COLUMNS = `frozen_at AS "frozenAt", max_open_holds AS "maxOpenRequests", open_holds AS "openRequests"`;
const READ = `SELECT ${COLUMNS} FROM account WHERE id = $1::uuid`;

// The caller has locked the account.
const FREEZE = `UPDATE account SET frozen_at = clock_timestamp() WHERE id = $1::uuid AND frozen_at IS NULL`;
const UNFREEZE = `UPDATE account SET frozen_at = NULL WHERE id = $1::uuid AND frozen_at IS NOT NULL`;
const LIMIT = `UPDATE account SET max_open_holds = $2::int WHERE id = $1::uuid AND max_open_holds <> $2::int`;
// A statement of its own after the lock: its snapshot contains the holds that the previous owner of the lock committed.
const RECOUNT = `
UPDATE account SET open_holds = (SELECT count(*) FROM hold WHERE account_id = $1::uuid)
WHERE id = $1::uuid AND open_holds <> (SELECT count(*) FROM hold WHERE account_id = $1::uuid)`;
const COUNT_FOR_MEMBER = `UPDATE hold SET member_id = $3::uuid WHERE account_id = $1::uuid AND key_id = $2::uuid`;
const RECOUNT_BUDGETS = `SELECT recount_key_budgets($1::uuid) AS wrong`;

/** Reads the limits of an account. Errors: NotFound. */
export async function readLimits(
  database: Pick<Pool | PoolClient, "query">,
  accountId: string,
): Promise<AccountLimits> {
  const { rows } = await database.query<AccountLimits>(READ, [accountId]);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  return rows[0];
}

/** Refuses new requests of an account. Freezing a frozen account keeps the first time. Errors: NotFound. */
export function freezeAccount(client: PoolClient, accountId: string): Promise<ChangedLimits> {
  return apply(client, FREEZE, [accountId]);
}

/** Admits an account's requests again. Errors: NotFound. */
export function unfreezeAccount(client: PoolClient, accountId: string): Promise<ChangedLimits> {
  return apply(client, UNFREEZE, [accountId]);
}

/** Limits how many requests of an account run at once; 0 removes the limit. Errors: NotFound. */
export function limitOpenRequests(
  client: PoolClient,
  { accountId, most }: { accountId: string; most: number },
): Promise<ChangedLimits> {
  return apply(client, LIMIT, [accountId, most]);
}

/**
 * Counts an account's open requests again, and what the budgets of its keys hold, where the audit found a wrong count. `was` is the count before. Errors: NotFound.
 */
export async function recountOpenRequests(
  client: PoolClient,
  accountId: string,
): Promise<ChangedLimits & { readonly was: number }> {
  const { openHolds: was } = await lockAccount(client, accountId);
  const { rowCount } = await client.query(RECOUNT, [accountId]);
  const { rows } = await client.query<{ wrong: number }>(RECOUNT_BUDGETS, [accountId]);
  const isChanged = rowCount === 1 || rows[0]?.wrong !== 0;
  return { ...(await readLimits(client, accountId)), isChanged, was };
}

/** Lets the open requests of a key count in the budget that a member has. Behind the lock of the account. */
export async function countHoldsForMember(
  client: PoolClient,
  { accountId, keyId, personId }: { accountId: string; keyId: string; personId: string },
): Promise<void> {
  await client.query(COUNT_FOR_MEMBER, [accountId, keyId, personId]);
  await client.query(RECOUNT_BUDGETS, [accountId]);
}

async function apply(
  client: PoolClient,
  text: string,
  values: readonly [string, ...unknown[]],
): Promise<ChangedLimits> {
  await lockAccount(client, values[0]);
  const { rowCount } = await client.query(text, [...values]);
  return { ...(await readLimits(client, values[0])), isChanged: rowCount === 1 };
}
