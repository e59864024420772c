// How changes of the schema are applied: each once, beside a service that runs, and so that the version before can be started again.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Client, ClientConfig } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { clientConfig, connectClient, withClient } from "../../src/database/connections.ts";
import { openDatabase } from "../../src/database/database.ts";
import { migrate } from "../../src/database/migrate.ts";
import { labelOf, type Migration, type SchemaCode, schemaCode } from "../../src/database/migrations/migrations.ts";
import { PATIENCE } from "../../src/database/schema/patience.ts";
import { type LockHolder, MIGRATION_LOCK } from "../../src/database/schema/migration-lock.ts";
import { SERVING_SETTINGS } from "../../src/database/serving-settings.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const IMPATIENT = { lockTimeoutMs: 50, attempts: 2, pauseMs: 10 };
const PATIENT = { lockTimeoutMs: 50, attempts: 100, pauseMs: 10 };

let opened: TestDatabase;
let config: ClientConfig;
let owner: Client;
let folder: string;
beforeEach(async () => {
  opened = await createTestDatabase();
  config = clientConfig({ connectionString: opened.url }, "test");
  owner = await connectClient(config);
});
afterEach(async () => {
  await owner.end();
  await opened.drop();
});
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-changes-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Code that knows the baseline and these changes, with these functions beside its own. */
async function code(
  changes: readonly (Omit<Migration, "name"> & { readonly sql: string })[],
  functions: Readonly<Record<string, string>> = {},
): Promise<SchemaCode> {
  const place = await mkdtemp(join(folder, "code-"));
  await mkdir(join(place, "functions"));
  for (const { number, sql } of changes)
    await writeFile(join(place, `${labelOf({ number, name: "change" })}.sql`), sql);
  for (const [name, text] of Object.entries(functions)) await writeFile(join(place, "functions", `${name}.sql`), text);
  const url = pathToFileURL(`${place}/`);
  const known = [...schemaCode.migrations, ...changes.map((change) => ({ ...change, name: "change" }))];
  const ofFunctions = Object.keys(functions).length === 0 ? schemaCode.functionsFolder : new URL("functions/", url);
  return { migrations: known, migrationsFolder: url, functionsFolder: ofFunctions };
}

const NEWEST = schemaCode.migrations.length;
const [NEXT, LAST] = [labelOf({ number: NEWEST + 1, name: "change" }), labelOf({ number: NEWEST + 2, name: "change" })];
const ADD_COLUMN = { number: NEWEST + 1, oldestCode: 1, sql: "ALTER TABLE account ADD COLUMN colour text;" };
const columns = async (): Promise<unknown[]> =>
  (await owner.query("SELECT FROM pg_attribute WHERE attrelid = 'account'::regclass AND attname = 'colour'")).rows;
const changes = async (): Promise<unknown[]> =>
  (await owner.query("SELECT number, oldest_code FROM schema_change ORDER BY number")).rows;
const inFresh = () => owner.query("DROP SCHEMA auth, public CASCADE; CREATE SCHEMA public");

