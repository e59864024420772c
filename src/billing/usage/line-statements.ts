// The statements that read an account's ledger in the order of its commits.
//
// Usage records have no index by the time of their settlement, because every settlement would have to write it. They are found by
// their key: a request is settled after it came, and all but few within a minute. So the lines of a page lie among the requests
// of the page's time and of a minute before it. Those that were settled later have a small index of their own. Postings of a
// customer are few beside requests, and are sorted when they are read.

import { usageAtHand } from "../../ledger/archived-usage.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import type { LinePlace } from "./line-place.ts";

/** A statement and its parameters. */
type Statement = { readonly text: string; readonly values: readonly unknown[] };

const SETTLED = "settled_time(request_id, settled_at)";
const IS_LATE = "settled_late(request_id, settled_at)";
const AT = "(timestamptz 'epoch' + $2::bigint * interval '1 microsecond')";
const PLACE = `(${AT}, $3::int, $4::uuid)`;
const WHILE_UNDER_WAY = "interval '60 seconds'";
/** The least id of a request that may have been under way at the place. */
const FIRST_UNDER_WAY = `uuid_floor(greatest(timestamptz 'epoch', ${AT} - ${WHILE_UNDER_WAY}))`;
const FIRST_ID = "'00000000-0000-0000-0000-000000000000'::uuid";
const LAST_ID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid";

const AT_HAND = usageAtHand("account_id, request_id, charge, settled_at");
const usageBy = (time: string): string => `
  SELECT request_id AS id, ${time} AS at, 1 AS is_debit, -charge::numeric AS amount, 'usage' AS reason, request_id, NULL::uuid AS top_up_id
  FROM ${AT_HAND} usage WHERE account_id = $1::uuid AND charge > 0`;
const USAGE_PLACE = `(${SETTLED}, 1, request_id)`;
/** A late record's time is that of its settlement, as its index has it. */
const LATE_PLACE = "(settled_at, 1, request_id)";

/** Whose request or top-up a posting is about. What was collected names the top-up that was owed, by its receivable. */
export const ABOUT = `
  CASE WHEN reason IN ('credit_note', 'late_usage') THEN group_id END AS request_id,
  CASE WHEN reason IN ('top_up', 'top_up_refunded', 'top_up_charged_back') THEN group_id
       WHEN reason = 'receivable_collected' THEN
         (SELECT top_up_id FROM receivable WHERE id = split_part(reference, ':', 2)::uuid) END AS top_up_id`;
const CREDITS = `SELECT id, posted_at AS at, 0 AS is_debit, amount, reason, ${ABOUT} FROM posting
  WHERE account_id = $1::uuid AND credit = $1::uuid`;
const DEBITS = `SELECT id, posted_at AS at, 1 AS is_debit, -amount AS amount, reason, ${ABOUT} FROM posting
  WHERE account_id = $1::uuid AND debit = $1::uuid`;

const lines = (usage: string, beyond: "<" | ">", order: "ASC" | "DESC"): string => {
  const first = `ORDER BY at ${order}, is_debit ${order}, id ${order} LIMIT $5::int`;
  return `
SELECT id, (extract(epoch FROM at) * 1000000)::bigint AS micros, is_debit, amount::text AS amount, reason, request_id, top_up_id FROM (
  (${CREDITS} AND (posted_at, 0, id) ${beyond} ${PLACE} ${first})
  UNION ALL
  (${DEBITS} AND (posted_at, 1, id) ${beyond} ${PLACE} ${first})
  UNION ALL
  (${usageBy(SETTLED)} AND NOT ${IS_LATE} AND ${USAGE_PLACE} ${beyond} ${PLACE} AND ${usage} ${first})
  UNION ALL
  (${usageBy("settled_at")} AND ${IS_LATE} AND settled_at ${beyond}= ${AT} AND ${LATE_PLACE} ${beyond} ${PLACE} ${first})
) line ${first}`;
};

