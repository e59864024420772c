// Usage and the ledger between the contract and this room's words.

import { timestampFromDate, timestampFromMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import {
  UsageBasis as ProtoBasis,
  type UsageFilter as ProtoFilter,
  UsageGrouping as ProtoGrouping,
} from "#gen/saldo/billing/v1/usage_pb.ts";
import { ValidationError } from "../kernel/errors.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { formatMoney, idr } from "../kernel/money.ts";
import type { UsageBasis } from "../ledger/ledger.ts";
import type { LedgerEntry } from "./ledger-entries.ts";
import type { LowBalanceAlert } from "./low-balance.ts";
import type { UsageGrouping, UsageSum, UsageSummary } from "./summary.ts";
import { savedOf } from "./usage-export.ts";
import type { UsageFilter } from "./usage-filter.ts";
import type { UsageRecord } from "./usage.ts";

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

/** The filter; an unset one means all. Errors: ValidationError when a basis is not said. */
export function fromProtoFilter(filter: ProtoFilter | undefined): UsageFilter {
  if (filter === undefined) return {};
  return {
    ...(filter.from === undefined ? {} : { fromMs: msOf(filter.from) }),
    ...(filter.until === undefined ? {} : { untilMs: msOf(filter.until) }),
    ...(filter.model === "" ? {} : { model: filter.model }),
    ...(filter.keyId === "" ? {} : { keyId: filter.keyId }),
    bases: filter.bases.map(fromProtoBasis),
  };
}

/** What the rows are told for; the contract lets no other value through. */
export function fromProtoGrouping(grouping: ProtoGrouping): UsageGrouping {
  return grouping === ProtoGrouping.KEY ? "key" : "model_and_day";
}

function fromProtoBasis(proto: ProtoBasis, index: number): UsageBasis {
  const basis = basisOf.get(proto);
  if (basis !== undefined) return basis;
  throw new ValidationError([
    { field: `filter.bases[${index}]`, rule: "enum.not_in", message: "must name a basis of usage" },
  ]);
}

/** Milliseconds, with the part of one that a moment may have besides. */
function msOf({ seconds, nanos }: Timestamp): number {
  return Number(seconds) * 1000 + nanos / 1_000_000;
}

export function toProtoUsage(record: UsageRecord) {
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
  };
}

export function toProtoSummary({ rows, totals, timeZone }: UsageSummary) {
  return {
    rows: rows.map(({ day, model, keyId, ...sum }) => ({
      day,
      model,
      keyId,
      ...toProtoSum(sum),
      requests: Number(sum.requests),
    })),
    totals: toProtoSum(totals),
    timeZone,
  };
}

function toProtoSum({ cost, charge, savedByCache, ...counts }: UsageSum) {
  return { ...counts, cost: rupiah(cost), charge: rupiah(charge), savedByCache: rupiah(savedByCache) };
}

export function toProtoEntry({ id, postedAt, amount, runningBalance, reason }: LedgerEntry) {
  return {
    id,
    postedAt: timestampFromDate(postedAt),
    amount: rupiah(amount),
    runningBalance: rupiah(runningBalance),
    reason,
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