describe("changes of the schema", () => {
  test("are applied once when several processes start at once", async () => {
    await inFresh();
    const ran = await Promise.all([migrate(config), migrate(config), migrate(config)]);
    expect(ran.flat()).toEqual(schemaCode.migrations.map(labelOf));
    expect(await migrate(config)).toEqual([]);

    const next = { code: await code([ADD_COLUMN]) };
    const ranNext = await Promise.all([migrate(config, next), migrate(config, next), migrate(config, next)]);
    expect(ranNext.flat()).toEqual([NEXT]);
    expect((await changes()).at(-1)).toEqual({ number: NEWEST + 1, oldest_code: 1 });
  });

  test("are each a transaction: one that fails leaves those before it, and nothing of its own", async () => {
    const sql = "ALTER TABLE account ADD COLUMN size text; SELECT 1 / 0;";
    const failing = await code([ADD_COLUMN, { number: NEWEST + 2, oldestCode: 1, sql }]);
    await expect(migrate(config, { code: failing })).rejects.toThrow("division by zero");
    expect(await columns()).toHaveLength(1);
    expect(await changes()).toHaveLength(NEWEST + 1);
    const mended = await code([
      ADD_COLUMN,
      { number: NEWEST + 2, oldestCode: 1, sql: "ALTER TABLE account ADD COLUMN size text" },
    ]);
    expect(await migrate(config, { code: mended })).toEqual([LAST]);
  });

  test("wait for a lock only shortly and try again, so that a session behind them goes on", async () => {
    const holder = await connectClient(config);
    await holder.query("BEGIN; LOCK TABLE account IN ACCESS SHARE MODE");
    const migrating = migrate(config, { code: await code([ADD_COLUMN]), patience: PATIENT });
    // Statements behind a waiting change get their turn when it gives up its lock.
    for (let read = 0; read < 20; read += 1) await opened.database.pool.query("SELECT FROM account LIMIT 1");
    expect(await columns()).toEqual([]);
    await holder.query("COMMIT");
    await holder.end();
    expect(await migrating).toEqual([NEXT]);
    expect(await columns()).toHaveLength(1);
  });

  test("wait for a lock for less time than requests do, so that none fails behind them", () => {
    expect(PATIENCE.lockTimeoutMs).toBeLessThan(Number.parseInt(SERVING_SETTINGS.lock_timeout, 10));
    expect(SERVING_SETTINGS.lock_timeout).toMatch(/^\d+ms$/);
    // A report that takes a minute ends before a change is given up.
    expect(PATIENCE.attempts * PATIENCE.pauseMs).toBeGreaterThanOrEqual(60_000);
  });

  test("that never get their lock are given up, and the error names the change", async () => {
    await owner.query("BEGIN; LOCK TABLE account IN ACCESS SHARE MODE");
    const migrating = migrate(config, { code: await code([ADD_COLUMN]), patience: IMPATIENT });
    await expect(migrating).rejects.toThrow(/^\d+-change of database \w+ was tried 2 times and did not get its locks/);
    await owner.query("ROLLBACK");
    expect(await columns()).toEqual([]);
  });
});

describe("a start that waits for another one", () => {
  const waits: LockHolder[] = [];
  let pid: number;
  beforeEach(async () => {
    waits.length = 0;
    await owner.query("SET application_name = 'saldo elsewhere'");
    await owner.query("BEGIN");
    const { rows } = await owner.query<{ pid: number }>(
      `SELECT pg_backend_pid() AS pid, pg_advisory_xact_lock(${MIGRATION_LOCK})`,
    );
    pid = rows[0]?.pid ?? 0;
  });
  const start = async (mostMs?: number) =>
    migrate(config, { code: await code([ADD_COLUMN]), turn: { mostMs, onWait: (holder) => waits.push(holder) } });

  test("reports once which session it waits for, and goes on when that has ended", async () => {
    const migrating = start();
    await expect.poll(() => waits.length, { timeout: 30_000 }).toBe(1);
    expect(waits).toMatchObject([{ pid, application: "saldo elsewhere" }]);
    await owner.query("SELECT pg_sleep(0.5)");
    await owner.query("COMMIT");
    expect(await migrating).toEqual([NEXT]);
    expect(waits).toHaveLength(1);
  });

  test("gives up after a bound, and the error names the session", async () => {
    await expect(start(100)).rejects.toThrow(new RegExp(`the session ${pid} \\(saldo elsewhere.*pg_terminate_backend`));
    await owner.query("ROLLBACK");
    expect(await columns()).toEqual([]);
    expect(await start()).toEqual([NEXT]);
  });
});

describe("an index that is made concurrently", () => {
  const sql = "-- Why.\nCREATE INDEX CONCURRENTLY account_created ON account (created_at);\n";
  const INDEX = { number: NEWEST + 1, oldestCode: 1, concurrent: true, sql };
  const isValid = async (): Promise<unknown> =>
    (await owner.query("SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('account_created')"))
      .rows[0];

  test("does not block writes, also when several processes start at once", async () => {
    const writer = await connectClient(config);
    await writer.query("BEGIN; INSERT INTO account (id) VALUES (gen_random_uuid())");
    const next = { code: await code([INDEX]) };
    const migrating = Promise.all([migrate(config, next), migrate(config, next)]);
    await expect.poll(isValid).toEqual({ valid: false });
    await opened.database.pool.query("INSERT INTO account (id) VALUES (gen_random_uuid())");
    await writer.query("COMMIT");
    await writer.end();
    expect((await migrating).flat()).toEqual([NEXT]);
    expect(await isValid()).toEqual({ valid: true });
  });

  test("is made again where an earlier try left an invalid one behind", async () => {
    await owner.query("INSERT INTO account (id) VALUES (gen_random_uuid()), (gen_random_uuid())");
    const failing = owner.query("CREATE UNIQUE INDEX CONCURRENTLY account_created ON account ((created_at IS NULL))");
    await expect(failing).rejects.toThrow("could not create unique index");
    expect(await isValid()).toEqual({ valid: false });
    expect(await migrate(config, { code: await code([INDEX]) })).toEqual([NEXT]);
    expect(await isValid()).toEqual({ valid: true });
  });

  test("is kept where a process ended between making and recording it", async () => {
    await owner.query(sql);
    expect(await migrate(config, { code: await code([INDEX]) })).toEqual([NEXT]);
    expect(await isValid()).toEqual({ valid: true });
  });
});

