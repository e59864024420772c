// Translates usage and ledger entries between the contract and this room's types.

import { timestampFromDate, timestampFromMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import {
  UsageBasis as ProtoBasis,
  type UsageFilter as ProtoFilter,
  UsageGrouping as ProtoGrouping,
} from "#gen/saldo/billing/v1/usage_pb.ts";
import { ValidationError } from "../kernel/errors.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import type { OtherTokens } from "../kernel/token-prices.ts";
import type { UsageBasis } from "../ledger/ledger.ts";
import type { LedgerEntry } from "./usage/ledger-entries.ts";
import type { LowBalanceAlert } from "./low-balance-alert.ts";
import type { UsageGrouping, UsageSum, UsageSummary } from "./usage/summary.ts";
import { billedPricesOf, failureOf, longContextAbove, savedOf } from "./usage/usage-export.ts";
import type { UsageFilter } from "./usage/usage-filter.ts";
import type { UsageRecord } from "./usage/usage-record.ts";

const protoBasis = {
  exact: ProtoBasis.EXACT,
  drained: ProtoBasis.DRAINED,
  estimated: ProtoBasis.ESTIMATED,
  recovered: ProtoBasis.RECOVERED,
  free: ProtoBasis.FREE,
} as const satisfies Record<UsageBasis, ProtoBasis>;

const basisOf = new Map<ProtoBasis, UsageBasis>(
  Object.entries(protoBasis).map(([basis, proto]) => [proto, basis as UsageBasis]),
);

const rupiah = (units: bigint): string => formatMoney(idr(units));

/** The filter; an unset one means all. Errors: ValidationError when a basis is unspecified. */
export function fromProtoFilter(filter: ProtoFilter | undefined): UsageFilter {
  if (filter === undefined) return {};
  return {
    ...(filter.from === undefined ? {} : { fromMs: msOf(filter.from) }),
    ...(filter.until === undefined ? {} : { untilMs: msOf(filter.until) }),
    ...(filter.model === "" ? {} : { model: filter.model }),
    ...(filter.keyId === "" ? {} : { keyId: filter.keyId }),
    bases: filter.bases.map(fromProtoBasis),
    failed: filter.failed,
  };
}

/** What the rows are grouped by; the contract lets no other value through. */
export function fromProtoGrouping(grouping: ProtoGrouping): UsageGrouping {
  if (grouping === ProtoGrouping.KEY) return "key";
  // Rows by person are made of those by key.
  const isByKey = grouping === ProtoGrouping.KEY_AND_DAY || grouping === ProtoGrouping.PERSON_AND_DAY;
  return isByKey ? "key_and_day" : "model_and_day";
}

function fromProtoBasis(proto: ProtoBasis, index: number): UsageBasis {
  const basis = basisOf.get(proto);
  if (basis !== undefined) return basis;
  throw new ValidationError([
    { field: `filter.bases[${index}]`, rule: "enum.not_in", message: "must name a basis of usage" },
  ]);
}

/** Milliseconds, with the fraction of one that a moment may have. */
function msOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1000 + nanos / 1_000_000;
}

/** A record as its customer sees it, or with the facts for operators only. */
export function toProtoUsage(record: UsageRecord, { forOperator = false }: { readonly forOperator?: boolean } = {}) {
  const { inputPrice, outputPrice, cacheHitPrice, firstByteMs } = record;
  return {
    requestId: record.requestId,
    createdAt: timestampFromMs(timeOfUuidv7(record.requestId)),
    billingDay: record.billingDay,
    model: record.model,
    keyId: record.keyId,
    inputTokensUncached: record.inputTokensUncached,
    inputTokensCached: record.inputTokensCached,
    outputTokens: record.outputTokens,
    inputPrice: rupiah(inputPrice),
    outputPrice: rupiah(outputPrice),
    ...(cacheHitPrice === null ? {} : { cacheHitPrice: rupiah(cacheHitPrice) }),
    cost: rupiah(record.cost),
    charge: rupiah(record.charge),
    basis: protoBasis[record.basis],
    streamed: record.streamed,
    durationMs: record.durationMs,
    ...(firstByteMs === null ? {} : { firstByteMs }),
    clamped: record.clamped,
    savedByCache: rupiah(savedOf(record)),
    ...(record.otherTokens ? { otherTokens: toProtoOther(record.otherTokens) } : {}),
    billedPrices: toProtoPrices(record),
    ...toProtoMetering(record.metering),
    ...toProtoFailure(record),
    lateCharge: rupiah(record.lateCharge),
    settledAt: timestampFromDate(record.settledAt),
    ...(forOperator ? { unbilledCost: rupiah(record.unbilledCost ?? 0n) } : {}),
  };
}

