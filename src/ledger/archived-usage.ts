// Usage records of closed months may be files (billing/archive). Their months are always the oldest: a mark is before the first month
// whose records are in the table. Of a month before the mark the database keeps the sums of each account, and copies of the few records
// that postings name or that were settled in another month. What sums records from the first one on adds those sums, and leaves out
// records before the mark; what looks a record up finds those copies. The mark alone decides, in the snapshot of the reader: a month
// before the mark may still be in the table, until no reader goes by the mark that was before.

import type { Look } from "../database/throttled-reader.ts";

/** The first id whose record is read from the table. */
export const FIRST_ID_AT_HAND = "(SELECT before_id FROM usage_archive_mark)";
const FIRST_MONTH_AT_HAND = "(SELECT before_month FROM usage_archive_mark)";

/** The sums of the months that are in the archive, a row for each account and month. */
export const ARCHIVED_SUMS = `(SELECT * FROM usage_archive_account WHERE month < ${FIRST_MONTH_AT_HAND})`;

/** What an account's archived months charge, of those that begin behind an id. Both are expressions. */
export const archivedCharge = (accountId: string, afterId: string): string => `
  (SELECT coalesce(sum(charge), 0) FROM usage_archive_account
   WHERE account_id = ${accountId} AND month < ${FIRST_MONTH_AT_HAND} AND first_id > ${afterId})`;

/** Records that can be looked up: those of the table, and the copies of archived ones. For joins by a key, and not for sums. */
export const usageAtHand = (columns: string): string => `
  (SELECT ${columns} FROM usage_record WHERE request_id >= ${FIRST_ID_AT_HAND}
   UNION ALL SELECT ${columns} FROM usage_kept WHERE request_id < ${FIRST_ID_AT_HAND})`;

/** The archived records of an account. */
export type ArchivedPart = {
  /** The first moment whose records are in the table, in milliseconds of Unix time. */
  readonly beforeMs: number;
  /** The first id whose record is in the table. */
  readonly beforeId: string;
  /** The ids of the account's first and last archived request. */
  readonly firstId: string;
  readonly lastId: string;
};

const ARCHIVED_PART = `
SELECT extract(epoch FROM m.before_month)::float8 * 1000 AS "beforeMs", m.before_id AS "beforeId",
  (SELECT first_id FROM ${ARCHIVED_SUMS} a WHERE account_id = $1::uuid ORDER BY month LIMIT 1) AS "firstId",
  (SELECT last_id FROM ${ARCHIVED_SUMS} a WHERE account_id = $1::uuid ORDER BY month DESC LIMIT 1) AS "lastId"
FROM usage_archive_mark m`;

/** What of an account's records is in the archive. Null: nothing. */
export async function readArchivedPart(look: Look, accountId: string): Promise<ArchivedPart | null> {
  const [row] = await look<Omit<ArchivedPart, "firstId"> & { firstId: string | null }>(ARCHIVED_PART, [accountId]);
  return row?.firstId == null ? null : { ...row, firstId: row.firstId };
}

const MARK = `SELECT to_char(before_month, 'YYYY-MM') AS month, before_id AS id FROM usage_archive_mark`;

/** The first month whose records are in the table, and its first id. */
export async function readArchiveMark(look: Look): Promise<{ month: string; id: string }> {
  const [row] = await look<{ month: string; id: string }>(MARK);
  if (row === undefined) throw new Error("The archive of usage has no mark.");
  return row;
}

// $1 the account, $2 the mark's moment in microseconds. Archived requests were settled before it, but some of those that are kept.
const BALANCE_AT_MARK = `
SELECT (
  (SELECT coalesce(sum(CASE $1::uuid WHEN credit THEN amount ELSE -amount END), 0) FROM posting
   WHERE account_id = $1::uuid AND $1::uuid IN (debit, credit) AND settled_time(id, posted_at) < at)
  - (SELECT coalesce(sum(charge), 0) FROM ${ARCHIVED_SUMS} archived WHERE account_id = $1::uuid)
  + (SELECT coalesce(sum(charge), 0) FROM usage_kept
     WHERE account_id = $1::uuid AND request_id < ${FIRST_ID_AT_HAND} AND settled_time(request_id, settled_at) >= at)
)::text AS balance FROM (SELECT timestamptz 'epoch' + $2::bigint * interval '1 microsecond' AS at) moment`;

/** What an account's balance was at the first moment whose records are in the table, given in microseconds of Unix time. */
export async function readBalanceAtMark(look: Look, accountId: string, micros: bigint): Promise<bigint> {
  const [row] = await look<{ balance: string }>(BALANCE_AT_MARK, [accountId, micros]);
  return BigInt(row?.balance ?? 0);
}
