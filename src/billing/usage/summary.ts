// Sums of usage. Whole quarters of an hour that a worker has rolled up are read from the roll-ups, the rest from the records,
// in one snapshot. So a sum is always that of the records a list would show at that moment.
//
// Why a roll-up may be trusted: the account's balance shows what its records charge in all. Where roll-ups and the records
// behind them do not come to that, a record came behind the roll-up's back, and the records are summed instead.

import type { ReadSource } from "../../database/lagging-reads.ts";
import { sqlState, sqlStates } from "../../database/transactions.ts";
import { type Look, readOneSnapshot } from "../../database/throttled-reader.ts";
import { OTHER_KINDS } from "../../ledger/group-commit/token-columns.ts";
import { FIRST_ID_AT_HAND, usageAtHand } from "../../ledger/archived-usage.ts";
import { requireWholeQuarters } from "./archived-records.ts";
import { FITS, fitsRecord, OTHER_TOKENS_OF_RECORD, SAVED_OF_RECORD, tokensOfKind, valuesOf } from "./store.ts";
import { DEFAULT_TIME_ZONE, unknownTimeZone, requireTimeZone } from "./time-zone.ts";
import { selectionOf, type UsageFilter, type UsageSelection } from "./usage-filter.ts";

/** Money is micro-rupiah. */
export type UsageSum = {
  readonly requests: bigint;
  readonly inputTokensUncached: bigint;
  readonly inputTokensCached: bigint;
  readonly outputTokens: bigint;
  readonly cacheWrite: bigint;
  readonly cacheWrite1h: bigint;
  readonly audioInput: bigint;
  readonly imageInput: bigint;
  readonly imageOutput: bigint;
  readonly cost: bigint;
  readonly charge: bigint;
  readonly savedByCache: bigint;
};

/** What the rows of a summary are grouped by. */
export type UsageGrouping = "model_and_day" | "key" | "key_and_day";
/** A row; what it is not grouped by is empty. */
export type UsageSummaryRow = UsageSum & {
  readonly day: string;
  readonly model: string;
  readonly keyId: string;
  readonly personId?: string;
};
export type UsageSummary = {
  readonly rows: readonly UsageSummaryRow[];
  readonly totals: UsageSum;
  readonly timeZone: string;
};

/** The numbers of a sum, and their columns. */
const NUMBERS = {
  requests: "requests",
  inputTokensUncached: "input_tokens_uncached",
  inputTokensCached: "input_tokens_cached",
  outputTokens: "output_tokens",
  ...OTHER_KINDS,
  cost: "cost",
  charge: "charge",
  savedByCache: "saved_by_cache",
} as const satisfies Record<keyof UsageSum, string>;
type NumberColumn = (typeof NUMBERS)[keyof UsageSum];
const NAMES = Object.keys(NUMBERS) as (keyof UsageSum)[];
const COLUMNS: readonly NumberColumn[] = Object.values(NUMBERS);
const SUMS = COLUMNS.map((column) => `sum(${column}) AS ${column}`).join(", ");

// $7 and $8: the quarters that are read from the roll-ups; where there are none, $8 is not above $7 and everything is read
// from the records before $3. Roll-ups are first added up along their key, in its order, which needs no sorting.
const usageBy = (columns: string, fits: string): string => {
  const records = (from: string, until: string): string => `
    SELECT ${columns}, ${SUMS} FROM (
      SELECT quarter_of(request_id) AS quarter, model, key_id, 1 AS requests, input_tokens_uncached, input_tokens_cached, output_tokens,
             ${OTHER_TOKENS_OF_RECORD}, cost, charge, ${SAVED_OF_RECORD} AS saved_by_cache
      FROM usage_record WHERE account_id = $1::uuid AND request_id >= ${from} AND request_id < ${until} AND ${fits}
    ) records GROUP BY ${columns}`;
  return `
    SELECT ${columns}, ${SUMS} FROM usage_roll_up
    WHERE account_id = $1::uuid AND quarter >= $7::int AND quarter < $8::int AND ${FITS} GROUP BY ${columns}
    UNION ALL ${records("$2::uuid", "CASE WHEN $8::int > $7::int THEN quarter_floor($7::int) ELSE $3::uuid END")}
    UNION ALL ${records("CASE WHEN $8::int > $7::int THEN quarter_floor($8::int) ELSE $3::uuid END", "$3::uuid")}
    UNION ALL ${lateCharges(columns, fits)}`;
};

