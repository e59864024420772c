// Months of usage records that are files.

import { defineEntity, p } from "@mikro-orm/core";
import { assetUnits, day, moment, now } from "./column-types.ts";
import { Account } from "./ledger.ts";
import { recordColumns } from "./usage.ts";

export const UsageArchive = defineEntity({
  name: "UsageArchive",
  tableName: "usage_archive",
  properties: {
    month: day().primary(),
    text: p.text(),
    signatures: p.json<object[]>(),
    sealedAt: now(),
  },
});

export const UsageArchiveAccount = defineEntity({
  name: "UsageArchiveAccount",
  tableName: "usage_archive_account",
  properties: {
    accountId: p
      .manyToOne(Account)
      .mapToPk()
      .fieldName("account_id")
      .deleteRule("no action")
      .updateRule("no action")
      .primary(),
    month: day().primary(),
    requests: p.bigint("bigint"),
    inputTokensUncached: p.bigint("bigint"),
    inputTokensCached: p.bigint("bigint"),
    outputTokens: p.bigint("bigint"),
    cost: assetUnits(),
    charge: assetUnits(),
    loss: assetUnits(),
    firstId: p.uuid(),
    lastId: p.uuid(),
  },
});

export const UsageArchiveFile = defineEntity({
  name: "UsageArchiveFile",
  tableName: "usage_archive_file",
  properties: {
    month: p.manyToOne(UsageArchive).mapToPk().fieldName("month").primary(),
    sha256: p.blob().primary(),
    text: p.text(),
    signatures: p.json<object[]>(),
    writtenAt: now(),
  },
});

export const UsageArchiveStep = defineEntity({
  name: "UsageArchiveStep",
  tableName: "usage_archive_step",
  properties: {
    month: p.manyToOne(UsageArchive).mapToPk().fieldName("month").primary(),
    doneAt: now().primary(),
    step: p.text(),
  },
});

export const UsageArchiveMark = defineEntity({
  name: "UsageArchiveMark",
  tableName: "usage_archive_mark",
  properties: {
    one: p.boolean().default(true).primary(),
    beforeMonth: day(),
    beforeId: p.uuid(),
  },
});

export const UsageKept = defineEntity({
  name: "UsageKept",
  tableName: "usage_kept",
  properties: {
    ...recordColumns(),
    settledAt: moment().nullable(),
  },
  indexes: [{ name: "usage_kept_request", properties: ["requestId"] }],
});
