// Usage as a file.

import { timeOfUuidv7 } from "../../kernel/ids.ts";
import type { OtherTokens } from "../../kernel/token-prices.ts";
import { formatMoney, idr } from "../../kernel/money.ts";
import type { ReadSource } from "../../database/lagging-reads.ts";
import { readOneSnapshot } from "../../database/throttled-reader.ts";
import {
  inputTokensOf,
  longContextOf,
  outputTokensOf,
  pricesAt,
  type PricesOfAllKinds,
  savedByCache,
} from "../cost.ts";
import { requireRecordsAtHand } from "./archived-records.ts";
import type { CsvField } from "./csv.ts";
import { csvFile, RECORDS_PER_PIECE } from "./csv-file.ts";
import { type ShownFailure, shownFailure } from "./failure.ts";
import { selectOldest } from "./store.ts";
import { DEFAULT_TIME_ZONE, isoWriter, requireTimeZone } from "./time-zone.ts";
import { pricesOf, type UsageRecord } from "./usage-record.ts";
import { selectionOf, type UsageFilter } from "./usage-filter.ts";

const rupiah = (units: bigint): string => formatMoney(idr(units));

/** The names of an account's keys by their ids, as they are now. */
export type KeyNames = ReadonlyMap<string, string>;

/** The e-mail addresses of the members who made an account's keys, by the keys' ids. Keys of services and operators are left out. */
export type KeyMembers = ReadonlyMap<string, string>;

/** What the columns of a line need besides its record: how times are written, what each kind of token cost, names and makers of keys. */
type Line = {
  readonly iso: (ms: number) => string;
  readonly prices: PricesOfAllKinds;
  readonly keyNames: KeyNames;
  readonly keyMembers: KeyMembers;
};
type Column = (record: UsageRecord, line: Line) => CsvField;

const otherPrice =
  (kind: keyof OtherTokens): Column =>
  ({ otherTokens }, { prices }) =>
    (otherTokens?.[kind] ?? 0) === 0 ? "" : rupiah(prices[kind]);

/** The columns of the file: the name in the first line, and the source of the values. */
const COLUMNS: Readonly<Record<string, Column>> = {
  request_id: ({ requestId }) => requestId,
  created_at: ({ requestId }, { iso }) => iso(timeOfUuidv7(requestId)),
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
  // Further columns come behind those that programs read by their place.
  cache_write_tokens: ({ otherTokens }) => otherTokens?.cacheWrite ?? 0,
  cache_write_1h_tokens: ({ otherTokens }) => otherTokens?.cacheWrite1h ?? 0,
  audio_input_tokens: ({ otherTokens }) => otherTokens?.audioInput ?? 0,
  image_input_tokens: ({ otherTokens }) => otherTokens?.imageInput ?? 0,
  image_output_tokens: ({ otherTokens }) => otherTokens?.imageOutput ?? 0,
  input_tokens_total: (record) => inputTokensOf(record),
  output_tokens_total: (record) => outputTokensOf(record),
  // What each kind cost, with the prices of long contexts where they counted; of rarer kinds only where there are such tokens.
  billed_input_price_idr_per_1m: (_record, { prices }) => rupiah(prices.input),
  billed_cache_hit_price_idr_per_1m: (_record, { prices }) => rupiah(prices.cacheHit),
  billed_output_price_idr_per_1m: (_record, { prices }) => rupiah(prices.output),
  billed_cache_write_price_idr_per_1m: otherPrice("cacheWrite"),
  billed_cache_write_1h_price_idr_per_1m: otherPrice("cacheWrite1h"),
  billed_audio_input_price_idr_per_1m: otherPrice("audioInput"),
  billed_image_input_price_idr_per_1m: otherPrice("imageInput"),
  billed_image_output_price_idr_per_1m: otherPrice("imageOutput"),
  per_request_price_idr: (_record, { prices }) => rupiah(prices.perRequest),
  long_context_above_tokens: (record) => longContextAbove(record) ?? "",
  counting_rules: ({ metering }) => metering?.rules?.join(" ") ?? "",
  reported_input_tokens: ({ metering }) => (metering?.reported ? inputTokensOf(metering.reported) : ""),
  reported_cached_tokens: ({ metering }) => metering?.reported?.inputTokensCached ?? "",
  reported_output_tokens: ({ metering }) => (metering?.reported ? outputTokensOf(metering.reported) : ""),
  late_charge_idr: ({ lateCharge }) => rupiah(lateCharge),
  settled_at: ({ settledAt }, { iso }) => iso(settledAt.getTime()),
  failure_status: (record) => failureOf(record)?.httpStatus ?? "",
  failure_code: (record) => failureOf(record)?.code ?? "",
  failure_reason: (record) => failureOf(record)?.reason ?? "",
  key_name: ({ keyId }, { keyNames }) => keyNames.get(keyId) ?? "",
  member: ({ keyId }, { keyMembers }) => keyMembers.get(keyId) ?? "",
};

/** Why a record's request failed. Undefined: it did not, or the record is of before failures were kept. */
export function failureOf({ metering }: UsageRecord): ShownFailure | undefined {
  return metering?.failure === undefined ? undefined : shownFailure(metering.failure);
}

/** What the cache has saved of a record's cost. */
export function savedOf(record: UsageRecord): bigint {
  return savedByCache(record, pricesOf(record), record.costOfTokens);
}

/** What each kind of token of a record cost. */
export function billedPricesOf(record: UsageRecord): PricesOfAllKinds {
  return pricesAt(pricesOf(record), inputTokensOf(record));
}

/** The size of input above which the prices of a record's long context hold. Null: those of any input held. */
export function longContextAbove(record: UsageRecord): number | null {
  return longContextOf(record.otherPrices, inputTokensOf(record))?.above ?? null;
}

/**
 * Returns usage as the pieces of one CSV file, oldest record first. Every record that was settled before the first piece was
 * asked for is in it once; one that is settled meanwhile may be. Errors: ValidationError, before the first piece.
 */
export function exportUsage(
  source: ReadSource,
  query: {
    accountId: string;
    filter: UsageFilter;
    timeZone?: string;
    signal?: AbortSignal;
    keyNames?: KeyNames;
    keyMembers?: KeyMembers;
  },
): AsyncGenerator<string, void> {
  const { accountId, filter, timeZone = DEFAULT_TIME_ZONE, signal } = query;
  const { keyNames = new Map(), keyMembers = new Map() } = query;
  requireTimeZone(timeZone);
  const selection = selectionOf(filter);
  const iso = isoWriter(timeZone);
  return csvFile({
    columns: Object.keys(COLUMNS),
    fieldsOf: (record: UsageRecord) => {
      const line = { iso, prices: billedPricesOf(record), keyNames, keyMembers };
      return Object.values(COLUMNS).map((column) => column(record, line));
    },
    readAfter: (last) => {
      const fromId = last === undefined ? selection.fromId : idAfter(last.requestId);
      const slice = { ...selection, fromId, limit: RECORDS_PER_PIECE };
      return readOneSnapshot(source, async (look) => {
        // Each time: a month may be archived while the file is read.
        await requireRecordsAtHand(look, accountId, slice);
        return selectOldest(look, accountId, slice);
      });
    },
    signal,
  });
}

/** The next id there can be. */
function idAfter(id: string): string {
  const digits = (BigInt(`0x${id.replaceAll("-", "")}`) + 1n).toString(16).padStart(32, "0");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
