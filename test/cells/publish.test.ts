// The catalog and the settings of the home cell, published to another: whole only where a version is another one.

import { afterAll, beforeAll, expect, it } from "vitest";
import { presetCatalog } from "../../src/app/compose/catalog.ts";
import { publisherTo } from "../../src/app/compose/publish.ts";
import { readConfig } from "../../src/app/config/config.ts";
import { readBillingSettings, setSeller, setTaxRule } from "../../src/billing/settings.ts";
import { exportCatalog, publishCatalog } from "../../src/catalog/apply-catalog.ts";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const presets = presetCatalog(readConfig({}));
const SELLER = { name: "PT Saldo", address: "Jakarta", npwp: "0012345678901000" };

let [home, two]: TestDatabase[] = [];
beforeAll(async () => {
  [home, two] = [await createTestDatabase(), await createTestDatabase()];
});
afterAll(async () => {
  await home?.drop();
  await two?.drop();
});
const opened = (): readonly [Database, Database] => {
  if (home === undefined || two === undefined) throw new Error("both are open");
  return [home.database, two.database];
};
const publishAt = (database: Database, yaml: string) =>
  withTransaction(database, (client) => publishCatalog(client, { ...presets, operator: "test", reason: null, yaml }));
const catalogOf = (database: Database): Promise<string> => exportCatalog(database, presets);

/** Runs work, and returns how many models of catalogs were read meanwhile. */
async function readsOf(database: Database, work: () => Promise<void>): Promise<number> {
  const reads = async (): Promise<number> => {
    await database.pool.query("SELECT pg_stat_force_next_flush()");
    const { rows } = await database.pool.query<{ reads: number }>(
      "SELECT (seq_scan + coalesce(idx_scan, 0))::int AS reads FROM pg_stat_user_tables WHERE relname = 'catalog_model'",
    );
    return rows[0]?.reads ?? 0;
  };
  const before = await reads();
  await work();
  return (await reads()) - before;
}

it("publishes a change of the home cell, and reads no catalog whole where no version has changed", async () => {
  const [homeBooks, cellBooks] = opened();
  const publish = publisherTo(cellBooks, homeBooks, presets);
  await publish();
  expect(await readsOf(homeBooks, publish)).toBe(0);
  await publishAt(homeBooks, (await catalogOf(homeBooks)).replace("Demo Large", "Published Large"));
  expect(await catalogOf(cellBooks)).not.toContain("Published Large");
  await publish();
  expect(await catalogOf(cellBooks)).toBe(await catalogOf(homeBooks));
  expect(await readsOf(homeBooks, publish)).toBe(0);
});

it("puts a catalog back that was changed in the cell alone, also by another process", async () => {
  const [homeBooks, cellBooks] = opened();
  const [publish, other] = [publisherTo(cellBooks, homeBooks, presets), publisherTo(cellBooks, homeBooks, presets)];
  await publish();
  await publishAt(cellBooks, (await catalogOf(cellBooks)).replace("Published Large", "Stray Large"));
  await other();
  expect(await catalogOf(cellBooks)).toBe(await catalogOf(homeBooks));
  await publish();
  expect(await catalogOf(cellBooks)).toBe(await catalogOf(homeBooks));
});

it("publishes a tax with its seller, and takes both back in the order that the rules of a tax need", async () => {
  const [homeBooks, cellBooks] = opened();
  const publish = publisherTo(cellBooks, homeBooks, presets);
  const set = async (seller: typeof SELLER, rate: number): Promise<void> => {
    await withTransaction(homeBooks, async (client) => {
      if (rate === 0) await setTaxRule(client, { rate, isIncluded: false });
      await setSeller(client, seller);
      await setTaxRule(client, { rate, isIncluded: false });
    });
    await publish();
    expect(await readBillingSettings(cellBooks.pool)).toEqual(await readBillingSettings(homeBooks.pool));
  };
  await set(SELLER, 1_100);
  await set({ ...SELLER, npwp: "" }, 0);
  expect(await readBillingSettings(cellBooks.pool)).toMatchObject({ seller: { npwp: "" }, tax: { rate: 0 } });
});
