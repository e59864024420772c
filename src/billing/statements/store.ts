// The SQL of monthly statements. A change belongs to the month of its line in the ledger: a posting to the time at which it was posted, and
// a request to the time at which it was settled. Requests are summed from roll-ups, which go by the time of a request, and those few are
// put right that were settled in another month.

import type { Look } from "../../database/throttled-reader.ts";
import { uuidv7Floor } from "../../kernel/ids.ts";
import { ARCHIVED_SUMS, usageAtHand } from "../../ledger/archived-usage.ts";
import { OTHER_KINDS } from "../../ledger/group-commit/token-columns.ts";
import { ABOUT } from "../usage/line-statements.ts";
import { tokensOfKind } from "../usage/store.ts";
import { rolledUpBefore } from "../usage/summary.ts";
import { QUARTER_MS } from "../usage/usage-filter.ts";

/** A month's first moment, and the first one behind it, in milliseconds of Unix time. Both are at a whole quarter of an hour. */
export type Span = { readonly fromMs: number; readonly untilMs: number };

/** What one reason changed. Money is micro-rupiah. */
export type ReasonSum = { readonly reason: string; readonly count: bigint; readonly amount: bigint };

/** The usage of one model. */
export type ModelUsage = {
  readonly model: string;
  readonly requests: bigint;
  readonly inputTokens: bigint;
  readonly outputTokens: bigint;
  readonly charge: bigint;
};

/** A change of the balance that is no usage. */
export type Change = {
  readonly postedAt: Date;
  readonly reason: string;
  readonly amount: bigint;
  readonly topUpId: string | null;
  /** What the top-up had given back with this refund, tax included. Null: it is no refund. */
  readonly givenBack: bigint | null;
};

const time = (parameter: string): string => `(timestamptz 'epoch' + ${parameter}::bigint * interval '1 millisecond')`;

const FIRST = `
SELECT clock_timestamp() AS now, least(
  (SELECT min(posted_at) FROM posting WHERE account_id = $1::uuid AND $1::uuid IN (debit, credit)),
  (SELECT request_time(request_id) FROM usage_record WHERE account_id = $1::uuid ORDER BY request_id LIMIT 1),
  (SELECT request_time(first_id) FROM ${ARCHIVED_SUMS} archived WHERE account_id = $1::uuid ORDER BY month LIMIT 1)) AS first`;

const IN_SPAN = `account_id = $1::uuid AND $1::uuid IN (debit, credit) AND posted_at >= ${time("$2")} AND posted_at < ${time("$3")}`;
const AMOUNT = "CASE WHEN credit = $1::uuid THEN amount ELSE -amount END";
const SUMS = `
SELECT reason, count(*)::bigint AS count, sum(${AMOUNT})::text AS amount FROM posting WHERE ${IN_SPAN} GROUP BY reason`;
/** A refund names in its reference what its top-up had given back with it. */
const GIVEN_BACK = `CASE WHEN reason IN ('top_up_refunded', 'top_up_charged_back')
  THEN substring(reference FROM ':given-back:([0-9]{1,18})$')::bigint END AS given_back`;
/** What requests are charged or given back later is shown as a sum alone: there may be as many as requests. */
const OF_REQUESTS = "('late_usage', 'credit_note')";
const CHANGES = `
SELECT posted_at AS "postedAt", reason, (${AMOUNT})::text AS amount, ${ABOUT}, ${GIVEN_BACK} FROM posting
WHERE ${IN_SPAN} AND reason NOT IN ${OF_REQUESTS}
ORDER BY posted_at, debit = $1::uuid, id LIMIT $4::int`;

const SETTLED = "settled_time(request_id, settled_at)";
const IS_LATE = "settled_late(request_id, settled_at)";
const FROM = time("$2");
const UNTIL = time("$3");
const underWayAt = (moment: string): string => `uuid_floor(${moment} - interval '60 seconds')`;
const KINDS = Object.values(OTHER_KINDS);
const OUTPUT_KINDS: readonly string[] = [OTHER_KINDS.imageOutput];
const tokens = (columnOf: (kind: string) => string): string => {
  const inputs = KINDS.filter((kind) => !OUTPUT_KINDS.includes(kind)).map(columnOf);
  return `(input_tokens_uncached + input_tokens_cached + ${inputs.join(" + ")})::bigint AS input_tokens,
    (output_tokens + ${OUTPUT_KINDS.map(columnOf).join(" + ")})::bigint AS output_tokens`;
};
const AT_HAND = usageAtHand(
  "account_id, request_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens, charge, settled_at",
);
const records = (sign: 1 | -1): string => `
  SELECT model, ${sign} AS sign, 1::bigint AS requests, ${tokens((kind) => tokensOfKind(kind))}, charge::bigint AS charge
  FROM ${AT_HAND} usage_record WHERE account_id = $1::uuid`;
