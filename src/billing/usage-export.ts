// Usage as a file.

import type { Pool } from "pg";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import { readOneSnapshot } from "../ledger/gentle-look.ts";
import { savedByCache } from "./cost.ts";
import type { CsvField } from "./csv.ts";
import { csvFile, RECORDS_PER_PIECE } from "./csv-file.ts";
import { selectOldest } from "./store.ts";
import { DEFAULT_TIME_ZONE, isoWriter, requireTimeZone } from "./time-zone.ts";
import type { UsageRecord } from "./usage.ts";
import { selectionOf, type UsageFilter } from "./usage-filter.ts";

const rupiah = (units: bigint): string => formatMoney(idr(units));

/** The columns of the file: what stands in the first line, and where it comes from. */
const COLUMNS: Readonly<Record<string, (record: UsageRecord, iso: (ms: number) => string) => CsvField>> = {
  request_id: ({ requestId }) => requestId,
  created_at: ({ requestId }, iso) => iso(timeOfUuidv7(requestId)),
  model: ({ model }) => model,
  key_id: ({ keyId }) => keyId,
  basis: ({ basis }) => basis,
  input_tokens_uncached: ({ inputTokensUncached }) => inputTokensUncached,
  input_tokens_cached: ({ inputTokensCached }) => inputTokensCached,
  output_tokens: ({ outputTokens }) => outputTokens,
  input_price_idr_per_1m: ({ inputPrice }) => rupiah(inputPrice),
  cache_hit_price_idr_per_1m: ({ cacheHitPrice }) => (cacheHitPrice === null ? "" : rupiah(cacheHitPrice)),
  output_price_idr_per_1m: ({ outputPrice }) => rupiah(outputPrice),
  cost_idr: ({ cost }) => rupiah(cost),
  charge_idr: ({ charge }) => rupiah(charge),
  saved_by_cache_idr: (record) => rupiah(savedOf(record)),
  streamed: ({ streamed }) => streamed,
  duration_ms: ({ durationMs }) => durationMs,
  first_byte_ms: ({ firstByteMs }) => firstByteMs ?? "",
  clamped: ({ clamped }) => clamped,
};

/** What the cache has saved of a record's cost. */
export function savedOf(record: UsageRecord): bigint {
  const { inputPrice: input, outputPrice: output, cacheHitPrice: cacheHit, cost } = record;
  return savedByCache(record, { input, output, cacheHit }, cost);
}

/**
 * Gives usage as the pieces of one CSV file, oldest record first. Every record that was settled before the first piece was
 * asked for is in it once; one that is settled meanwhile may be. Errors: ValidationError, before the first piece.
 */
export function exportUsage(
  pool: Pool,
  query: { accountId: string; filter: UsageFilter; timeZone?: string; signal?: AbortSignal },
): AsyncGenerator<string, void> {
  const { accountId, filter, timeZone = DEFAULT_TIME_ZONE, signal } = query;
  requireTimeZone(timeZone);
  const selection = selectionOf(filter);
  const iso = isoWriter(timeZone);
  return csvFile({
    columns: Object.keys(COLUMNS),
    fieldsOf: (record: UsageRecord) => Object.values(COLUMNS).map((column) => column(record, iso)),
    readAfter: (last) => {
      const fromId = last === undefined ? selection.fromId : idAfter(last.requestId);
      const slice = { ...selection, fromId, limit: RECORDS_PER_PIECE };
      return readOneSnapshot(pool, (look) => selectOldest(look, accountId, slice));
    },
    signal,
  });
}

/** The next id there can be. */
function idAfter(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
