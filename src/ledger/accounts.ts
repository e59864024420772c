// Customers' ledger accounts: opening one, putting money on it, reading it. Balances change in single statements that
// write posted and held absolutely from the locked row.

import type { Pool, PoolClient } from "pg";
import { NotFound } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";

/** Micro-rupiah. `posted` is all that came in and went out, `held` what is set aside for running requests. */
export type AccountBalance = { readonly posted: bigint; readonly held: bigint; readonly available: bigint };

const OPEN = `INSERT INTO account (id) VALUES ($1::uuid)`;
const BALANCE = `SELECT posted, held, posted - held AS available FROM account WHERE id = $1::uuid`;

// Waiting for the account behind running requests is fine here, so the lock time-out of the request path does not apply.
const CREDIT = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held FROM account a WHERE a.id = $1::uuid FOR NO KEY UPDATE
), ins AS (
  INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason, reference, note)
  SELECT $2::uuid, $8::uuid, 'IDR/6', $3::uuid, a.id, $4::bigint, $5::text, $6::text, $7::text FROM acc a
  ON CONFLICT (reference) DO NOTHING RETURNING id
), upd AS (
  UPDATE account a SET posted = l.posted + $4::bigint, held = l.held FROM acc l, ins WHERE a.id = l.id AND a.id = $1::uuid
)
SELECT EXISTS (SELECT FROM ins) AS posted_now, a.posted - a.held AS available FROM acc a`;
const REFERENCED = `SELECT id FROM posting WHERE reference = $1::text`;

/** Opens a customer's account with nothing on it, inside the caller's transaction. */
export async function openAccount(client: PoolClient, accountId: string): Promise<void> {
  await client.query(OPEN, [accountId]);
}

/** Reads a balance. Errors: NotFound. */
export async function readBalance(pool: Pool, accountId: string): Promise<AccountBalance> {
  const { rows } = await pool.query<AccountBalance>(BALANCE, [accountId]);
  if (rows[0] === undefined) throw new NotFound("There is no such account.");
  return rows[0];
}

export type Credit = {
  readonly accountId: string;
  /** Micro-rupiah, greater than zero. */
  readonly amount: bigint;
  /** The ledger account the money comes from. */
  readonly from: string;
  /** Why, in a word such as `operator_credit`. */
  readonly reason: string;
  /** The event's own name: the same reference credits once, for ever. */
  readonly reference?: string;
  readonly note?: string;
  /** The event it belongs to; left out, it is one by itself. */
  readonly groupId?: string;
};

/** Puts money on an account. Gives the posting's id, the first one's if the reference was used before. Errors: NotFound. */
export async function creditAccount(
  client: PoolClient,
  credit: Credit,
): Promise<{ postingId: string; available: bigint }> {
  invariant(credit.amount > 0n, "a credit is greater than zero");
  const postingId = uuidv7();
  await client.query("SET LOCAL lock_timeout = '5s'");
  const { rows } = await client.query<{ posted_now: boolean; available: bigint }>(CREDIT, [
    credit.accountId,
    postingId,
    credit.from,
    credit.amount,
    credit.reason,
    credit.reference ?? null,
    credit.note ?? null,
    credit.groupId ?? postingId,
  ]);
  const row = rows[0];
  if (row === undefined) throw new NotFound("There is no such account.");
  if (row.posted_now) return { postingId, available: row.available + credit.amount };
  const earlier = await client.query<{ id: string }>(REFERENCED, [credit.reference]);
  invariant(earlier.rows[0] !== undefined, "a credit that was not posted has been posted before");
  return { postingId: earlier.rows[0].id, available: row.available };
}
