import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { SERVING_SETTINGS } from "../../src/database/serving-settings.ts";
import { isDatabaseAway } from "../../src/database/transactions.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { onServer } from "../setup/test-servers.ts";

describe.each(testBackends())("a %s server of an earlier version", (backend) => {
  let opened: TestDatabase;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
  });
  afterAll(() => opened.drop());

  test("gets the settings of this version at its next start", async () => {
    await onServer(
      opened.url,
      "ALTER ROLE saldo_serve RESET enable_nestloop; ALTER ROLE saldo_serve SET lock_timeout = '9s'",
    );
    // The login of the role itself, as the embedded server is served: nothing but the role brings its settings.
    const url = opened.url.replace(/\/\/[^@/]*@/, "//saldo_serve@");
    const database = await openDatabase({ url, ownerUrl: opened.url, dataDir: "" });
    const { rows } = await database.pool.query(
      "SELECT current_setting('enable_nestloop') AS nestloop, current_setting('lock_timeout') AS wait",
    );
    await database.close();
    expect(rows).toEqual([{ nestloop: SERVING_SETTINGS.enable_nestloop, wait: SERVING_SETTINGS.lock_timeout }]);
  });

  test("ends a serving session that is idle within a transaction, and one that never ends its transaction", async () => {
    const login = opened.url.replace(/\/\/[^@/]*@/, "//saldo_serve@");
    // Once as the role itself, once as a login that takes it on.
    for (const options of [{ url: login, ownerUrl: opened.url }, { url: opened.url }]) {
      const database = await openDatabase({ ...options, dataDir: "" });
      const { rows } = await database.pool.query<Record<string, string>>(
        `SELECT current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('transaction_timeout', true) AS whole,
                current_setting('server_version_num')::int >= 170000 AS "isNew"`,
      );
      expect(rows[0]?.["idle"]).toBe("30s");
      expect(rows[0]?.["whole"] ?? null).toBe(rows[0]?.["isNew"] ? "15min" : null);
      const client = await database.connect();
      const ended = new Promise((resolve) => client.once("end", resolve));
      await client.query(
        "BEGIN; SELECT FROM account FOR UPDATE; SET LOCAL idle_in_transaction_session_timeout = '50ms'",
      );
      // The server ended the idle session, so another one gets the row.
      await ended;
      expect(isDatabaseAway(await client.query("SELECT 1").catch((error: unknown) => error))).toBe(true);
      await database.pool.query("SELECT FROM account FOR UPDATE");
      await client.end().catch(() => {});
      await database.close();
    }
  });

  test("gets them although starts from several databases meet on the one role", async () => {
    const other = await createTestDatabase({ backend });
    await onServer(opened.url, "ALTER ROLE saldo_serve RESET enable_nestloop");
    const starts = Array.from({ length: 8 }, (_, index) =>
      openDatabase({ url: index % 2 === 0 ? opened.url : other.url, dataDir: "" }),
    );
    const databases = await Promise.all(starts);
    await Promise.all(databases.map((database) => database.close()));
    const { rows } = await onServer(opened.url, "SELECT rolconfig FROM pg_roles WHERE rolname = 'saldo_serve'");
    await other.drop();
    expect((rows as { rolconfig: string[] }[])[0]?.rolconfig).toContain("enable_nestloop=off");
  });
});