describe("the version before", () => {
  const DROP_COLUMN = { number: NEWEST + 2, oldestCode: NEWEST + 1, sql: "ALTER TABLE account DROP COLUMN colour;" };

  test("serves again where the newer schema allows it, and leaves the newer functions as they are", async () => {
    const pick = (result: number) => ({
      pick: `CREATE OR REPLACE FUNCTION pick() RETURNS int LANGUAGE sql AS 'SELECT ${result}';\n`,
    });
    const former = await code([], pick(1));
    expect(await migrate(config, { code: former })).toEqual(["functions/pick"]);
    expect(await migrate(config, { code: await code([ADD_COLUMN], pick(2)) })).toEqual([NEXT, "functions/pick"]);
    expect(await migrate(config, { code: former })).toEqual([]);
    expect((await owner.query("SELECT pick() AS result")).rows).toEqual([{ result: 2 }]);
    const database = await openDatabase({ url: opened.url, dataDir: "" });
    expect((await database.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await database.close();
  });

  test("is refused where the schema needs a newer one, with what to do", async () => {
    await migrate(config, { code: await code([ADD_COLUMN, DROP_COLUMN]) });
    expect(await migrate(config, { code: await code([ADD_COLUMN]) })).toEqual([]);
    const opening = openDatabase({ url: opened.url, dataDir: "" });
    await expect(opening).rejects.toThrow(
      `is at change ${NEWEST + 2} and needs a Saldo that has change ${NEWEST + 1}; this one has up to change ${NEWEST}. ` +
        "Start the newer version",
    );
  });
});

describe("functions", () => {
  const made = (header: string, body: string) => ({
    pick: `CREATE OR REPLACE FUNCTION pick${header} LANGUAGE sql AS '${body}';\n`,
  });
  const names = async (): Promise<unknown[]> =>
    (await owner.query("SELECT oid::regprocedure::text AS name FROM pg_proc WHERE proname = 'pick'")).rows;
  const apply = async (functions: Readonly<Record<string, string>>) =>
    migrate(config, { code: await code([], functions) });

  test("are applied when their file has changed, and only then", async () => {
    expect(await apply(made("() RETURNS int", "SELECT 1"))).toEqual(["functions/pick"]);
    expect(await apply(made("() RETURNS int", "SELECT 1"))).toEqual([]);
    expect(await apply(made("() RETURNS int", "SELECT 2"))).toEqual(["functions/pick"]);
    expect((await owner.query("SELECT pick() AS result")).rows).toEqual([{ result: 2 }]);
  });

  test("with other parameters or another result take the place of the former ones", async () => {
    await apply(made("(a int) RETURNS int", "SELECT a"));
    await apply(made("(a int, b int) RETURNS int", "SELECT a + b"));
    expect(await names()).toEqual([{ name: "pick(integer,integer)" }]);
    await apply(made("(a int, b int) RETURNS text", "SELECT a || b::text"));
    expect((await owner.query("SELECT pick(1, 2) AS result")).rows).toEqual([{ result: "12" }]);
    expect(await names()).toHaveLength(1);
  });

  test("are all applied or none", async () => {
    await apply(made("() RETURNS int", "SELECT 1"));
    await expect(
      apply({ ...made("() RETURNS int", "SELECT 2"), wrong: "CREATE OR REPLACE FUNCTION wrong() RETURNS" }),
    ).rejects.toThrow("syntax error");
    expect((await owner.query("SELECT pick() AS result")).rows).toEqual([{ result: 1 }]);
  });
});

test("a login that only serves sees that there is nothing to do; where there is, the error names the login that may", async () => {
  const serving = { ...config, connectionString: opened.url.replace(/\/\/[^@/]*@/, "//saldo_serve@") };
  expect(await migrate(serving)).toEqual([]);
  await expect(migrate(serving, { code: await code([ADD_COLUMN]) })).rejects.toThrow(/Set DATABASE_OWNER_URL/);
  expect(await withClient(config, async (client) => (await client.query("SELECT FROM schema_change")).rowCount)).toBe(
    NEWEST,
  );
});