// What was charged for a request after its record was written, and the tokens that this was for. There are hardly any, so they
// are in no roll-up.
const AT_HAND = usageAtHand(
  "account_id, request_id, model, key_id, basis, metering, input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens, input_price, output_price, cache_hit_price, other_prices, cost",
);
const lateCharges = (columns: string, fits: string): string => `
    SELECT ${columns}, ${SUMS} FROM (
      SELECT quarter_of(u.request_id) AS quarter, u.model, u.key_id, 0 AS requests, ${LATE_TOKENS},
             l.charge AS cost, l.charge, ${savedBy("l")} - ${savedBy("u")} AS saved_by_cache
      FROM (SELECT * FROM ${AT_HAND} at_hand WHERE account_id = $1::uuid AND request_id >= $2::uuid AND request_id < $3::uuid AND ${fits}) u
      JOIN late_usage l ON l.account_id = u.account_id AND l.request_id = u.request_id AND l.charge > 0
    ) charged_late GROUP BY ${columns}`;
/** What the counts of late usage, which are of the whole request, have more than those of its record. */
const LATE_TOKENS = [
  ...["input_tokens_uncached", "input_tokens_cached", "output_tokens"].map(
    (column) => `l.${column} - u.${column} AS ${column}`,
  ),
  ...Object.values(OTHER_KINDS).map((kind) => `${tokensOfKind(kind, "l.")} - ${tokensOfKind(kind, "u.")} AS ${kind}`),
].join(", ");
const savedBy = (row: "l" | "u"): string =>
  `saved_by_cache(${["input_tokens_uncached", "input_tokens_cached", "output_tokens", "other_tokens"]
    .map((column) => `${row}.${column}`)
    .join(", ")}, u.input_price, u.output_price, u.cache_hit_price, u.other_prices, ${row}.cost)`;

const DAY = "((timestamptz 'epoch' + quarter * interval '15 minutes') AT TIME ZONE $9)::date AS day";
const GROUPED = {
  model_and_day: (fits) => `
    SELECT ${DAY}, model, '' AS key_id, ${SUMS} FROM (${usageBy("quarter, model", fits)}) usage GROUP BY 1, 2 ORDER BY 1 DESC, 2`,
  key: (fits) => `
    SELECT '' AS day, '' AS model, key_id, ${SUMS}
    FROM (${usageBy("quarter, model, key_id", fits)}) usage GROUP BY key_id ORDER BY key_id`,
  key_and_day: (fits) => `
    SELECT ${DAY}, '' AS model, key_id, ${SUMS}
    FROM (${usageBy("quarter, model, key_id", fits)}) usage GROUP BY 1, 3 ORDER BY 1 DESC, 3`,
} as const satisfies Record<UsageGrouping, (fits: string) => string>;

// $2 the id, $3 and $4 the quarters that are read from the roll-ups.
const CHARGED = `
SELECT sum(charge) AS charge FROM (
  SELECT charge FROM usage_roll_up WHERE account_id = $1::uuid AND quarter >= $3::int AND quarter < $4::int
  UNION ALL
  SELECT charge FROM usage_record WHERE account_id = $1::uuid AND request_id >= $2::uuid
    AND request_id < CASE WHEN $4::int > $3::int THEN quarter_floor($3::int) ELSE $2::uuid END
  UNION ALL
  SELECT charge FROM usage_record
  WHERE account_id = $1::uuid AND request_id >= CASE WHEN $4::int > $3::int THEN quarter_floor($4::int) ELSE $2::uuid END
) charged`;

// Plans are made for small tables and kept, and sorting what grows would go to the disk.
const BY_HASH = "SET LOCAL enable_sort = off";

type Row = { day: string; model: string; key_id: string } & Record<NumberColumn, string | bigint>;

const NOTHING = sumBy(() => 0n);

