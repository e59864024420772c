// Postings outside the request path: credits by operators, top-ups, merchants' funds. A posting is one balanced row; more
// than two legs share a group. Nothing here is ever changed once written.

import type { PoolClient } from "pg";
import { invariant } from "../kernel/invariant.ts";
import type { Asset } from "../kernel/money.ts";

/** One row: `amount` of `asset`, in its smallest unit, moves from `debit` to `credit`. */
export type Posting = {
  /** A UUIDv7. */
  readonly id: string;
  /** Shared by the postings of one event; alone, the posting's own id. */
  readonly groupId: string;
  readonly asset: Asset;
  readonly debit: string;
  readonly credit: string;
  readonly amount: bigint;
  /** Why, in a word such as `operator_credit`. */
  readonly reason: string;
  /** Unique for ever: the same event posted twice is posted once. */
  readonly reference?: string;
  /** A sentence by whoever ordered it. */
  readonly note?: string;
};

const INSERT = `
INSERT INTO posting (id, group_id, asset, debit, credit, amount, reason, reference, note)
SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::numeric[], $7::text[], $8::text[], $9::text[])
ON CONFLICT (reference) DO NOTHING RETURNING id`;

const OF_REFERENCE = `SELECT id, group_id AS "groupId", credit, debit, asset, amount FROM posting WHERE reference = $1::text`;

const IS_POSTED = `SELECT EXISTS (SELECT FROM posting WHERE reference = $1::text AND reason = $2::text) AS is_posted`;

/** Writes postings and gives the ids of those that were new: one whose reference is known already is left out. */
export async function insertPostings(client: PoolClient, postings: readonly Posting[]): Promise<string[]> {
  invariant(postings.length > 0, "a posting group has at least one posting");
  for (const { debit, credit, amount } of postings) {
    invariant(amount > 0n, "a posting moves a positive amount");
    invariant(debit !== credit, "a posting moves value between two accounts");
  }
  const { rows } = await client.query<{ id: string }>(INSERT, [
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

/** The posting that has taken a reference. Call it where writing one has found the reference taken. */
export async function postingOfReference(
  client: PoolClient,
  reference: string,
): Promise<Omit<Posting, "reason" | "reference" | "note">> {
  const { rows } = await client.query<Omit<Posting, "amount"> & { amount: string }>(OF_REFERENCE, [reference]);
  invariant(rows[0] !== undefined, "a reference that is taken is the reference of a posting");
  return { ...rows[0], amount: BigInt(rows[0].amount) };
}

/** Whether something was posted under a reference for a reason. Without a lock that whoever posts it holds too, the answer may be old. */
export async function isPosted(
  client: PoolClient,
  { reference, reason }: Required<Pick<Posting, "reference" | "reason">>,
): Promise<boolean> {
  const { rows } = await client.query<{ is_posted: boolean }>(IS_POSTED, [reference, reason]);
  return rows[0]?.is_posted === true;
}
