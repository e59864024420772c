// Reads an account's lines in the order of their commits, in slices of time.
//
// The time of a line is when it was settled or posted, or the time of its id where that is later; so each line is in exactly one
// slice. It is found by its id: all but few are committed within a minute of it. The others have small indexes of their own.

import type { Look } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { usageAtHand } from "../../ledger/archived-usage.ts";
import { changedAccounts, type Trace } from "../../ledger/changed-accounts.ts";
import { type HouseRow, houseText, type Line, lineOf, type LineRow } from "./line.ts";

/** Microseconds of Unix time, from the first to before the last. */
export type TimeSpan = { readonly fromMicros: bigint; readonly untilMicros: bigint };

const ACCOUNTS_PER_CHUNK = 200;
const REQUESTS_PER_SLICE = 10_000;
const LEAST_SLICE_MICROS = 1_000n;

const timeOf = (parameter: string): string => `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 microsecond')`;
const FROM = timeOf("$2");
const UNTIL = timeOf("$3");

/** The rows of a table in the span, by the two ways that find them: soon after their id, and late. */
function inSpan(id: string, written: string): { soon: string; late: string } {
  const time = `settled_time(${id}, ${written})`;
  return {
    soon: `${id} >= uuid_floor(greatest(timestamptz 'epoch', ${FROM} - interval '60 seconds')) AND ${id} < uuid_floor(${UNTIL} + interval '1 millisecond')
      AND NOT settled_late(${id}, ${written}) AND ${time} >= ${FROM} AND ${time} < ${UNTIL}`,
    late: `settled_late(${id}, ${written}) AND ${written} >= ${FROM} AND ${written} < ${UNTIL}`,
  };
}
const USAGE = inSpan("request_id", "settled_at");
const POSTING = inSpan("id", "posted_at");

/** A request that was settled in a later month than it came in is a line of that month, also when its own is in the archive. */
const AT_HAND = usageAtHand(
  "account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens, input_price, output_price, cache_hit_price, other_prices, cost, charge, basis, clamped, metering, settled_at",
);
const USAGE_COLUMNS = `
  SELECT 'usage' AS kind, request_id AS id, settled_time(request_id, settled_at) AS t, 1 AS is_debit, key_id, model,
         input_tokens_uncached::text AS input_tokens, input_tokens_cached::text AS cached_tokens, output_tokens::text AS output_tokens,
         other_tokens::text AS other_tokens, input_price::text AS input_price, output_price::text AS output_price,
         cache_hit_price::text AS cache_hit_price, other_prices::text AS other_prices, cost::text AS cost, charge::text AS charge,
         basis, clamped, (metering - 'reported_cost_usd')::text AS metering,
         NULL::uuid AS group_id, NULL AS asset, NULL::uuid AS debit, NULL::uuid AS credit, NULL AS amount, NULL AS reason, NULL AS reference
  FROM ${AT_HAND} usage_record WHERE account_id = $1::uuid`;
const POSTING_COLUMNS = `
  SELECT 'posting' AS kind, id, settled_time(id, posted_at) AS t, CASE WHEN debit = $1::uuid THEN 1 ELSE 0 END AS is_debit,
         NULL::uuid AS key_id, NULL AS model, NULL AS input_tokens, NULL AS cached_tokens, NULL AS output_tokens, NULL AS other_tokens,
         NULL AS input_price, NULL AS output_price, NULL AS cache_hit_price, NULL AS other_prices, NULL AS cost, NULL AS charge,
         NULL AS basis, NULL::boolean AS clamped, NULL AS metering,
         group_id, asset, debit, credit, amount::text AS amount, reason, reference
  FROM posting WHERE account_id = $1::uuid AND $1::uuid IN (debit, credit)`;

const LINES = `
SELECT *, to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at FROM (
  (${USAGE_COLUMNS} AND ${USAGE.soon})
  UNION ALL (${USAGE_COLUMNS} AND ${USAGE.late})
  UNION ALL (${POSTING_COLUMNS} AND ${POSTING.soon})
  UNION ALL (${POSTING_COLUMNS} AND ${POSTING.late})
) line ORDER BY t, is_debit, kind, id`;

// $1 account, $2 a moment: the time of the request that is so many behind it.
const SLICE_END = `
SELECT (extract(epoch FROM uuid_time(request_id)) * 1000000)::bigint AS micros FROM usage_record
WHERE account_id = $1::uuid AND request_id >= uuid_floor(${FROM}) ORDER BY request_id OFFSET ${REQUESTS_PER_SLICE} LIMIT 1`;

// Postings that no account is a side of: $1 is not used.
const OF_HOUSE = `
  SELECT id, account_id, settled_time(id, posted_at) AS t, group_id, asset, debit, credit, amount::text AS amount, reason, reference, note
  FROM posting WHERE $1::uuid IS NULL AND account_id <> debit AND account_id <> credit`;