/** Sums an account's usage. Errors: ValidationError when the filter is wrong or the time zone unknown. */
export async function summarizeUsage(
  source: ReadSource,
  query: { accountId: string; filter: UsageFilter; timeZone?: string; grouping?: UsageGrouping },
): Promise<UsageSummary> {
  const { accountId, filter, timeZone = DEFAULT_TIME_ZONE, grouping = "model_and_day" } = query;
  requireTimeZone(timeZone);
  const selection = selectionOf(filter);
  try {
    const rows = await readOneSnapshot(source, (look) => sumUsage(look, accountId, { selection, grouping, timeZone }));
    return { rows, totals: rows.reduce(add, NOTHING), timeZone };
  } catch (error) {
    // One that this machine knows and the database does not.
    if (sqlState(error) === sqlStates.invalidParameter) throw unknownTimeZone({ cause: error });
    throw error;
  }
}

/** The rows of each person on each day, of rows by key and day. `makers`: who made each key; keys that no person made are one row. */
export function groupByPerson({ rows, ...summary }: UsageSummary, makers: ReadonlyMap<string, string>): UsageSummary {
  const personOf = ({ keyId }: UsageSummaryRow): string => makers.get(keyId) ?? "";
  const byPerson = [...Map.groupBy(rows, ({ day }) => day)].flatMap(([day, ofDay]) =>
    [...Map.groupBy(ofDay, personOf)]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([personId, own]) => ({ day, model: "", keyId: "", personId, ...own.reduce(add, NOTHING) })),
  );
  return { ...summary, rows: byPerson };
}

/** What all records of an account charge from an id on, within a snapshot. `fromQuarter`: the first that is whole from there. */
export async function chargedFrom(
  look: Look,
  accountId: string,
  { fromId, fromQuarter }: Pick<UsageSelection, "fromId" | "fromQuarter">,
): Promise<bigint> {
  const before = await rolledUpBefore(look, accountId);
  const [row] = await look<{ charge: string }>(CHARGED, [accountId, fromId, fromQuarter, before]);
  return BigInt(row?.charge ?? 0);
}

async function sumUsage(
  look: Look,
  accountId: string,
  query: { selection: UsageSelection; grouping: UsageGrouping; timeZone: string },
): Promise<UsageSummaryRow[]> {
  const { selection, grouping, timeZone } = query;
  await requireWholeQuarters(look, accountId, selection);
  // Failures are in no roll-up: those sums are of the records alone.
  const before = selection.failed ? 0 : Math.min(selection.untilQuarter, await rolledUpBefore(look, accountId));
  const values = [...valuesOf(accountId, selection), selection.fromQuarter, before];
  await look(BY_HASH);
  const statement = GROUPED[grouping](fitsRecord(selection));
  return (await look<Row>(statement, grouping === "key" ? values : [...values, timeZone])).map(fromRow);
}

// posted = postings - charges, on the account's row and so in every snapshot.
const ROLLED_UP = `
SELECT quarter_of(${FIRST_ID_AT_HAND}) AS archived, (
SELECT CASE WHEN a.posted = (SELECT coalesce(sum(CASE $1::uuid WHEN credit THEN amount WHEN debit THEN -amount END), 0) FROM posting
       WHERE account_id = $1::uuid)
    - m.charge
    - (SELECT coalesce(sum(charge), 0) FROM usage_record
       WHERE account_id = $1::uuid AND request_id >= quarter_floor(m.before_quarter)) THEN m.before_quarter END
FROM usage_rolled_up m JOIN account a ON a.id = m.account_id WHERE m.account_id = $1::uuid AND a.id = $1::uuid) AS before`;

/**
 * The quarter before which the roll-ups hold all of the account's records. Where they cannot be believed it is 0, or that of the first record
 * that is not in the archive: roll-ups of archived months were compared with their records, and do not change.
 */
export async function rolledUpBefore(look: Look, accountId: string): Promise<number> {
  const [row] = await look<{ archived: number; before: number | null }>(ROLLED_UP, [accountId]);
  return Math.max(row?.before ?? 0, row?.archived ?? 0);
}

function fromRow(row: Row): UsageSummaryRow {
  return { day: row.day, model: row.model, keyId: row.key_id, ...sumBy((name) => BigInt(row[NUMBERS[name]])) };
}

function add(a: UsageSum, b: UsageSum): UsageSum {
  return sumBy((name) => a[name] + b[name]);
}

function sumBy(valueOf: (name: keyof UsageSum) => bigint): UsageSum {
  return Object.fromEntries(NAMES.map((name) => [name, valueOf(name)])) as UsageSum;
}
