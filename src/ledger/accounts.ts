// Customers' ledger accounts: opening one and reading its balance.

import type { Pool, PoolClient } from "pg";
import { NotFound } from "../kernel/errors.ts";
import { AccountElsewhere } from "./account-lock.ts";

/**
 * Micro-rupiah. `posted` is the sum of all postings, `held` the sum of the holds of running requests, and `owed` the account's
 * debt for payments that a provider gave back. `available` is what the account can spend: posted - held - owed, and never below
 * zero.
 */
export type AccountBalance = {
  readonly posted: bigint;
  readonly held: bigint;
  readonly owed: bigint;
  readonly available: bigint;
};

const OPEN = `INSERT INTO account (id) VALUES ($1::uuid)`;
const OPEN_ONCE = `INSERT INTO account (id) VALUES ($1::uuid) ON CONFLICT (id) DO NOTHING`;
const OPEN_ELSEWHERE = `INSERT INTO account (id, cell) VALUES ($1::uuid, $2)`;
const CELL_OF = `SELECT cell FROM account WHERE id = $1::uuid`;
const CELLS_IN_USE = `SELECT DISTINCT cell FROM account WHERE cell IS NOT NULL`;
const BY_CELL = `SELECT cell, count(*)::int AS accounts FROM account GROUP BY cell`;
const HAS_ACCOUNTS = `SELECT FROM account LIMIT 1`;
const BALANCE_COLUMNS = "posted, held, owed, greatest(0, posted - held - owed) AS available";
const BALANCE = `SELECT ${BALANCE_COLUMNS}, cell FROM account WHERE id = $1::uuid`;
const GLANCES = `
SELECT id, ${BALANCE_COLUMNS}, frozen_at AS "frozenAt", cell FROM account WHERE id = ANY ($1::uuid[])`;

/** Opens a customer's account without money, inside the caller's transaction. */
export async function openAccount(client: PoolClient, accountId: string): Promise<void> {
  await client.query(OPEN, [accountId]);
}

/** The same where the account may have been opened before. Returns whether this call has opened it. */
export async function openAccountOnce(client: PoolClient, accountId: string): Promise<boolean> {
  return (await client.query(OPEN_ONCE, [accountId])).rowCount === 1;
}

/** Opens the row of an account whose money is in another cell: people and tokens of this database refer to it. */
export async function openAccountElsewhere(
  client: PoolClient,
  { accountId, cell }: { readonly accountId: string; readonly cell: string },
): Promise<void> {
  await client.query(OPEN_ELSEWHERE, [accountId, cell]);
}

/** Which cell an account is in; null: this database. Undefined: there is no such account. */
export async function readCellOfAccount(
  client: Pool | PoolClient,
  accountId: string,
): Promise<string | null | undefined> {
  return (await client.query<{ cell: string | null }>(CELL_OF, [accountId])).rows[0]?.cell;
}

/** The other cells that have accounts of this database's people. */
export async function readCellsInUse(client: Pool | PoolClient): Promise<string[]> {
  return (await client.query<{ cell: string }>(CELLS_IN_USE)).rows.map(({ cell }) => cell);
}

/** How many accounts of this database's people each cell has; null: this database. Reads every row. */
export async function countAccountsByCell(client: Pool): Promise<Map<string | null, number>> {
  const { rows } = await client.query<{ cell: string | null; accounts: number }>(BY_CELL);
  return new Map(rows.map(({ cell, accounts }) => [cell, accounts]));
}

/** Whether any account was opened. */
export async function hasAccounts(client: Pool | PoolClient): Promise<boolean> {
  return (await client.query(HAS_ACCOUNTS)).rowCount !== 0;
}

/** Reads a balance. Errors: NotFound; AccountElsewhere: the row of an account of another cell is always empty. */
export async function readBalance(pool: Pool, accountId: string): Promise<AccountBalance> {
  const { rows } = await pool.query<AccountBalance & { cell: string | null }>(BALANCE, [accountId]);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  const { cell, ...balance } = rows[0];
  if (cell !== null) throw new AccountElsewhere(cell);
  return balance;
}

/** The balance of an account, and since when it is frozen. `cell`: the account is there, and its row here is empty; null: it is here. */
export type AccountGlance = AccountBalance & { readonly frozenAt: Date | null; readonly cell: string | null };

/** Reads several accounts by their ids. The map has no entry for an unknown id. */
export async function readGlances(pool: Pool, accountIds: readonly string[]): Promise<Map<string, AccountGlance>> {
  const { rows } = await pool.query<AccountGlance & { id: string }>(GLANCES, [accountIds]);
  return new Map(rows.map((row) => [row.id, row]));
}
