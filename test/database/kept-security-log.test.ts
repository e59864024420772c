// The database keeps the lines of the security log against every statement of a process.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "pg";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { LEAST_SECURITY_LOG_DAYS, removeExpired } from "../../src/identity/expired-rows.ts";
import { uuidv7, uuidv7Floor } from "../../src/kernel/ids.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";

const PERMISSION_DENIED = "42501";
const RESTRICT_VIOLATION = "23001";
const DAY_MS = 86_400_000;

describe.each(testBackends())("the security log, on the %s server,", (backend) => {
  let opened: TestDatabase;
  let owner: Client;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    owner = await connectClient(clientConfig({ connectionString: opened.url }, "test"));
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  const serve = (sql: string): Promise<string | undefined> =>
    opened.database.pool.query(sql).then(() => "done", sqlState);
  const own = (sql: string): Promise<string | undefined> => owner.query(sql).then(() => "done", sqlState);

  /** A line that was written so many days ago. */
  async function write(days: number): Promise<string> {
    const id = days === 0 ? uuidv7() : uuidv7Floor(Date.now() - days * DAY_MS);
    const line = `INSERT INTO auth.security_event (id, kind, outcome) VALUES ($1, 'sign_in', 'refused')`;
    await opened.database.pool.query(line, [id]);
    return id;
  }

  async function kept(): Promise<string[]> {
    const { rows } = await owner.query<{ id: string }>("SELECT id FROM auth.security_event ORDER BY id");
    return rows.map(({ id }) => id);
  }

  test("is never changed, and no line of the last days is removed", async () => {
    const ids = [await write(LEAST_SECURITY_LOG_DAYS - 0.01), await write(0)];
    for (const sql of ["UPDATE auth.security_event SET outcome = 'succeeded'", "DELETE FROM auth.security_event"]) {
      expect(await serve(sql)).toBe(PERMISSION_DENIED);
      expect(await own(sql)).toBe(RESTRICT_VIOLATION);
    }
    expect(await serve("TRUNCATE auth.security_event")).toBe(PERMISSION_DENIED);
    expect(await own("TRUNCATE auth.security_event")).toBe(RESTRICT_VIOLATION);
    for (const days of [0, -1_000, LEAST_SECURITY_LOG_DAYS])
      expect(await serve(`SELECT auth.forget_security_events(${days}, 1000)`)).toBe("done");
    expect(await kept()).toEqual(ids);
  });

  test("forgets what is older than was asked, and nothing else", async () => {
    const before = await kept();
    const [old, younger] = [await write(31), await write(29)];
    await removeExpired(opened.database.pool, { securityLogDays: 30, unverifiedDays: 7 });
    expect(await kept()).toEqual([younger, ...before]);
    expect(await kept()).not.toContain(old);
  });
});
