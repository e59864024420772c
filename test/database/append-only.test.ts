import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "pg";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { sqlState } from "../../src/database/transactions.ts";
import { createTestDatabase, testBackends } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";

const PERMISSION_DENIED = "42501";
const RESTRICT_VIOLATION = "23001";
const ACCOUNT = "00000000-0000-7000-8000-0000000000aa";
const REQUEST = uuidv7();
/** Each append-only table with a change that its constraints would allow. */
const CHANGES = [
  ["posting", "note = 'x'"],
  ["usage_record", "cost = 0, charge = 0"],
] as const;

const INSERT_USAGE = `INSERT INTO usage_record (account_id, request_id, key_id, model, input_tokens_uncached,
    input_tokens_cached, output_tokens, input_price, output_price, cost, charge, basis, billing_day, streamed, duration_ms)
  VALUES ('${ACCOUNT}', '${REQUEST}', '${ACCOUNT}', 'demo/small', 1, 0, 1, 1, 1, 1, 1, 'exact', '2026-11-20', false, 1)`;

describe.each(testBackends())("what was posted, on the %s server,", (backend) => {
  let opened: TestDatabase;
  let owner: Client;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    owner = await connectClient(clientConfig({ connectionString: opened.url }, "test"));
    await opened.database.pool.query(INSERT_USAGE);
    await opened.database.pool.query(
      `INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
       VALUES ('${ACCOUNT}', '${REQUEST}', '${REQUEST}', 'IDR/6', '00000000-0000-7000-8000-000000000004', '${ACCOUNT}', 5, 'test')`,
    );
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  const serve = (sql: string): Promise<string | undefined> =>
    opened.database.pool.query(sql).then(() => "done", sqlState);
  const own = (sql: string): Promise<string | undefined> => owner.query(sql).then(() => "done", sqlState);

  async function partitions(): Promise<string[]> {
    const { rows } = await owner.query<{ name: string }>(
      "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'usage_record'::regclass",
    );
    return rows.map(({ name }) => name);
  }

  test.each(CHANGES)("cannot be changed in or removed from %s by the serving role", async (table, change) => {
    expect(await serve(`UPDATE ${table} SET ${change}`)).toBe(PERMISSION_DENIED);
    expect(await serve(`DELETE FROM ${table}`)).toBe(PERMISSION_DENIED);
    expect(await serve(`TRUNCATE ${table}`)).toBe(PERMISSION_DENIED);
  });

  test("cannot be written by the serving role through a partition", async () => {
    for (const partition of await partitions()) {
      expect(await serve(INSERT_USAGE.replace("usage_record", partition))).toBe(PERMISSION_DENIED);
      expect(await serve(`UPDATE ${partition} SET cost = 0`)).toBe(PERMISSION_DENIED);
      expect(await serve(`DELETE FROM ${partition}`)).toBe(PERMISSION_DENIED);
      expect(await serve(`TRUNCATE ${partition}`)).toBe(PERMISSION_DENIED);
    }
  });

  test("cannot be freed by the serving role: no trigger of it can be disabled, nor replication pretended", async () => {
    expect(await serve("ALTER TABLE posting DISABLE TRIGGER append_only")).toBe(PERMISSION_DENIED);
    expect(await serve("SET session_replication_role = replica")).toBe(PERMISSION_DENIED);
  });

  test.each(["origin", "replica"])(
    "is refused to the superuser too, with session_replication_role %s",
    async (role) => {
      await owner.query(`SET session_replication_role = ${role}`);
      try {
        for (const [table, change] of CHANGES) {
          expect(await own(`UPDATE ${table} SET ${change}`)).toBe(RESTRICT_VIOLATION);
          expect(await own(`DELETE FROM ${table}`)).toBe(RESTRICT_VIOLATION);
          expect(await own(`TRUNCATE ${table}`)).toBe(RESTRICT_VIOLATION);
        }
      } finally {
        await owner.query("RESET session_replication_role");
      }
    },
  );

  test("is safe in every partition, also in ones that the serving role has had made since", async () => {
    const before = await partitions();
    const made = await opened.database.pool.query("SELECT * FROM ensure_usage_partitions('2031-01-15', 3)");
    expect(made.rows).toEqual(
      ["01", "02", "03"].map((month) => ({ partition: `usage_record_2031_${month}`, failure: null })),
    );
    const after = await partitions();
    expect(after).toHaveLength(before.length + 3);
    await owner.query("SET session_replication_role = replica");
    try {
      for (const partition of after) expect(await own(`TRUNCATE ${partition}`)).toBe(RESTRICT_VIOLATION);
    } finally {
      await owner.query("RESET session_replication_role");
    }
    const { rows } = await owner.query<{ name: string }>(
      `SELECT c.relname || '.' || t.tgname AS name FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE t.tgname LIKE 'append_only%' AND t.tgenabled <> 'A'`,
    );
    expect(rows).toEqual([]);
  });

  test("lies in the partition of its month, and making partitions again makes none", async () => {
    const { rows } = await owner.query<{ wanted: string; found: string }>(
      `SELECT to_char(uuid_time(request_id) AT TIME ZONE 'UTC', '"usage_record_"YYYY_MM') AS wanted,
              tableoid::regclass::text AS found FROM usage_record`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.found).toBe(rows[0]?.wanted);
    const again = await opened.database.pool.query("SELECT * FROM ensure_usage_partitions('2031-01-15', 3)");
    expect(again.rows).toEqual([]);
  });
});
