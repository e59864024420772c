// Reads with a bound of their own, shorter or longer than what the pool allows the rest.

import type { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readWithin } from "../../src/database/bounded-read.ts";
import { openPool } from "../../src/database/login-connections.ts";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const POOL_BOUND_MS = 300;

let opened: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  opened = await createTestDatabase();
  pool = openPool({ connectionString: opened.url, query_timeout: POOL_BOUND_MS }, 3);
});
afterAll(async () => {
  await pool.end();
  await opened.drop();
});

test("a read may take longer than the pool allows other statements", async () => {
  await expect(pool.query("SELECT pg_sleep($1::float8)", [(2 * POOL_BOUND_MS) / 1_000])).rejects.toThrow(/timeout/);
  const rows = await readWithin(pool, 20 * POOL_BOUND_MS, (query) =>
    query("SELECT 7 AS answer FROM pg_sleep($1::float8)", [(2 * POOL_BOUND_MS) / 1_000]),
  );
  expect(rows).toEqual([{ answer: 7 }]);
});

test("a read that takes longer than its bound is ended by the server, and the connection is whole", async () => {
  await expect(readWithin(pool, 50, (query) => query("SELECT pg_sleep(60)"))).rejects.toBeInstanceOf(UpstreamBusy);
  const { rows } = await pool.query(
    `SELECT count(*)::int AS running FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid()`,
  );
  expect(rows).toEqual([{ running: 0 }]);
});
