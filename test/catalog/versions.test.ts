// The catalogs that were published: each kept whole, and made from the one before.

import { stringify } from "yaml";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exportCatalog, readLiveCatalog } from "../../src/catalog/apply-catalog.ts";
import { listVersions, readVersion } from "../../src/catalog/version-store.ts";
import type { Database } from "../../src/database/database.ts";
import { NotFound } from "../../src/kernel/errors.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { applyCatalog } from "./apply.ts";

const local = { id: "local", base_url: "https://api.example.com/v1" };
const large = {
  id: "acme/large",
  context_length: 1_000,
  max_output_tokens: 100,
  price: { input: "5000", output: "15000", cache_hit: "950" },
  routes: [{ upstream: "local", model: "l" }],
};
const modelPriced = (input: string) => [{ ...large, price: { input, output: "1" } }];

describe.each(testBackends())("versions of the catalog on the %s server", (backend) => {
  let opened: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    opened = await createTestDatabase({ backend });
    database = opened.database;
  });
  afterEach(() => opened.drop());

  const apply = (models: readonly object[], { dryRun = false } = {}) =>
    applyCatalog(database, { yaml: stringify({ upstreams: [local], models }), dryRun });

  test("keeps every version whole, with who published it, why, and what it changed", async () => {
    await apply([large]);
    const dearer = { ...large, price: { input: "5500", output: "15000", cache_hit: "950" } };
    const reason = "the upstream is dearer";
    await applyCatalog(database, {
      yaml: stringify({ upstreams: [local], models: [dearer] }),

      operator: "budi@example.com",
      reason,
    });
    // What changes nothing is no version, and a look is none.
    expect(await apply([dearer])).toEqual([]);
    await apply([], { dryRun: true });
    expect(await listVersions(database.pool, { limit: 10 })).toMatchObject([
      { number: 2, operator: "budi@example.com", reason, added: 0, changed: 1, retired: 0 },
      { number: 1, operator: "ani@example.com", reason: null, added: 2, changed: 0, retired: 0 },
    ]);
    expect(await listVersions(database.pool, { before: 2, limit: 10 })).toMatchObject([{ number: 1 }]);
    const { yaml, changes } = await readVersion(database.pool, 2);
    expect(yaml).toBe(await exportCatalog(database));
    expect(changes).toEqual([
      {
        kind: "model",
        id: "acme/large",
        change: "changed",
        fields: [{ field: "price.input", before: "5000", after: "5500" }],
        priceDifference: { input: "+500", output: "0", cacheHit: "0" },
      },
    ]);
    // An old version can be published again.
    const old = (await readVersion(database.pool, 1)).yaml;
    await applyCatalog(database, { yaml: old });
    expect(await readLiveCatalog(database)).toMatchObject({ version: 3, yaml: old });
    await expect(readVersion(database.pool, 4)).rejects.toThrow(NotFound);
    for (const table of ["catalog_version", "catalog_change"])
      await expect(database.pool.query(`DELETE FROM ${table}`)).rejects.toThrow("permission denied");
  });

  test("publishes a draft against the version it was made from, and one of two drafts of a version", async () => {
    const draft = (input: string, baseVersion: number) =>
      applyCatalog(database, {
        yaml: stringify({ upstreams: [local], models: modelPriced(input) }),

        baseVersion,
      });
    await draft("1", 0);
    const outcomes = await Promise.allSettled(["2", "3", "4"].map((input) => draft(input, 1)));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(await readLiveCatalog(database)).toMatchObject({ version: 2 });
    const late = draft("5", 1);
    await expect(late).rejects.toMatchObject({ details: [{ field: "baseVersion", rule: "catalog.base_version" }] });
    await draft("5", 2);
    expect(await readLiveCatalog(database)).toMatchObject({ version: 3 });
  });
});
