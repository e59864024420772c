// Credit notes: an operator gives back the charge of a request, in whole or in part. The usage record does not change; the note
// is a posting `revenue -> customer` in the group of the request.

import type { Pool, PoolClient } from "pg";
import { LimitExceeded, NotFound, ValidationError } from "../kernel/errors.ts";
import { idr } from "../kernel/money.ts";
import { rupiahText } from "../kernel/rupiah-text.ts";
import { lockAccount } from "./account-lock.ts";
import { creditAccount } from "./credits.ts";
import { usageAtHand } from "./archived-usage.ts";
import { systemAccounts } from "./system-accounts.ts";

const USAGE = `
SELECT u.account_id, u.charge + coalesce((
  SELECT l.charge FROM late_usage l WHERE l.account_id = u.account_id AND l.request_id = u.request_id), 0)::bigint AS charge
FROM ${usageAtHand("account_id, request_id, charge")} u WHERE u.request_id = $1::uuid`;
const IS_ARCHIVED = `SELECT FROM usage_archive_mark WHERE $1::uuid < before_id`;
// A statement of its own after the lock: its snapshot contains the notes that the previous owner of the lock committed.
const NOTES = `
SELECT id, amount, reference FROM posting
WHERE account_id = $1::uuid AND credit = $1::uuid AND group_id = ANY ($2::uuid[]) AND reason = 'credit_note'`;
const CREDITED = `
SELECT group_id, sum(amount) AS credited FROM posting
WHERE account_id = $1::uuid AND credit = $1::uuid AND group_id = ANY ($2::uuid[]) AND reason = 'credit_note' GROUP BY group_id`;

/** What a request was charged, in micro-rupiah. Errors: NotFound. */
export async function readChargeOf(pool: Pick<Pool, "query">, requestId: string): Promise<bigint> {
  const { rows } = await pool.query<{ charge: bigint }>(USAGE, [requestId]);
  if (rows[0] === undefined) throw await notFound(pool, requestId);
  return rows[0].charge;
}

async function notFound(client: Pick<Pool, "query">, requestId: string): Promise<NotFound> {
  const isArchived = (await client.query(IS_ARCHIVED, [requestId])).rowCount === 1;
  return new NotFound(
    isArchived
      ? "The month of this request is in the archive. Restore it first: saldo usage restore."
      : "There is no usage record of this request.",
  );
}

export type CreditNote = {
  readonly requestId: string;
  /** Micro-rupiah, greater than zero. Null: the rest of the charge. */
  readonly amount: bigint | null;
  /** The reason, for the ledger. */
  readonly note: string;
  /** Distinguishes several notes of one request; the same name credits once, for ever. Null: the request has one note. */
  readonly name: string | null;
};

/** A credit note, written by this call or before. Money is micro-rupiah. */
export type WrittenNote = {
  readonly postingId: string;
  readonly accountId: string;
  readonly amount: bigint;
  /** The sum of all notes of the request, and the rest of its charge. */
  readonly credited: bigint;
  readonly left: bigint;
  /** Whether this call wrote the note. */
  readonly isNew: boolean;
};

/**
 * Credits a request inside the caller's transaction. The notes of a request never exceed its charge. Errors: NotFound;
 * LimitExceeded when the rest of the charge is smaller; ValidationError when the name was used with another amount, or when its
 * note is repeated for "the rest" and there is a rest.
 */
export async function creditUsage(
  client: PoolClient,
  { requestId, amount, note, name }: CreditNote,
): Promise<WrittenNote> {
  const usage = (await client.query<{ account_id: string; charge: bigint }>(USAGE, [requestId])).rows[0];
  if (usage === undefined) throw await notFound(client, requestId);
  const { account_id: accountId, charge } = usage;
  const reference = `credit-note:${requestId}${name === null ? "" : `:${name}`}`;
  await lockAccount(client, accountId);
  const { rows } = await client.query<{ id: string; amount: string; reference: string }>(NOTES, [
    accountId,
    [requestId],
  ]);
  const credited = rows.reduce((sum, row) => sum + BigInt(row.amount), 0n);

  const written = rows.find((row) => row.reference === reference);
  if (written !== undefined) {
    const first = BigInt(written.amount);
    // "The rest" under a used name credits nothing more; the answer must not look as if it did.
    const isMeant = amount === null ? credited === charge : amount === first;
    if (!isMeant) {
      const message = `was ${rupiahText(idr(first))} when this note was written; a further note needs a name of its own`;
      throw new ValidationError([{ field: "amount", rule: "credit_note.amount", message }]);
    }
    return { postingId: written.id, accountId, amount: first, credited, left: charge - credited, isNew: false };
  }
  const wanted = amount ?? charge - credited;
  if (wanted <= 0n || credited + wanted > charge) {
    throw new LimitExceeded(
      `${rupiahText(idr(charge - credited))} are left to credit of a charge of ${rupiahText(idr(charge))}.`,
    );
  }
  const { postingId } = await creditAccount(client, {
    accountId,
    amount: wanted,
    from: systemAccounts.revenue,
    reason: "credit_note",
    groupId: requestId,
    reference,
    note,
  });
  const left = charge - credited - wanted;
  return { postingId, accountId, amount: wanted, credited: credited + wanted, left, isNew: true };
}

/** The credited part of an account's requests, in micro-rupiah. Requests without a note are absent. */
export async function readCredited(
  pool: Pool,
  { accountId, requestIds }: { accountId: string; requestIds: readonly string[] },
): Promise<Map<string, bigint>> {
  const { rows } = await pool.query<{ group_id: string; credited: string }>(CREDITED, [accountId, requestIds]);
  return new Map(rows.map((row) => [row.group_id, BigInt(row.credited)]));
}
