// The statements that read usage records.

import type { Pool } from "pg";
import type { Look } from "../../database/throttled-reader.ts";
import { type ListOrder, MOST_SORTED, type OrderedPlace, requireSortable } from "../../kernel/list-order.ts";
import { ARCHIVED_SUMS, usageAtHand } from "../../ledger/archived-usage.ts";
import type { UsageBasis } from "../../ledger/ledger.ts";
import {
  type MeteringJson,
  OTHER_KINDS,
  type OtherPricesJson,
  type OtherTokensJson,
  readMetering,
  readOtherPrices,
  readOtherTokens,
} from "../../ledger/group-commit/token-columns.ts";
import type { UsageRecord } from "./usage-record.ts";
import type { UsageSelection } from "./usage-filter.ts";

const recordOf = (source: string): string => `
SELECT request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, input_price, output_price,
       cache_hit_price, cost, charge, basis, billing_day::text AS billing_day, upstream, upstream_model, upstream_request_id,
       upstream_cost, streamed, duration_ms, first_byte_ms, clamped, other_tokens, other_prices, metering, unbilled_cost,
       settled_time(request_id, settled_at) AS settled_at,
       CASE WHEN basis = 'recovered' THEN (
         SELECT json_build_object('charge', l.charge::text, 'cost', l.cost::text, 'uncached', l.input_tokens_uncached,
           'cached', l.input_tokens_cached, 'output', l.output_tokens, 'others', l.other_tokens)
         FROM late_usage l WHERE l.account_id = usage_record.account_id AND l.request_id = usage_record.request_id AND l.charge > 0
       ) END AS late
FROM ${source}`;
const RECORD = recordOf("usage_record");
const COLUMNS_OF_RECORD = `account_id, request_id, key_id, model, input_tokens_uncached, input_tokens_cached, output_tokens, input_price,
  output_price, cache_hit_price, cost, charge, basis, billing_day, upstream, upstream_model, upstream_request_id, upstream_cost, streamed,
  duration_ms, first_byte_ms, clamped, other_tokens, other_prices, metering, unbilled_cost, settled_at`;

/** The columns of a record's tokens of the rarer kinds, by the names of their kinds. */
export const OTHER_TOKENS_OF_RECORD = Object.values(OTHER_KINDS)
  .map((kind) => `${tokensOfKind(kind)} AS ${kind}`)
  .join(", ");

/** An expression for the tokens of a rarer kind. `row`: a qualifier with its dot, where there are two rows with such a column. */
export function tokensOfKind(kind: string, row = ""): string {
  return `coalesce((${row}other_tokens ->> '${kind}')::int, 0)`;
}

/** What the cache has saved of a record's cost. */
export const SAVED_OF_RECORD = `saved_by_cache(input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens, input_price,
  output_price, cache_hit_price, other_prices, cost)`;

/** What a selection asks besides its range, of records and of their sums: $4 model, $5 keys, $6 bases. */
export const FITS = `
  ($4::text IS NULL OR model = $4) AND ($5::uuid[] IS NULL OR key_id = ANY ($5)) AND ($6::text[] IS NULL OR basis = ANY ($6))`;

/** The same of records alone: roll-ups do not count failures. Text and no parameter, so that usual plans have none of it. */
export const fitsRecord = ({ failed }: Pick<UsageSelection, "failed">): string =>
  failed ? `${FITS} AND (basis = 'free' OR metering ? 'failure')` : FITS;

const inRange = (selection: UsageSelection): string =>
  `WHERE account_id = $1::uuid AND request_id >= $2::uuid AND request_id < $3::uuid AND ${fitsRecord(selection)}`;
const newest = (slice: Slice): string => `${RECORD} ${inRange(slice)} ORDER BY request_id DESC LIMIT $7`;
const oldest = (slice: Slice): string => `${RECORD} ${inRange(slice)} ORDER BY request_id LIMIT $7`;
const ONE = `${recordOf(`${usageAtHand(COLUMNS_OF_RECORD)} usage_record`)} WHERE account_id = $1::uuid AND request_id = $2::uuid`;

type Row = {
  request_id: string;
  key_id: string;
  model: string;
  input_tokens_uncached: number;
  input_tokens_cached: number;
  output_tokens: number;
  input_price: bigint;
  output_price: bigint;
  cache_hit_price: bigint | null;
  cost: bigint;
  charge: bigint;
  basis: UsageBasis;
  billing_day: string;
  upstream: string | null;
  upstream_model: string | null;
  upstream_request_id: string | null;
  upstream_cost: bigint | null;
  streamed: boolean;
  duration_ms: number;
  first_byte_ms: number | null;
  clamped: boolean;
  other_tokens: OtherTokensJson | null;
  other_prices: OtherPricesJson | null;
  metering: MeteringJson | null;
  unbilled_cost: bigint;
  settled_at: Date;
  late: LateRow | null;
};

/** What was charged after the record was written, with the tokens that the whole request came to. */
type LateRow = {
  charge: string;
  cost: string;
  uncached: number;
  cached: number;
  output: number;
  others: OtherTokensJson | null;
};

/** A selection with the number of records that are wanted at most. */
export type Slice = UsageSelection & { readonly limit: number };

