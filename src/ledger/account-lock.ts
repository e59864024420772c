// The lock of a customer's account. Every transaction that moves the account's money, or counts rows that belong to it, takes this
// lock first: accounts before funds, receivables, top-ups, keys and transfers. The function lock_accounts of the database has the
// statement; the functions of the request path have it in line (README.md has the reason).

import type { ClientBase, Pool, PoolClient } from "pg";
import { waitForLocks } from "../database/transactions.ts";
import { NotFound } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";

const LOCK = `SELECT posted, held, owed, open_holds AS "openHolds" FROM lock_accounts(ARRAY[$1::uuid])`;
const LOCK_ALL = `SELECT count(*) FROM lock_accounts(ARRAY(SELECT id FROM account))`;
const LOCK_FREE = `SELECT id FROM lock_free_accounts($1::uuid[])`;

/** The row of a locked account. Money is micro-rupiah; `openHolds` is how many requests run. */
export type LockedAccount = {
  readonly posted: bigint;
  readonly held: bigint;
  readonly owed: bigint;
  readonly openHolds: number;
};

/** Locks an account until the end of the transaction. Errors: NotFound. */
export async function lockAccount(client: ClientBase, accountId: string): Promise<LockedAccount> {
  await waitForLocks(client);
  const { rows } = await client.query<LockedAccount>(LOCK, [isUuid(accountId) ? accountId : null]);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  return rows[0];
}

/** Locks every account until the end of the transaction. */
export async function lockAllAccounts(client: PoolClient): Promise<void> {
  await waitForLocks(client);
  await client.query(LOCK_ALL);
}

/** Those of some accounts that no other transaction has locked. They are free again when this returns. */
export async function findFreeAccounts(pool: Pool, accountIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(LOCK_FREE, [accountIds]);
  return new Set(rows.map(({ id }) => id));
}

/** What can be spent of an account: posted - held - owed, and never below zero. */
export function availableOf({ posted, held, owed }: Pick<LockedAccount, "posted" | "held" | "owed">): bigint {
  const unowed = posted - held - owed;
  return unowed > 0n ? unowed : 0n;
}
