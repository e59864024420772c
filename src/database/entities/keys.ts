// API keys, and the names and answers of requests.

import { defineEntity, p } from "@mikro-orm/core";
import { bigints, integers, moment, moments, now } from "./column-types.ts";

/** The zone of a budget, and its present period, which the database computes as it does for requests. */
const zoned = () => ({
  budgetZone: p.text().nullable(),
  budgetUntil: moment().nullable(),
  budgetBeganIn: p.text().nullable(),
  budgetSpentNow: p
    .bigint("bigint")
    .formula(
      (row) =>
        `budget_spent_at(${row.budgetPeriod}, ${row.budgetStart}, ${row.budgetZone}, ${row.budgetUntil}, ${row.budgetSpent}, statement_timestamp())`,
    ),
  budgetEndsAt: p
    .datetime()
    .formula(
      (row) => `budget_end_at(${row.budgetPeriod}, ${row.budgetZone}, ${row.budgetUntil}, statement_timestamp())`,
    )
    .nullable(),
});

export const ApiKey = defineEntity({
  name: "ApiKey",
  tableName: "api_key",
  properties: {
    accountId: p.uuid().primary(),
    id: p.uuid().primary(),
    digest: p.blob(),
    name: p.text(),
    prefix: p.text(),
    lastFour: p.text(),
    rateLimit: p.integer().default(60),
    slots: moments().defaultRaw("'{}'::timestamp with time zone[]"),
    slotCounts: integers().defaultRaw("'{}'::integer[]"),
    createdAt: now(),
    revokedAt: moment().nullable(),
    isPlayground: p.boolean().default(false),
    expiresAt: moment().nullable(),
    allowedModels: p.array().columnType("text[]").nullable(),
    allowedNetworks: p.array().columnType("text[]").nullable(),
    rateLimitBound: p.integer().nullable(),
    tokenLimit: p.integer().default(0),
    tokensHeld: p.bigint("bigint").defaultRaw("0"),
    tokenTimes: moments().defaultRaw("'{}'::timestamp with time zone[]"),
    tokenCounts: bigints().defaultRaw("'{}'::bigint[]"),
    tokensUsed: p
      .bigint("bigint")
      .formula((key) => `${key.tokensHeld} + tokens_settled(${key.tokenTimes}, ${key.tokenCounts}, clock_timestamp())`),
    budget: p.bigint("bigint").nullable(),
    budgetPeriod: p.text().$type<"total" | "day" | "month">().nullable(),
    budgetStart: moment().nullable(),
    budgetSpent: p.bigint("bigint").defaultRaw("0"),
    budgetHeld: p.bigint("bigint").defaultRaw("0"),
    budgetUsedUpAt: moment().nullable(),
    ...zoned(),
    personId: p.uuid().nullable(),
    isMemberPlayground: p.boolean().default(false),
    // The window keeps its newest slot until the next request replaces it.
    lastUsedAt: p
      .datetime()
      .formula((key) => `${key.slots}[cardinality(${key.slots})]`)
      .nullable(),
  },
  uniques: [
    { name: "api_key_id", properties: ["id"] },
    { name: "api_key_digest", properties: ["digest"] },
  ],
});

export const MemberBudget = defineEntity({
  name: "MemberBudget",
  tableName: "member_budget",
  properties: {
    accountId: p.uuid().primary(),
    personId: p.uuid().primary(),
    budget: p.bigint("bigint"),
    budgetPeriod: p.text().$type<"total" | "day" | "month">(),
    budgetStart: moment(),
    budgetSpent: p.bigint("bigint").defaultRaw("0"),
    budgetHeld: p.bigint("bigint").defaultRaw("0"),
    budgetUsedUpAt: moment().nullable(),
    ...zoned(),
  },
});

export const CallerWindow = defineEntity({
  name: "CallerWindow",
  tableName: "caller_window",
  properties: {
    caller: p.uuid().primary(),
    slots: moments().defaultRaw("'{}'::timestamp with time zone[]"),
    slotCounts: integers().defaultRaw("'{}'::integer[]"),
  },
});

export const IdempotencyKey = defineEntity({
  name: "IdempotencyKey",
  tableName: "idempotency_key",
  properties: {
    accountId: p.uuid().primary(),
    keyId: p.uuid().primary(),
    name: p.text().primary(),
    requestId: p.uuid(),
    bodyDigest: p.blob(),
    takenAt: now(),
  },
  indexes: [{ name: "idempotency_key_taken", properties: ["takenAt"] }],
});

export const KeptAnswer = defineEntity({
  name: "KeptAnswer",
  tableName: "kept_answer",
  properties: {
    accountId: p.uuid().primary(),
    requestId: p.uuid().primary(),
    sealed: p.blob(),
    keptUntil: moment(),
  },
  indexes: [{ name: "kept_answer_until", properties: ["keptUntil"] }],
});
