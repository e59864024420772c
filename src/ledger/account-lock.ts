// The lock of a customer's account. Every transaction that moves the account's money, or counts rows that belong to it, takes this
// lock first: accounts before funds, receivables, top-ups, keys and transfers. The function lock_accounts of the database has the
// statement; the functions of the request path have it in line (README.md has the reason).

import type { ClientBase, Pool, PoolClient } from "pg";
import { waitForLocks } from "../database/transactions.ts";
import { NotFound } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";

// The cell is read behind the lock: a row of `lock_accounts` keeps its columns for the version before.
const LOCK = `
SELECT l.posted, l.held, l.owed, l.open_holds AS "openHolds", (SELECT a.cell FROM account a WHERE a.id = l.id) AS cell
FROM lock_accounts(ARRAY[$1::uuid]) l`;
const LOCK_ALL = `SELECT count(*) FROM lock_accounts(ARRAY(SELECT id FROM account))`;
const LOCK_FREE = `SELECT id FROM lock_free_accounts($1::uuid[])`;

/** The row of a locked account. Money is micro-rupiah; `openHolds` is how many requests run. */
export type LockedAccount = {
  readonly posted: bigint;
  readonly held: bigint;
  readonly owed: bigint;
  readonly openHolds: number;
};

/** The account is in another cell: nothing of it can be changed in this database. */
export class AccountElsewhere extends NotFound {
  readonly cell: string;
  constructor(cell: string) {
    super(`The account is in the cell ${cell}.`);
    this.cell = cell;
  }
}

/** Locks an account of this database until the end of the transaction. Errors: NotFound; AccountElsewhere. */
export async function lockAccount(client: ClientBase, accountId: string): Promise<LockedAccount> {
  const { cell, ...account } = await lockAnyAccount(client, accountId);
  if (cell !== null) throw new AccountElsewhere(cell); // planted: account-elsewhere-guard
  return account;
}

/** The same where what is changed is not of the ledger, such as members: the account may be in another cell. Errors: NotFound. */
export async function lockAnyAccount(
  client: ClientBase,
  accountId: string,
): Promise<LockedAccount & { readonly cell: string | null }> {
  await waitForLocks(client);
  const { rows } = await client.query<LockedAccount & { cell: string | null }>(LOCK, [
    isUuid(accountId) ? accountId : null,
  ]);
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