// As many requests as a page has lines, the last that came before the place: what the page has was settled after the first of
// them came.
const NEWEST = lines(
  `request_id < uuid_floor(${AT} + interval '1 millisecond') AND request_id >= coalesce((
    SELECT uuid_floor(request_time(request_id) - ${WHILE_UNDER_WAY}) FROM usage_record
    WHERE account_id = $1::uuid AND charge > 0 AND request_id < uuid_floor(${AT} + interval '1 millisecond')
      AND NOT ${IS_LATE} AND ${USAGE_PLACE} < ${PLACE}
    ORDER BY request_id DESC OFFSET $5::int - 1 LIMIT 1), ${FIRST_ID})`,
  "<",
  "DESC",
);

// The same forwards: what a piece has was settled, and so came, before the last of as many requests was settled.
const OLDEST = lines(
  `request_id >= ${FIRST_UNDER_WAY} AND request_id < coalesce((
    SELECT uuid_floor(max(at) + interval '1 millisecond') FROM (
      SELECT ${SETTLED} AS at FROM usage_record
      WHERE account_id = $1::uuid AND charge > 0 AND request_id >= ${FIRST_UNDER_WAY}
        AND NOT ${IS_LATE} AND ${USAGE_PLACE} > ${PLACE}
      ORDER BY request_id LIMIT $5::int) ahead HAVING count(*) = $5::int), ${LAST_ID})`,
  ">",
  "ASC",
);

/** The place behind the newest line. */
const BEHIND_ALL_MICROS = 9_007_199_254_740_991n;
const valuesOf = (accountId: string, place: LinePlace | null): unknown[] => [
  accountId,
  place?.micros ?? BEHIND_ALL_MICROS,
  place?.isDebit === false ? 0 : 1,
  place?.id ?? systemAccounts.revenue,
];

/** The newest lines before a place; null: the newest of all. */
export const NEWEST_LINES = (accountId: string, place: LinePlace | null, limit: number): Statement => ({
  text: NEWEST,
  values: [...valuesOf(accountId, place), limit],
});
/** The oldest lines behind a place. */
export const OLDEST_LINES = (accountId: string, place: LinePlace, limit: number): Statement => ({
  text: OLDEST,
  values: [...valuesOf(accountId, place), limit],
});

export const POSTED = `SELECT posted FROM account WHERE id = $1::uuid`;

const MOVED = `
SELECT (SELECT coalesce(sum(amount), 0) FROM posting
        WHERE account_id = $1::uuid AND credit = $1::uuid AND (posted_at, 0, id) >= ${PLACE})
     - (SELECT coalesce(sum(amount), 0) FROM posting
        WHERE account_id = $1::uuid AND debit = $1::uuid AND (posted_at, 1, id) >= ${PLACE}) AS moved`;
const UNDER_WAY = `
SELECT -coalesce(sum(charge), 0) AS moved FROM ${AT_HAND} usage
WHERE account_id = $1::uuid AND request_id >= ${FIRST_UNDER_WAY} AND request_id < $5::uuid
  AND NOT ${IS_LATE} AND ${USAGE_PLACE} >= ${PLACE}`;
const LATE = `
SELECT -coalesce(sum(charge), 0) AS moved FROM ${AT_HAND} usage
WHERE account_id = $1::uuid AND request_id < $5::uuid AND ${IS_LATE} AND settled_at >= ${AT} AND ${LATE_PLACE} >= ${PLACE}`;

/** What postings have moved from a place on, the place included. */
export const MOVED_FROM = (accountId: string, place: LinePlace): Statement => ({
  text: MOVED,
  values: valuesOf(accountId, place),
});
/** The same of requests before an id that were under way then. */
export const UNDER_WAY_FROM = (accountId: string, place: LinePlace, fromId: string): Statement => ({
  text: UNDER_WAY,
  values: [...valuesOf(accountId, place), fromId],
});
/** The same of requests before an id that were settled more than a minute after they came. */
export const LATE_FROM = (accountId: string, place: LinePlace, fromId: string): Statement => ({
  text: LATE,
  values: [...valuesOf(accountId, place), fromId],
});

/** The top-ups among these that charged a saved method by themselves. */
export const AUTOMATIC = `SELECT id FROM top_up WHERE id = ANY ($1::uuid[]) AND method_id IS NOT NULL`;
