import { defineEntity, p, type InferEntity } from "@mikro-orm/core";

/** A key as people manage it. Its digest and its window are not mapped: only the SQL of store.ts touches them. */
export const ApiKeyEntity = defineEntity({
  name: "ApiKey",
  tableName: "api_key",
  properties: {
    accountId: p.uuid().primary(),
    id: p.uuid().primary(),
    name: p.text(),
    prefix: p.text(),
    lastFour: p.text(),
    rateLimit: p.integer(),
    createdAt: p.datetime(),
    revokedAt: p.datetime().nullable(),
    // The window keeps its newest slot until the next request replaces it, so it tells the last use, and for free.
    lastUsedAt: p
      .datetime()
      .nullable()
      .formula((_columns, { alias }) => `${alias}.slots[cardinality(${alias}.slots)]`),
  },
});

/** A row of the key table without its secret parts. */
export type ApiKeyRow = InferEntity<typeof ApiKeyEntity>;
