// Customers' ledger accounts: opening one, putting money on it, reading it. Balances change in single statements that
// write posted and held absolutely from the locked row.

import type { Pool, PoolClient } from "pg";
import { waitForLocks } from "../database/transactions.ts";
import { InsufficientBalance, LimitExceeded, NotFound, ValidationError } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { invariant } from "../kernel/invariant.ts";
import { idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { claimReference, type TakenReference } from "./postings.ts";

/**
 * Micro-rupiah. `posted` is all that came in and went out, `held` what is set aside for running requests, `owed` what a
 * provider gave back and the account had used. `available` is what can be spent: posted - held - owed, and never below zero.
 */
export type AccountBalance = {
  readonly posted: bigint;
  readonly held: bigint;
  readonly owed: bigint;
  readonly available: bigint;
};

const OPEN = `INSERT INTO account (id) VALUES ($1::uuid)`;
const LOCK = `SELECT posted, posted - held - owed AS unowed FROM account WHERE id = $1::uuid FOR NO KEY UPDATE`;
const COLLECT = `SELECT collect_owed($1::uuid, $2::uuid)`;
const BALANCE_COLUMNS = "posted, held, owed, greatest(0, posted - held - owed) AS available";
const BALANCE = `SELECT ${BALANCE_COLUMNS} FROM account WHERE id = $1::uuid`;

const CREDIT = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held, a.owed FROM account a WHERE a.id = $1::uuid FOR NO KEY UPDATE
), ins AS (
  INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference, note, posted_at)
  SELECT a.id, $2::uuid, $8::uuid, 'IDR/6', $3::uuid, a.id, $4::bigint, $5::text, $6::text, $7::text,
         coalesce($9::timestamptz, clock_timestamp()) FROM acc a
  ON CONFLICT (account_id, reference) WHERE reference IS NOT NULL DO NOTHING RETURNING id
), upd AS (
  UPDATE account a SET posted = l.posted + $4::bigint, held = l.held FROM acc l, ins WHERE a.id = l.id AND a.id = $1::uuid
)
SELECT EXISTS (SELECT FROM ins) AS posted_now, a.posted - a.held - a.owed AS unowed, a.owed FROM acc a`;
// In the same way the other way round, when the locked row covers it.
const DEBIT = `
WITH acc AS MATERIALIZED (
  SELECT a.id, a.posted, a.held, a.owed FROM account a WHERE a.id = $1::uuid FOR NO KEY UPDATE
), ins AS (
  INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference, note)
  SELECT a.id, $2::uuid, $2::uuid, 'IDR/6', a.id, $3::uuid, $4::bigint, $5::text, $6::text, $7::text FROM acc a
  WHERE a.posted - a.held - a.owed >= $4::bigint
  ON CONFLICT (account_id, reference) WHERE reference IS NOT NULL DO NOTHING RETURNING id
), upd AS (
  UPDATE account a SET posted = l.posted - $4::bigint, held = l.held FROM acc l, ins WHERE a.id = l.id AND a.id = $1::uuid
)
SELECT EXISTS (SELECT FROM ins) AS posted_now, a.posted - a.held - a.owed AS unowed, a.owed FROM acc a`;
const REFERENCED = `SELECT id, amount FROM posting WHERE account_id = $1::uuid AND reference = $2::text`;
/** The most an account may come to, nine thousand billion rupiah: a little less than its columns hold. */
const MAX_POSTED = 9_000_000_000_000_000_000n;

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

/** What is known of an account at a glance. */
export type AccountGlance = AccountBalance & { readonly frozenAt: Date | null };

const GLANCES = `
SELECT id, ${BALANCE_COLUMNS}, frozen_at AS "frozenAt" FROM account WHERE id = ANY ($1::uuid[])`;

/** Reads several accounts by their ids. One that is not there is not in it. */
export async function readGlances(pool: Pool, accountIds: readonly string[]): Promise<Map<string, AccountGlance>> {
  const { rows } = await pool.query<AccountGlance & { id: string }>(GLANCES, [accountIds]);
  return new Map(rows.map((row) => [row.id, row]));
}

export type Credit = {
  readonly accountId: string;
  /** Micro-rupiah, greater than zero. */
  readonly amount: bigint;
  /** The ledger account the money comes from. */
  readonly from: string;
  /** Why, in a word such as `operator_credit`. */
  readonly reason: string;
  /** The event's own name: the same reference credits an account once, for ever. */
  readonly reference?: string;
  readonly note?: string;
  /** The event it belongs to; left out, it is one by itself. */
  readonly groupId?: string;
  /** When it happened, for the made-up history of a demo. Left out or null, as everywhere else: now. */
  readonly at?: Date | null;
};

/** A credit as it was posted, now or before under the same reference. Money is micro-rupiah. */
export type PostedCredit = {
  readonly postingId: string;
  readonly accountId: string;
  readonly amount: bigint;
  /** On the account that was named now. */
  readonly available: bigint;
  /** Whether this call posted it. */
  readonly isNew: boolean;
};

/** An account's row as it was before a credit or a debit. `unowed` is posted - held - owed, below zero where more is owed. */
type MovedRow = { posted_now: boolean; unowed: bigint; owed: bigint };

/**
 * Puts money on an account and collects what it owes from that. Gives the first posting if the reference was used before.
 * Errors: NotFound.
 */
export async function creditAccount(client: PoolClient, credit: Credit): Promise<PostedCredit> {
  const { accountId, amount } = credit;
  invariant(amount > 0n, "a credit is greater than zero");
  const at = credit.at ?? null;
  const postingId = uuidv7(at?.getTime());
  await waitForLocks(client);
  const groupId = credit.groupId ?? postingId;
  const { rows } = await client.query<MovedRow>(CREDIT, [
    accountId,
    postingId,
    credit.from,
    amount,
    credit.reason,
    credit.reference ?? null,
    credit.note ?? null,
    groupId,
    at,
  ]);
  const row = rows[0];
  if (row === undefined) throw new NotFound("There is no such account.");
  if (row.posted_now) {
    if (row.owed > 0n) await client.query(COLLECT, [accountId, groupId]);
    return { postingId, accountId, amount, available: availableOf(row.unowed + amount), isNew: true };
  }
  const available = availableOf(row.unowed);
  const earlier = await client.query<{ id: string; amount: string }>(REFERENCED, [accountId, credit.reference]);
  const [first] = earlier.rows;
  invariant(first !== undefined, "a credit that was not posted has been posted before");
  return { postingId: first.id, accountId, amount: BigInt(first.amount), available, isNew: false };
}

/**
 * The same for an order: a repeated one is done already; another one under its reference, on whatever account, is a slip, which is
 * refused. Errors: NotFound; LimitExceeded; ValidationError when the reference was used for something else.
 */
export async function creditAsOrdered(
  client: PoolClient,
  credit: Credit & { readonly reference: string },
): Promise<PostedCredit> {
  const { posted, done } = await lockForOrder(client, { ...credit, side: "credit" });
  if (done !== undefined) return done;
  if (posted + credit.amount > MAX_POSTED) {
    throw new LimitExceeded(`A balance is at most ${rupiahText(idr(MAX_POSTED))}.`);
  }
  return creditAccount(client, credit);
}

type Order = {
  readonly accountId: string;
  readonly amount: bigint;
  readonly reference: string;
  /** The side of the account in the order's posting. */
  readonly side: "debit" | "credit";
};

/** Locks the account and then the reference. `done`: this order was carried out before. Errors: NotFound; ValidationError. */
async function lockForOrder(
  client: PoolClient,
  { accountId, amount, reference, side }: Order,
): Promise<{ posted: bigint; done: PostedCredit | undefined }> {
  await waitForLocks(client);
  const { rows } = await client.query<{ posted: bigint; unowed: bigint }>(LOCK, [accountId]);
  const [row] = rows;
  if (row === undefined) throw new NotFound("There is no such account.");
  const first = await claimReference(client, reference);
  if (first === undefined) return { posted: row.posted, done: undefined };
  if (first[side] !== accountId || first.amount !== amount) throw otherOrder(first);
  const done = { postingId: first.id, accountId, amount, available: availableOf(row.unowed), isNew: false };
  return { posted: row.posted, done };
}

/** An order to take money off an account. */
export type Debit = {
  readonly accountId: string;
  /** Micro-rupiah, greater than zero. */
  readonly amount: bigint;
  /** The ledger account the money goes to. */
  readonly to: string;
  /** Why, in a word such as `operator_adjustment`. */
  readonly reason: string;
  /** The order's own name: the same reference debits once, for ever. */
  readonly reference: string;
  readonly note: string;
};

/**
 * Takes money off an account, all of it or nothing, and never what is held or owed. A repeated order is done already. Errors: NotFound;
 * InsufficientBalance; ValidationError when the reference was used for something else.
 */
export async function debitAsOrdered(client: PoolClient, debit: Debit): Promise<PostedCredit> {
  const { accountId, amount, reference } = debit;
  invariant(amount > 0n, "a debit is greater than zero");
  const { done } = await lockForOrder(client, { ...debit, side: "debit" });
  if (done !== undefined) return done;
  const postingId = uuidv7();
  const values = [accountId, postingId, debit.to, amount, debit.reason, reference, debit.note];
  const { rows } = await client.query<MovedRow>(DEBIT, values);
  const [row] = rows;
  invariant(row !== undefined, "an account that is locked is there");
  const available = availableOf(row.unowed);
  if (!row.posted_now) throw new InsufficientBalance({ available: idr(available), needed: idr(amount) });
  return { postingId, accountId, amount, available: availableOf(row.unowed - amount), isNew: true };
}

function availableOf(unowed: bigint): bigint {
  return unowed > 0n ? unowed : 0n;
}

function otherOrder({ amount, accountId }: TakenReference): ValidationError {
  const message = `was used for ${rupiahText(idr(amount))} on account ${accountId}; a further order needs one of its own`;
  return new ValidationError([{ field: "reference", rule: "credit.reference", message }]);
}