/** Counts of one record or sums of many. */
function toProtoOther(tokens: { readonly [Kind in keyof OtherTokens]: number | bigint | undefined }) {
  const countOf = (kind: keyof OtherTokens): bigint => BigInt(tokens[kind] ?? 0);
  return {
    cacheWrite: countOf("cacheWrite"),
    cacheWrite1h: countOf("cacheWrite1h"),
    audioInput: countOf("audioInput"),
    imageInput: countOf("imageInput"),
    imageOutput: countOf("imageOutput"),
  };
}

function toProtoPrices(record: UsageRecord) {
  const prices = billedPricesOf(record);
  const above = longContextAbove(record);
  return {
    input: rupiah(prices.input),
    cacheHit: rupiah(prices.cacheHit),
    output: rupiah(prices.output),
    cacheWrite: rupiah(prices.cacheWrite),
    cacheWrite1h: rupiah(prices.cacheWrite1h),
    audioInput: rupiah(prices.audioInput),
    imageInput: rupiah(prices.imageInput),
    imageOutput: rupiah(prices.imageOutput),
    perRequest: rupiah(prices.perRequest),
    ...(above === null ? {} : { longContextAbove: above }),
  };
}

function toProtoFailure(record: UsageRecord) {
  const failure = failureOf(record);
  if (failure === undefined) return {};
  const { code, reason, inStream, httpStatus } = failure;
  return { failure: { code, reason, inStream, ...(httpStatus === null ? {} : { httpStatus }) } };
}

/** How a record was counted; undefined where its counts are those that the upstream reported. */
function toProtoMetering(metering: UsageRecord["metering"]) {
  const { rules = [], reported } = metering ?? {};
  if (reported === undefined) return rules.length === 0 ? {} : { metering: { rules: [...rules] } };
  const { inputTokensUncached, inputTokensCached, outputTokens, otherTokens } = reported;
  return {
    metering: {
      rules: [...rules],
      reported: {
        inputTokensUncached: BigInt(inputTokensUncached),
        inputTokensCached: BigInt(inputTokensCached),
        outputTokens: BigInt(outputTokens),
        ...(otherTokens ? { otherTokens: toProtoOther(otherTokens) } : {}),
      },
    },
  };
}

/** The header of a file that has the moment it is of. */
export const AS_OF_HEADER = "x-saldo-as-of";

/** The moment that an answer is of, where that is not now. */
export function toProtoAsOf({ asOf }: { readonly asOf: Date | null }) {
  return asOf === null ? {} : { asOf: timestampFromDate(asOf) };
}

export function toProtoSummary({ rows, totals, timeZone }: UsageSummary) {
  return {
    rows: rows.map(({ day, model, keyId, personId = "", ...sum }) => ({
      day,
      model,
      keyId,
      personId,
      ...toProtoSum(sum),
      requests: Number(sum.requests),
    })),
    totals: toProtoSum(totals),
    timeZone,
  };
}

function toProtoSum(sum: UsageSum) {
  return {
    requests: sum.requests,
    inputTokensUncached: sum.inputTokensUncached,
    inputTokensCached: sum.inputTokensCached,
    outputTokens: sum.outputTokens,
    otherTokens: toProtoOther(sum),
    cost: rupiah(sum.cost),
    charge: rupiah(sum.charge),
    savedByCache: rupiah(sum.savedByCache),
  };
}

export function toProtoEntry({ id, postedAt, amount, runningBalance, reason, requestId, topUpId }: LedgerEntry) {
  return {
    id,
    postedAt: timestampFromDate(postedAt),
    amount: rupiah(amount),
    runningBalance: rupiah(runningBalance),
    reason,
    requestId: requestId ?? "",
    topUpId: topUpId ?? "",
  };
}

export function toProtoAlert(alert: LowBalanceAlert | null) {
  if (alert === null) return {};
  const { threshold, isBelow, notifiedAt } = alert;
  return {
    threshold: rupiah(threshold),
    isBelow,
    ...(notifiedAt === null ? {} : { notifiedAt: timestampFromDate(notifiedAt) }),
  };
}
