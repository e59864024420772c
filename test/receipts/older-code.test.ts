// Code of before the tax gives taxed payments back wrongly. So the first tax ends the time in which such code may run.

import type { Client, ClientConfig } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readTaxRule } from "../../src/billing/settings.ts";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { migrate } from "../../src/database/migrate.ts";
import { schemaCode } from "../../src/database/migrations/migrations.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { ProcessLease } from "../../src/ledger/process-lease.ts";
import { updateSettings } from "../../src/operator/commands/settings.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { SELLER } from "./receipt-setup.ts";

const GUARD = schemaCode.migrations.findIndex(({ name }) => name === "process-code");
const OLDER = { ...schemaCode, migrations: schemaCode.migrations.slice(0, GUARD) };
const RATE = { rate: 1_100, isIncluded: false };

let opened: TestDatabase;
let config: ClientConfig;
let owner: Client;
beforeAll(async () => {
  opened = await createTestDatabase();
  config = clientConfig({ connectionString: opened.url }, "test");
  owner = await connectClient(config);
  await set({ seller: SELLER });
});
afterAll(async () => {
  await owner.end();
  await opened.drop();
});

function set(settings: Parameters<typeof updateSettings>[1]["settings"]) {
  return updateSettings({ database: opened.database, operator: "test" }, { settings, reason: "a test" });
}

/** What a process of older code does at its start: it names no code. */
async function startOlder(client: Client = owner): Promise<string> {
  const id = uuidv7();
  await client.query("INSERT INTO process (id, expires_at) VALUES ($1, clock_timestamp() + interval '20 s')", [id]);
  return id;
}

const bury = (id: string) => owner.query("UPDATE process SET dead_at = clock_timestamp() WHERE id = $1", [id]);

test("no rate of zero ends the time of older code, and the first tax is refused while a process of it lives", async () => {
  const ours = await ProcessLease.take(opened.database);
  await set({ tax: { rate: 0, isIncluded: true } });
  const older = await startOlder();
  await expect(set({ tax: RATE })).rejects.toThrow(/1 process of an older version/);
  // One that ended without notice may come back until it is declared dead.
  await owner.query("UPDATE process SET expires_at = clock_timestamp() - interval '1 hour' WHERE id = $1", [older]);
  await expect(set({ tax: RATE })).rejects.toThrow(/1 process of an older version/);
  expect(await readTaxRule(opened.database.pool)).toMatchObject({ rate: 0 });
  expect(await migrate(config, { code: OLDER })).toEqual([]);
  await bury(older);
  await ours.resign();
});

test("a process of older code that starts while the tax is set is refused, or keeps the tax from being set", async () => {
  const starting = await connectClient(config);
  await starting.query("BEGIN");
  const older = await startOlder(starting);
  let isSettled = false;
  const setting = set({ tax: RATE })
    .then(
      () => "set",
      (error: unknown) => String(error),
    )
    .finally(() => (isSettled = true));
  // The tax waits for the process that starts; without that it would be set by then.
  const waits = `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await vi.waitUntil(async () => isSettled || (await owner.query(waits)).rowCount === 1, { timeout: 30_000 });
  await starting.query("COMMIT");
  await starting.end();
  expect(await setting).toMatch(/1 process of an older version/);
  await bury(older);
});

test("after the first tax no older code starts, also when the tax is taken away again", async () => {
  const ours = await ProcessLease.take(opened.database);
  await set({ tax: RATE });
  await set({ tax: { rate: 0, isIncluded: false } });
  await expect(migrate(config, { code: OLDER })).rejects.toThrow(`needs a Saldo that has change ${GUARD + 1}`);
  await expect(startOlder()).rejects.toThrow(/older than this database allows/);
  const other = await ProcessLease.take(opened.database);
  expect(await migrate(config)).toEqual([]);
  await set({ tax: RATE });
  await Promise.all([ours.resign(), other.resign()]);
});