/** The newest records of a selection, newest first. */
export async function selectNewest(look: Look, accountId: string, slice: Slice): Promise<UsageRecord[]> {
  return (await look<Row>(newest(slice), [...valuesOf(accountId, slice), slice.limit])).map(fromRow);
}

/** The oldest records of a selection, oldest first. */
export async function selectOldest(look: Look, accountId: string, slice: Slice): Promise<UsageRecord[]> {
  return (await look<Row>(oldest(slice), [...valuesOf(accountId, slice), slice.limit])).map(fromRow);
}

// The values are bigint, as a place has them. By time, ids alone decide.
const SORTED_BY = { time: "0::bigint", cost: "charge", duration: "duration_ms::bigint" } as const;
export const USAGE_ORDERS = Object.keys(SORTED_BY) as (keyof typeof SORTED_BY)[];
type UsageOrder = ListOrder<keyof typeof SORTED_BY>;

// $8 and $9: where the page before ended. The newest of the selection are read by their key, and no more than are sorted.
const sorted = (slice: Slice, { column, isDown }: UsageOrder, most: number): string => {
  const direction = isDown ? "DESC" : "";
  return `
SELECT request_id, found FROM (
  SELECT request_id, value, count(*) OVER ()::int AS found FROM (
    SELECT request_id, ${SORTED_BY[column]} AS value FROM usage_record ${inRange(slice)}
    ORDER BY request_id DESC LIMIT ${most + 1}
  ) newest
) counted
WHERE $8::bigint IS NULL OR (value, request_id) ${isDown ? "<" : ">"} ($8::bigint, $9::uuid)
ORDER BY value ${direction}, request_id ${direction} LIMIT $7`;
};
const OF_IDS = `${RECORD} WHERE account_id = $1::uuid AND request_id = ANY ($2::uuid[])`;

/** Records of a selection in an order, behind a place. Errors: ValidationError when the selection has too many to be sorted. */
export async function selectSorted(
  look: Look,
  accountId: string,
  { order, place, ...slice }: Slice & { readonly order: UsageOrder; readonly place: OrderedPlace | null },
  most = MOST_SORTED,
): Promise<UsageRecord[]> {
  const values = [...valuesOf(accountId, slice), slice.limit, place?.value ?? null, place?.id ?? null];
  const chosen = await look<{ request_id: string; found: number }>(sorted(slice, order, most), values);
  requireSortable(chosen[0]?.found ?? 0, most);
  const ids = chosen.map((row) => row.request_id);
  const records = new Map((await look<Row>(OF_IDS, [accountId, ids])).map((row) => [row.request_id, fromRow(row)]));
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** Where a record is in an order. */
export function placeOfRecord({ column }: UsageOrder, { requestId, charge, durationMs }: UsageRecord): OrderedPlace {
  return { value: column === "cost" ? charge : column === "duration" ? BigInt(durationMs) : 0n, id: requestId };
}

/** One record of an account. Null: it has none of this id. */
export async function selectOne(look: Look, accountId: string, requestId: string): Promise<UsageRecord | null> {
  const [row] = await look<Row>(ONE, [accountId, requestId]);
  return row === undefined ? null : fromRow(row);
}

/** The parameters $1 to $6 of a statement about an account's selection. */
export function valuesOf(accountId: string, { fromId, untilId, model, keyIds, bases }: UsageSelection): unknown[] {
  return [accountId, fromId, untilId, model, keyIds, bases];
}

function fromRow(row: Row): UsageRecord {
  const { late } = row;
  return {
    requestId: row.request_id,
    keyId: row.key_id,
    model: row.model,
    // The tokens are those that the money is for, also what was charged late.
    inputTokensUncached: late?.uncached ?? row.input_tokens_uncached,
    inputTokensCached: late?.cached ?? row.input_tokens_cached,
    outputTokens: late?.output ?? row.output_tokens,
    costOfTokens: late === null ? row.cost : BigInt(late.cost),
    inputPrice: row.input_price,
    outputPrice: row.output_price,
    cacheHitPrice: row.cache_hit_price,
    cost: row.cost,
    charge: row.charge,
    basis: row.basis,
    billingDay: row.billing_day,
    upstream: row.upstream,
    upstreamModel: row.upstream_model,
    upstreamRequestId: row.upstream_request_id,
    upstreamCost: row.upstream_cost,
    streamed: row.streamed,
    durationMs: row.duration_ms,
    firstByteMs: row.first_byte_ms,
    clamped: row.clamped,
    otherTokens: readOtherTokens(late === null ? row.other_tokens : late.others),
    otherPrices: readOtherPrices(row.other_prices),
    metering: readMetering(row.metering),
    unbilledCost: row.unbilled_cost,
    settledAt: row.settled_at,
    lateCharge: BigInt(late?.charge ?? 0),
  };
}

const LAST_REQUEST = `
SELECT coalesce((SELECT request_id FROM usage_record WHERE account_id = $1::uuid ORDER BY request_id DESC LIMIT 1),
  (SELECT last_id FROM ${ARCHIVED_SUMS} archived WHERE account_id = $1::uuid ORDER BY month DESC LIMIT 1)) AS request_id`;

/** The id of an account's last billed request, which begins with its time. Null: it never had one. */
export async function selectLastRequest(pool: Pool, accountId: string): Promise<string | null> {
  return (await pool.query<{ request_id: string | null }>(LAST_REQUEST, [accountId])).rows[0]?.request_id ?? null;
}
