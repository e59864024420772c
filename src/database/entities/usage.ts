// What requests used and paid, as recorded and summed up.

import { defineEntity, p } from "@mikro-orm/core";
import { assetUnits, day, moment, now } from "./column-types.ts";

export const LateUsage = defineEntity({
  name: "LateUsage",
  tableName: "late_usage",
  properties: {
    accountId: p.uuid().primary(),
    requestId: p.uuid().primary(),
    cost: p.bigint("bigint"),
    charge: p.bigint("bigint"),
    inputTokensUncached: p.integer(),
    inputTokensCached: p.integer(),
    outputTokens: p.integer(),
    otherTokens: p.json().nullable(),
    metering: p.json().nullable(),
    unbilledCost: p.bigint("bigint"),
    basis: p.text(),
    upstream: p.text().nullable(),
    upstreamModel: p.text().nullable(),
    upstreamRequestId: p.text().nullable(),
    upstreamCost: p.bigint("bigint").nullable(),
    streamed: p.boolean(),
    durationMs: p.integer(),
    firstByteMs: p.integer().nullable(),
    clamped: p.boolean(),
    settledAt: now(),
  },
});

/** The columns that a usage record and its copy have in common, but for the time of its settlement. */
export function recordColumns() {
  return {
    accountId: p.uuid().primary(),
    requestId: p.uuid().primary(),
    keyId: p.uuid(),
    model: p.text(),
    inputTokensUncached: p.integer(),
    inputTokensCached: p.integer(),
    outputTokens: p.integer(),
    inputPrice: p.bigint("bigint"),
    outputPrice: p.bigint("bigint"),
    cacheHitPrice: p.bigint("bigint").nullable(),
    cost: p.bigint("bigint"),
    charge: p.bigint("bigint"),
    basis: p.text(),
    billingDay: day(),
    upstream: p.text().nullable(),
    upstreamModel: p.text().nullable(),
    upstreamRequestId: p.text().nullable(),
    upstreamCost: p.bigint("bigint").nullable(),
    streamed: p.boolean(),
    durationMs: p.integer(),
    firstByteMs: p.integer().nullable(),
    clamped: p.boolean().default(false),
    otherTokens: p.json().nullable(),
    otherPrices: p.json().nullable(),
    metering: p.json().nullable(),
    unbilledCost: p.bigint("bigint").defaultRaw("0"),
  };
}

export const UsageRecord = defineEntity({
  name: "UsageRecord",
  tableName: "usage_record",
  properties: {
    ...recordColumns(),
    settledAt: now().nullable(),
  },
});

export const UsageRollUp = defineEntity({
  name: "UsageRollUp",
  tableName: "usage_roll_up",
  properties: {
    accountId: p.uuid().primary(),
    quarter: p.integer().primary(),
    model: p.text().primary(),
    keyId: p.uuid().primary(),
    basis: p.text().primary(),
    requests: p.integer(),
    inputTokensUncached: p.bigint("bigint"),
    inputTokensCached: p.bigint("bigint"),
    outputTokens: p.bigint("bigint"),
    cost: p.bigint("bigint"),
    charge: p.bigint("bigint"),
    savedByCache: p.bigint("bigint"),
    cacheWrite: p.bigint("bigint").defaultRaw("0"),
    cacheWrite1h: p.bigint("bigint").fieldName("cache_write_1h").defaultRaw("0"),
    audioInput: p.bigint("bigint").defaultRaw("0"),
    imageInput: p.bigint("bigint").defaultRaw("0"),
    imageOutput: p.bigint("bigint").defaultRaw("0"),
  },
});

export const UsageRolledUp = defineEntity({
  name: "UsageRolledUp",
  tableName: "usage_rolled_up",
  properties: {
    accountId: p.uuid().primary(),
    beforeQuarter: p.integer().default(0),
    charge: assetUnits().defaultRaw("0"),
    rolledAt: now(),
    recountedAt: moment().nullable(),
  },
});
