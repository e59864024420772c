// Postings outside the request path: credits by operators, top-ups, merchants' funds. A posting is one balanced row; several rows
// of one event have one group. A posting is never changed.

import type { Pool, PoolClient } from "pg";
import { invariant } from "../kernel/invariant.ts";
import type { Asset } from "../kernel/money.ts";

/** One row: `amount` of `asset`, in its smallest unit, moves from `debit` to `credit`. */
export type Posting = {
  /** A UUIDv7. */
  readonly id: string;
  /** The customer's account of the posting, also where both sides are our own accounts. */
  readonly accountId: string;
  /** The same for all postings of one event; for a single posting its own id. */
  readonly groupId: string;
  readonly asset: Asset;
  readonly debit: string;
  readonly credit: string;
  readonly amount: bigint;
  /** The reason, as a word such as `operator_credit`. */
  readonly reason: string;
  /** Unique for the account, for ever: an event that is posted twice is written once. */
  readonly reference?: string;
  /** A sentence by the operator who gave the command. */
  readonly note?: string;
};

const INSERT = `
INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference, note)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::uuid[], $7::numeric[], $8::text[], $9::text[], $10::text[])
ON CONFLICT (account_id, reference) WHERE reference IS NOT NULL DO NOTHING RETURNING id`;

const CLAIM = `SELECT pg_advisory_xact_lock(hashtextextended('posting of ' || $1::text, 0))`;
// No ORDER BY: with one, PostgreSQL reads all ids while the table is not analyzed.
const OF_REFERENCE = `
SELECT id, account_id AS "accountId", group_id AS "groupId", credit, debit, asset, amount FROM posting WHERE reference = $1::text`;

const IS_POSTED = `SELECT EXISTS (SELECT FROM posting WHERE reference = $1::text AND reason = $2::text) AS is_posted`;
const IS_POSTED_IN_GROUP = `SELECT EXISTS (SELECT FROM posting WHERE group_id = $1::uuid AND reason = $2::text) AS is_posted`;
const OF_REFERENCES = `
SELECT id, group_id AS "groupId", debit, credit, amount, reason, posted_at AS "postedAt" FROM posting
WHERE account_id = $1::uuid AND reference = ANY ($2::text[]) ORDER BY id`;

/** Writes postings and returns the ids of the new ones: a posting with a known reference is left out. */
export async function insertPostings(client: PoolClient, postings: readonly Posting[]): Promise<string[]> {
  invariant(postings.length > 0, "a posting group has at least one posting");
  for (const { debit, credit, amount } of postings) {
    invariant(amount > 0n, "a posting moves a positive amount");
    invariant(debit !== credit, "a posting moves value between two accounts");
  }
  const { rows } = await client.query<{ id: string }>(INSERT, [
    postings.map((posting) => posting.accountId),
    postings.map((posting) => posting.id),
    postings.map((posting) => posting.groupId),
    postings.map((posting) => posting.asset),
    postings.map((posting) => posting.debit),
    postings.map((posting) => posting.credit),
    postings.map((posting) => posting.amount),
    postings.map((posting) => posting.reason),
    postings.map((posting) => posting.reference ?? null),
    postings.map((posting) => posting.note ?? null),
  ]);
  return rows.map((row) => row.id);
}

/** The posting that has a reference. */
export type TakenReference = Omit<Posting, "reason" | "reference" | "note">;

/**
 * Claims the reference of an operator's command for this transaction, and returns the posting that has it, on any account. The
 * table keeps references unique for an account only; an operator's reference is unique over all accounts.
 */
export async function claimReference(client: PoolClient, reference: string): Promise<TakenReference | undefined> {
  await client.query(CLAIM, [reference]);
  // A statement of its own: its snapshot contains what the previous owner of the lock committed.
  const { rows } = await client.query<Omit<TakenReference, "amount"> & { amount: string }>(OF_REFERENCE, [reference]);
  return rows[0] && { ...rows[0], amount: BigInt(rows[0].amount) };
}

/** Whether a reference has a posting for a reason. The answer remains true only under a lock that its posting takes too. */
export async function isPosted(
  client: PoolClient,
  { reference, reason }: Required<Pick<Posting, "reference" | "reason">>,
): Promise<boolean> {
  const { rows } = await client.query<{ is_posted: boolean }>(IS_POSTED, [reference, reason]);
  return rows[0]?.is_posted === true;
}

/** Whether a posting of a group has a reason. The answer remains true only under a lock that its posting takes too. */
export async function isPostedInGroup(
  client: PoolClient,
  { groupId, reason }: Pick<Posting, "groupId" | "reason">,
): Promise<boolean> {
  const { rows } = await client.query<{ is_posted: boolean }>(IS_POSTED_IN_GROUP, [groupId, reason]);
  return rows[0]?.is_posted === true;
}

/** A written posting, and its time. */
export type WrittenPosting = Pick<Posting, "id" | "groupId" | "debit" | "credit" | "amount" | "reason"> & {
  readonly postedAt: Date;
};

/** The postings of an account with the given references, oldest first. */
export async function readPostings(
  reader: Pick<Pool | PoolClient, "query">,
  { accountId, references }: { accountId: string; references: readonly string[] },
): Promise<WrittenPosting[]> {
  const values = [accountId, references];
  const { rows } = await reader.query<Omit<WrittenPosting, "amount"> & { amount: string }>(OF_REFERENCES, values);
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}
