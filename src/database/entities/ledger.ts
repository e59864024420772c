// The ledger's accounts, what is held and posted on them, what proves them, and the processes that serve.

import { defineEntity, p } from "@mikro-orm/core";
import { assetUnits, moment, now } from "./column-types.ts";

export const Account = defineEntity({
  name: "Account",
  tableName: "account",
  properties: {
    id: p.uuid().primary(),
    posted: p.bigint("bigint").defaultRaw("0"),
    held: p.bigint("bigint").defaultRaw("0"),
    createdAt: now(),
    frozenAt: moment().nullable(),
    openHolds: p.integer().default(0),
    maxOpenHolds: p.integer().default(0),
    owed: p.bigint("bigint").defaultRaw("0"),
    keepsAnswers: p.boolean().default(false),
    memberBudgets: p.integer().default(0),
    cell: p.text().nullable(),
    budgetZone: p.text().nullable(),
  },
});

export const AdmissionSwitch = defineEntity({
  name: "AdmissionSwitch",
  tableName: "admission_switch",
  properties: {
    theRow: p.boolean().primary().default(true),
    stoppedAt: moment().nullable(),
    reason: p.text().nullable(),
  },
});

export const AuditCheckpoint = defineEntity({
  name: "AuditCheckpoint",
  tableName: "audit_checkpoint",
  properties: {
    accountId: p.uuid().primary(),
    posted: assetUnits(),
    usageThrough: p.uuid(),
    lookedThrough: p.uuid(),
    postingsBefore: p.uuid(),
    openSince: p.bigint("bigint").nullable().defaultRaw("0"),
  },
});

export const FundCheckpoint = defineEntity({
  name: "FundCheckpoint",
  tableName: "fund_checkpoint",
  properties: {
    fundId: p.uuid().primary(),
    posted: assetUnits(),
    foldedThrough: p.uuid(),
  },
});

export const AuditRun = defineEntity({
  name: "AuditRun",
  tableName: "audit_run",
  properties: {
    kind: p.text().primary(),
    startedAt: moment().nullable(),
    coveredAt: moment().nullable(),
    finishedAt: moment().nullable(),
    violations: p.integer().default(0),
    postingsBefore: p.uuid().defaultRaw("'00000000-0000-0000-0000-000000000000'::uuid"),
    found: p.json().defaultRaw("'[]'::jsonb"),
    trace: p.text().nullable(),
  },
});

export const Hold = defineEntity({
  name: "Hold",
  tableName: "hold",
  properties: {
    accountId: p.uuid().primary(),
    id: p.uuid().primary(),
    owner: p.uuid(),
    amount: p.bigint("bigint"),
    keyId: p.uuid(),
    model: p.text(),
    inputPrice: p.bigint("bigint"),
    outputPrice: p.bigint("bigint"),
    cacheHitPrice: p.bigint("bigint").nullable(),
    progressInputTokens: p.integer().default(0),
    progressOutputTokens: p.integer().default(0),
    placedAt: now(),
    otherPrices: p.json().nullable(),
    progressCachedTokens: p.integer().default(0),
    inBudget: p.boolean().default(false),
    tokens: p.integer().default(0),
    memberId: p.uuid().nullable(),
  },
});

export const Posting = defineEntity({
  name: "Posting",
  tableName: "posting",
  properties: {
    accountId: p.uuid().primary(),
    id: p.uuid().primary(),
    groupId: p.uuid(),
    asset: p.text(),
    debit: p.uuid(),
    credit: p.uuid(),
    amount: assetUnits(),
    reason: p.text(),
    reference: p.text().nullable(),
    note: p.text().nullable(),
    postedAt: now(),
  },
  indexes: [
    { name: "posting_group", properties: ["groupId", "id"] },
    { name: "posting_id", properties: ["id"] },
  ],
});

export const Process = defineEntity({
  name: "Process",
  tableName: "process",
  properties: {
    id: p.uuid().primary(),
    startedAt: now(),
    renewedAt: now(),
    expiresAt: moment(),
    gaplessSince: now(),
    deadAt: moment().nullable(),
    schemaCode: p.integer().nullable(),
  },
});
