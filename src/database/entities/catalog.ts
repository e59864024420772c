// What is sold: upstreams, models, the versions that were published, and what upstreams are known to do.

import { defineEntity, p } from "@mikro-orm/core";
import { bigints, moment, now } from "./column-types.ts";

export const CatalogChange = defineEntity({
  name: "CatalogChange",
  tableName: "catalog_change",
  properties: {
    id: p.uuid().primary(),
    subject: p.text(),
    change: p.text().$type<"added" | "changed" | "retired">(),
    before: p.json<Record<string, unknown>>().nullable(),
    after: p.json<Record<string, unknown>>().nullable(),
    changedAt: now(),
    version: p.integer().nullable(),
    priceDifference: p.json<object>().nullable(),
  },
  indexes: [{ name: "catalog_change_version", properties: ["version", "id"] }],
});

export const CatalogModel = defineEntity({
  name: "CatalogModel",
  tableName: "catalog_model",
  properties: {
    id: p.text().primary(),
    name: p.text(),
    description: p.text(),
    badge: p.text().nullable(),
    inputModalities: p.array(),
    contextLength: p.integer(),
    maxOutputTokens: p.integer(),
    inputPrice: p.bigint("bigint"),
    outputPrice: p.bigint("bigint"),
    cacheHitPrice: p.bigint("bigint").nullable(),
    routes: p.json<object[]>(),
    mediaTokens: p.json<object>(),
    state: p.text(),
    createdAt: now(),
    updatedAt: now(),
    hiddenOutput: p.boolean().default(false),
    otherPrices: p.json<object>().nullable(),
    kind: p.text().default("chat"),
    accepts: p.json<object>().nullable(),
  },
});

export const CatalogUpstream = defineEntity({
  name: "CatalogUpstream",
  tableName: "catalog_upstream",
  properties: {
    id: p.text().primary(),
    kind: p.text(),
    baseUrl: p.text(),
    apiKeyEnv: p.text().nullable(),
    allowPrivateAddress: p.boolean(),
    connectTimeoutMs: p.integer(),
    firstByteTimeoutMs: p.integer(),
    idleTimeoutMs: p.integer(),
    state: p.text(),
    updatedAt: now(),
    chargesCacheWrites: p.boolean().default(false),
    outputCapField: p.text().default("max_tokens"),
    takesServiceTier: p.boolean().nullable(),
  },
});

/** How many models and upstreams a version added, changed or retired. */
const countOf = (change: "added" | "changed" | "retired") =>
  p
    .integer()
    .formula(
      (version) =>
        `(SELECT count(*)::int FROM catalog_change c WHERE c.version = ${version.number} AND c.change = '${change}')`,
    );

export const CatalogVersion = defineEntity({
  name: "CatalogVersion",
  tableName: "catalog_version",
  properties: {
    number: p.integer().primary().autoincrement(false),
    operator: p.text(),
    reason: p.text().nullable(),
    yaml: p.text(),
    publishedAt: now(),
    added: countOf("added"),
    changed: countOf("changed"),
    retired: countOf("retired"),
  },
});

export const LearnedModel = defineEntity({
  name: "LearnedModel",
  tableName: "learned_model",
  properties: {
    model: p.text().primary(),
    upstream: p.text(),
    requestId: p.uuid(),
    hiddenOutputSince: now(),
  },
});

export const UpstreamMark = defineEntity({
  name: "UpstreamMark",
  tableName: "upstream_mark",
  properties: {
    upstream: p.text().primary(),
    mixedUpAt: now(),
  },
});

export const UpstreamMinute = defineEntity({
  name: "UpstreamMinute",
  tableName: "upstream_minute",
  properties: {
    upstream: p.text().primary(),
    minute: moment().primary(),
    answered: p.bigint("bigint"),
    failed: p.bigint("bigint"),
    firstByte: bigints(),
    lastFailedAt: moment().nullable(),
    lastFailure: p.text().nullable(),
  },
  indexes: [{ name: "upstream_minute_minute", properties: ["minute"] }],
});