// $4 and $5: the first id of the month, and the first behind it. $6 and $7: the quarters that are read from roll-ups.
const USAGE = `
SELECT model, sum(sign * requests)::text AS requests, sum(sign * input_tokens)::text AS "inputTokens",
  sum(sign * output_tokens)::text AS "outputTokens", sum(sign * charge)::text AS charge
FROM (
  SELECT model, 1 AS sign, requests::bigint AS requests, ${tokens((kind) => kind)}, charge
  FROM usage_roll_up WHERE account_id = $1::uuid AND quarter >= $6::int AND quarter < $7::int
  UNION ALL ${records(1)} AND request_id >= CASE WHEN $7::int > $6::int THEN quarter_floor($7::int) ELSE $4::uuid END
    AND request_id < $5::uuid
  UNION ALL ${records(-1)} AND request_id >= greatest($4::uuid, ${underWayAt(UNTIL)}) AND request_id < $5::uuid
    AND NOT ${IS_LATE} AND ${SETTLED} >= ${UNTIL}
  UNION ALL ${records(-1)} AND request_id >= $4::uuid AND request_id < $5::uuid AND ${IS_LATE} AND settled_at >= ${UNTIL}
  UNION ALL ${records(1)} AND request_id >= ${underWayAt(FROM)} AND request_id < $4::uuid
    AND NOT ${IS_LATE} AND ${SETTLED} >= ${FROM} AND ${SETTLED} < ${UNTIL}
  UNION ALL ${records(1)} AND request_id < $4::uuid AND ${IS_LATE} AND settled_at >= ${FROM} AND settled_at < ${UNTIL}
) usage GROUP BY model HAVING sum(sign * requests) <> 0 ORDER BY sum(sign * charge) DESC, model`;

/** The time of an account's first change, null where there is none, and the database's time. */
export async function readFirstChange(look: Look, accountId: string): Promise<{ first: Date | null; now: Date }> {
  const [row] = await look<{ first: Date | null; now: Date }>(FIRST, [accountId]);
  return row ?? { first: null, now: new Date(Number.NaN) };
}

/** What postings changed in a month, by reason. */
export async function sumPostings(look: Look, accountId: string, { fromMs, untilMs }: Span): Promise<ReasonSum[]> {
  const rows = await look<{ reason: string; count: bigint; amount: string }>(SUMS, [accountId, fromMs, untilMs]);
  return rows.map(({ reason, count, amount }) => ({ reason, count, amount: BigInt(amount) }));
}

/** The single changes of a month, oldest first. */
export async function selectChanges(
  look: Look,
  accountId: string,
  { fromMs, untilMs, limit }: Span & { readonly limit: number },
): Promise<Change[]> {
  type Row = { postedAt: Date; reason: string; amount: string; top_up_id: string | null; given_back: bigint | null };
  const rows = await look<Row>(CHANGES, [accountId, fromMs, untilMs, limit]);
  return rows.map(({ postedAt, reason, amount, top_up_id: topUpId, given_back: givenBack }) => ({
    postedAt,
    reason,
    amount: BigInt(amount),
    topUpId,
    givenBack,
  }));
}

/** The usage that was settled in a month, by model, the highest charge first. */
export async function sumUsageByModel(look: Look, accountId: string, { fromMs, untilMs }: Span): Promise<ModelUsage[]> {
  const [fromQuarter, untilQuarter] = [fromMs / QUARTER_MS, untilMs / QUARTER_MS];
  const before = Math.min(untilQuarter, await rolledUpBefore(look, accountId));
  const ids = [uuidv7Floor(fromMs), uuidv7Floor(untilMs)];
  type Row = Readonly<Record<keyof ModelUsage, string>>;
  const rows = await look<Row>(USAGE, [accountId, fromMs, untilMs, ...ids, fromQuarter, before]);
  return rows.map(({ model, requests, inputTokens, outputTokens, charge }) => ({
    model,
    requests: BigInt(requests),
    inputTokens: BigInt(inputTokens),
    outputTokens: BigInt(outputTokens),
    charge: BigInt(charge),
  }));
}
