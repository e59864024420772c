// The lock of a customer's account. Every transaction that moves the account's money, or counts rows that belong to it, takes this
// lock first: accounts before funds, receivables, top-ups, keys and transfers. The request path takes it in its own statements
// (group-commit/), in the same order.

import type { PoolClient } from "pg";
import { waitForLocks } from "../database/transactions.ts";
import { NotFound } from "../kernel/errors.ts";
import { isUuid } from "../kernel/ids.ts";

const LOCK = `SELECT posted, held, owed, open_holds AS "openHolds" FROM account WHERE id = $1::uuid FOR NO KEY UPDATE`;

/** The row of a locked account. Money is micro-rupiah; `openHolds` is how many requests run. */
export type LockedAccount = {
  readonly posted: bigint;
  readonly held: bigint;
  readonly owed: bigint;
  readonly openHolds: number;
};

/** Locks an account until the end of the transaction. Errors: NotFound. */
export async function lockAccount(client: PoolClient, accountId: string): Promise<LockedAccount> {
  await waitForLocks(client);
  const { rows } = await client.query<LockedAccount>(LOCK, [isUuid(accountId) ? accountId : null]);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  return rows[0];
}

/** What can be spent of an account: posted - held - owed, and never below zero. */
export function availableOf({ posted, held, owed }: Pick<LockedAccount, "posted" | "held" | "owed">): bigint {
  const unowed = posted - held - owed;
  return unowed > 0n ? unowed : 0n;
}