const HOUSE_LINES = `
SELECT *, to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at
FROM ((${OF_HOUSE} AND ${POSTING.soon}) UNION ALL (${OF_HOUSE} AND ${POSTING.late})) line ORDER BY t, id, account_id`;
const HOUSE_SLICE_END = `
SELECT (extract(epoch FROM uuid_time(id)) * 1000000)::bigint AS micros FROM posting
WHERE $1::uuid IS NULL AND id >= uuid_floor(${FROM}) ORDER BY id OFFSET ${REQUESTS_PER_SLICE} LIMIT 1`;

const ACCOUNTS = `SELECT id FROM account WHERE id > $1::uuid ORDER BY id LIMIT ${ACCOUNTS_PER_CHUNK}`;
const EXISTS = `SELECT FROM account WHERE id = $1::uuid`;
// $1 accounts, so each statement below names its own.
const ACTIVE = `
SELECT a.id FROM unnest($1::uuid[]) AS a(id) WHERE
  EXISTS (SELECT FROM ${AT_HAND} usage_record WHERE account_id = a.id AND ${USAGE.soon})
  OR EXISTS (SELECT FROM ${AT_HAND} usage_record WHERE account_id = a.id AND ${USAGE.late})
  OR EXISTS (SELECT FROM posting WHERE account_id = a.id AND a.id IN (debit, credit) AND ${POSTING.soon.replaceAll(/\bid\b/g, "posting.id")})
  OR EXISTS (SELECT FROM posting WHERE account_id = a.id AND a.id IN (debit, credit) AND ${POSTING.late.replaceAll(/\bid\b/g, "posting.id")})
ORDER BY a.id`;

// The accounts of postings that were written soon after their id, without a look at their rows.
const POSTED = `
SELECT DISTINCT account_id AS id FROM posting WHERE $1::uuid IS NULL AND account_id IN (debit, credit) AND ${POSTING.soon}`;

export async function accountExists(look: Look, accountId: string): Promise<boolean> {
  return (await look(EXISTS, [accountId])).length > 0;
}

/**
 * The accounts that have a line in a span, in the order of their ids. `before`: a moment before any of these lines was written; only what
 * changed since is looked at. Null: every account is.
 */
export async function* activeAccounts(
  look: Look,
  span: TimeSpan,
  before: Trace | null = null,
): AsyncGenerator<string, void> {
  for await (const accounts of candidates(look, span, before))
    for (const { id } of await look<{ id: string }>(ACTIVE, [accounts, span.fromMicros, span.untilMicros])) yield id;
}

async function* candidates(look: Look, span: TimeSpan, before: Trace | null): AsyncGenerator<string[], void> {
  const changed = await changedAccounts(look, before);
  if (changed !== null) {
    const posted = await look<{ id: string }>(POSTED, [null, span.fromMicros, span.untilMicros]);
    const accounts = [...new Set([...changed, ...posted.map(({ id }) => id)])].toSorted();
    for (let at = 0; at < accounts.length; at += ACCOUNTS_PER_CHUNK) yield accounts.slice(at, at + ACCOUNTS_PER_CHUNK);
    return;
  }
  for (let after: string | undefined = BEFORE_ALL_IDS; after !== undefined;) {
    const accounts: { id: string }[] = await look(ACCOUNTS, [after]);
    if (accounts.length > 0) yield accounts.map(({ id }) => id);
    after = accounts.at(-1)?.id;
  }
}

/** The lines of an account in a span, oldest first. */
export async function* readLines(look: Look, accountId: string, span: TimeSpan): AsyncGenerator<Line, void> {
  const endOf = async (from: bigint): Promise<bigint | undefined> =>
    (await look<{ micros: bigint }>(SLICE_END, [accountId, from]))[0]?.micros;
  for await (const { fromMicros, untilMicros } of slices(span, endOf))
    for (const row of await look<LineRow>(LINES, [accountId, fromMicros, untilMicros])) yield lineOf(row, accountId);
}

/** The postings that are in no account's chain, in a span, oldest first. */
export async function* readHouseLines(look: Look, span: TimeSpan): AsyncGenerator<Line, void> {
  const endOf = async (from: bigint): Promise<bigint | undefined> =>
    (await look<{ micros: bigint }>(HOUSE_SLICE_END, [null, from]))[0]?.micros;
  for await (const { fromMicros, untilMicros } of slices(span, endOf))
    for (const row of await look<HouseRow>(HOUSE_LINES, [null, fromMicros, untilMicros]))
      yield { id: row.id, text: houseText(row), effect: 0n };
}

/** Parts of a span. `endOf`: when a part that begins there has enough rows; undefined: there are fewer to the end. */
async function* slices(
  span: TimeSpan,
  endOf: (from: bigint) => Promise<bigint | undefined>,
): AsyncGenerator<TimeSpan, void> {
  for (let from = span.fromMicros; from < span.untilMicros;) {
    const end = await endOf(from);
    const least = from + LEAST_SLICE_MICROS;
    const wanted = end === undefined ? span.untilMicros : end > least ? end : least;
    const until = wanted < span.untilMicros ? wanted : span.untilMicros;
    yield { fromMicros: from, untilMicros: until };
    from = until;
  }
}
