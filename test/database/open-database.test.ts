import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import { openDatabase } from "../../src/database/database.ts";
import { backendOf } from "../../src/database/login-connections.ts";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { isDatabaseAway } from "../../src/database/transactions.ts";
import { createTestDatabase, testBackends } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";
import { makeDataDir, postmasterPid, removeDataDir, until, urlOf } from "../setup/own-server.ts";

async function asOwner(url: string, sql: string): Promise<void> {
  await withClient(clientConfig({ connectionString: url }, "test"), (client) => client.query(sql));
}

async function refusal(url: string): Promise<string> {
  return openDatabase({ url, dataDir: "" }).then(
    async (database) => {
      await database.close();
      return "";
    },
    (error: Error) => error.message,
  );
}

describe.each(testBackends())("a database on the %s server", (backend) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
  });
  afterAll(() => opened.drop());

  test("gives exact values: int8 as bigint, numeric and date as text, timestamptz as Date", async () => {
    const { rows } = await opened.database.pool.query(
      `SELECT 9007199254740993::int8 AS whole, ARRAY[9007199254740993, NULL]::int8[] AS wholes, 1.50::numeric AS exact,
              ARRAY[12345678901234567890.10]::numeric[] AS exacts, '2026-11-20'::date AS day, timestamptz 'epoch' AS moment`,
    );
    expect(rows).toEqual([
      {
        whole: 9007199254740993n,
        wholes: [9007199254740993n, null],
        exact: "1.50",
        exacts: ["12345678901234567890.10"],
        day: "2026-11-20",
        moment: new Date(0),
      },
    ]);
  });

  test("serves as saldo_serve, on the pool and on a connection of one's own", async () => {
    const sql = "SELECT current_user AS role, current_setting('enable_seqscan') AS scan";
    const expected = [{ role: "saldo_serve", scan: "off" }];
    expect((await opened.database.pool.query(sql)).rows).toEqual(expected);
    const client = await opened.database.connect();
    expect((await client.query(sql)).rows).toEqual(expected);
    await client.end();
  });

  test("ends a backend and comes back only when its locks are free", async () => {
    const { database } = opened;
    const lost = await database.connect();
    const serving = await backendOf(lost);
    await lost.query("BEGIN; LOCK TABLE account IN ROW EXCLUSIVE MODE; SELECT pg_advisory_xact_lock(7)");
    const sleeping = lost.query("SELECT pg_sleep(600)").catch((error: unknown) => error);
    await database.endBackend(serving);
    expect((await database.pool.query("SELECT pg_try_advisory_lock(7) AS free")).rows).toEqual([{ free: true }]);
    expect(isDatabaseAway(await sleeping)).toBe(true);
  });

  test("calls a backend that is gone already ended", async () => {
    const client = await opened.database.connect();
    const ended = await backendOf(client);
    await client.end();
    await expect(opened.database.endBackend(ended)).resolves.toBeUndefined();
  });

  test("leaves a backend alone that has the pid of one of an earlier server", async () => {
    const client = await opened.database.connect();
    const { pid } = await backendOf(client);
    await opened.database.endBackend({ pid, server: "2026-01-01 00:00:00+00" });
    expect((await client.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    await client.end();
  });

  test("survives that all its sessions are killed", async () => {
    const { database, url } = opened;
    await database.pool.query("SELECT 1");
    await asOwner(
      url,
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await until(() => database.pool.idleCount === 0);
    expect((await database.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
  });

  test("accepts a plain login of the serving role, which can end its own backends", async () => {
    const plain = opened.url.replace(/\/\/[^@/]*@/, "//saldo_serve@");
    const database = await openDatabase({ url: plain, ownerUrl: opened.url, dataDir: "" });
    const { rows } = await database.pool.query(
      "SELECT session_user AS login, current_setting('plan_cache_mode') AS plans",
    );
    expect(rows).toEqual([{ login: "saldo_serve", plans: "force_generic_plan" }]);
    const lost = await database.connect();
    await database.endBackend(await backendOf(lost));
    await expect(lost.query("SELECT 1")).rejects.toSatisfy(isDatabaseAway);
    await database.close();
  });

  test("is not served by a login that could change the ledger", async () => {
    const opening = openDatabase({ url: opened.url, ownerUrl: opened.url, dataDir: "" });
    await expect(opening).rejects.toThrow(/Let DATABASE_URL log in as saldo_serve/);
  });
});

describe("a server that could lose money", () => {
  test("is refused when synchronous_commit is off for the serving role alone", async () => {
    const opened = await createTestDatabase();
    const { rows } = await opened.database.pool.query<{ name: string }>("SELECT current_database() AS name");
    await asOwner(opened.url, `ALTER DATABASE ${rows[0]?.name} SET synchronous_commit = off`);
    const opening = openDatabase({ url: opened.url, dataDir: "" });
    await expect(opening).rejects.toThrow(/setting synchronous_commit is off/);
    await opened.drop();
  });

  test("is refused when fsync or full_page_writes is off, and when it is a read replica", async () => {
    const dataDir = await makeDataDir();
    const server = await startEmbeddedPostgres({ dataDir });
    const url = urlOf(server);
    for (const setting of ["fsync", "full_page_writes"]) {
      await asOwner(url, `ALTER SYSTEM SET ${setting} = off`);
      await asOwner(url, "SELECT pg_reload_conf()");
      await until(() => refusal(url).then((message) => message.includes(`setting ${setting} is off`)));
      await asOwner(url, "ALTER SYSTEM RESET ALL");
      await asOwner(url, "SELECT pg_reload_conf()");
    }
    await server.stop();
    await writeFile(join(dataDir, "postgres", "standby.signal"), "");
    const replica = await startEmbeddedPostgres({ dataDir });
    expect(await refusal(urlOf(replica))).toMatch(/read replica.*Set DATABASE_URL to the primary/);
    await replica.stop();
    await removeDataDir(dataDir);
  });
});

describe("an embedded database", () => {
  test("opens, goes on after its server was killed, and leaves nothing running", async () => {
    const dataDir = await makeDataDir();
    const database = await openDatabase({ dataDir });
    const account = "00000000-0000-7000-8000-0000000000aa";
    await database.pool.query("INSERT INTO account (id) VALUES ($1)", [account]);
    await database.pool.query("UPDATE account SET posted = 5 WHERE id = $1", [account]);
    const killed = await postmasterPid(dataDir);
    process.kill(killed, "SIGKILL");
    await until(async () => (await postmasterPid(dataDir).catch(() => killed)) !== killed);
    await until(() =>
      database.pool.query("SELECT posted FROM account WHERE id = $1", [account]).then(
        ({ rows }) => rows[0]?.posted === 5n,
        (error: unknown) => {
          if (!isDatabaseAway(error)) throw error;
          return false;
        },
      ),
    );
    await database.close();
    await expect(postmasterPid(dataDir)).rejects.toThrow("no server");
    await removeDataDir(dataDir);
  });
});
