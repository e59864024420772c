// Customers' ledger accounts: opening one and reading its balance.

import type { Pool, PoolClient } from "pg";
import { NotFound } from "../kernel/errors.ts";

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
const BALANCE_COLUMNS = "posted, held, owed, greatest(0, posted - held - owed) AS available";
const BALANCE = `SELECT ${BALANCE_COLUMNS} FROM account WHERE id = $1::uuid`;
const GLANCES = `
SELECT id, ${BALANCE_COLUMNS}, frozen_at AS "frozenAt" FROM account WHERE id = ANY ($1::uuid[])`;

/** Opens a customer's account without money, inside the caller's transaction. */
export async function openAccount(client: PoolClient, accountId: string): Promise<void> {
  await client.query(OPEN, [accountId]);
}

/** Reads a balance. Errors: NotFound. */
export async function readBalance(pool: Pool, accountId: string): Promise<AccountBalance> {
  const { rows } = await pool.query<AccountBalance>(BALANCE, [accountId]);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  return rows[0];
}

/** The balance of an account, and since when it is frozen. */
export type AccountGlance = AccountBalance & { readonly frozenAt: Date | null };

/** Reads several accounts by their ids. The map has no entry for an unknown id. */
export async function readGlances(pool: Pool, accountIds: readonly string[]): Promise<Map<string, AccountGlance>> {
  const { rows } = await pool.query<AccountGlance & { id: string }>(GLANCES, [accountIds]);
  return new Map(rows.map((row) => [row.id, row]));
}
