import type { Client } from "pg";
import { backendOf } from "../../src/database/login-connections.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { isDatabaseAway, sqlState, withRetry, withTransaction } from "../../src/database/transactions.ts";
import { createTestDatabase, testBackends } from "../setup/test-database.ts";
import type { TestDatabase } from "../setup/test-database.ts";
import { until } from "../setup/own-server.ts";

const A = "00000000-0000-7000-8000-0000000000aa";
const B = "00000000-0000-7000-8000-0000000000bb";

describe.each(testBackends())("a transaction on the %s server", (backend) => {
  let opened: TestDatabase;
  let owner: Client;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    owner = await connectClient(clientConfig({ connectionString: opened.url }, "test"));
    await opened.database.pool.query("INSERT INTO account (id) VALUES ($1), ($2)", [A, B]);
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  async function posted(id: string): Promise<bigint> {
    const { rows } = await opened.database.pool.query<{ posted: bigint }>("SELECT posted FROM account WHERE id = $1", [
      id,
    ]);
    return rows[0]?.posted ?? -1n;
  }

  async function endSleeping(): Promise<boolean> {
    const { rowCount } = await owner.query(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE query = 'SELECT pg_sleep(600)' AND datname = current_database() AND state = 'active'`,
    );
    return rowCount === 1;
  }

  test("is READ COMMITTED, committed when its work returns and undone when it throws", async () => {
    const { database } = opened;
    const level = await withTransaction(database, async (client) => {
      await client.query("UPDATE account SET posted = 7 WHERE id = $1", [A]);
      return (await client.query("SHOW transaction_isolation")).rows;
    });
    expect(level).toEqual([{ transaction_isolation: "read committed" }]);
    const failing = withTransaction(database, async (client) => {
      await client.query("UPDATE account SET posted = 8 WHERE id = $1", [A]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await posted(A)).toBe(7n);
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });

  test("whose work hides a failed statement is not taken for committed", async () => {
    const hiding = withTransaction(opened.database, async (client) => {
      await client.query("SELECT 1 / 0").catch(() => undefined);
    });
    await expect(hiding).rejects.toThrow("a transaction whose work returned is committed");
  });

  test("that deadlocks is run again, and both take effect once", async () => {
    const { database } = opened;
    await database.pool.query("UPDATE account SET posted = 0");
    const met = Promise.withResolvers<void>();
    let waiting = 0;
    let runs = 0;
    const move = (first: string, second: string): Promise<void> =>
      withRetry(() =>
        withTransaction(database, async (client) => {
          runs += 1;
          // PostgreSQL has to find the deadlock before the serving role's lock time-out does.
          await client.query("SET LOCAL lock_timeout = 0");
          await client.query("UPDATE account SET posted = posted + 1 WHERE id = $1", [first]);
          waiting += 1;
          if (waiting === 2) met.resolve();
          await met.promise;
          await client.query("UPDATE account SET posted = posted + 1 WHERE id = $1", [second]);
        }),
      );
    await Promise.all([move(A, B), move(B, A)]);
    expect(runs).toBe(3);
    expect([await posted(A), await posted(B)]).toEqual([2n, 2n]);
  });

  test("that cannot be serialized is run again", async () => {
    const { database } = opened;
    await database.pool.query("UPDATE account SET posted = 0");
    let runs = 0;
    await withRetry(async () => {
      runs += 1;
      const client = await database.pool.connect();
      try {
        await client.query("BEGIN ISOLATION LEVEL SERIALIZABLE");
        await client.query("SELECT posted FROM account WHERE id = $1", [A]);
        if (runs === 1) await database.pool.query("UPDATE account SET posted = 10 WHERE id = $1", [A]);
        await client.query("UPDATE account SET posted = posted + 1 WHERE id = $1", [A]);
        await client.query("COMMIT");
      } finally {
        client.release(true);
      }
    });
    expect(runs).toBe(2);
    expect(await posted(A)).toBe(11n);
  });

  test("that waits too long for a row is not repeated but fails", async () => {
    const { database } = opened;
    await withTransaction(database, async (holder) => {
      await holder.query("SELECT FROM account WHERE id = $1 FOR UPDATE", [A]);
      const waiting = withRetry(() => database.pool.query("UPDATE account SET posted = 1 WHERE id = $1", [A]));
      await expect(waiting).rejects.toSatisfy((error) => sqlState(error) === "55P03");
    });
  });

  test("whose connection is cut fails because the database is away, and is not lost to the pool", async () => {
    const { database } = opened;
    const cut = withTransaction(database, async (client) => {
      await database.endBackend(await backendOf(client));
      await client.query("SELECT 1");
    });
    await expect(cut).rejects.toSatisfy(isDatabaseAway);
    const sleeping = database.pool.query("SELECT pg_sleep(600)");
    await Promise.all([expect(sleeping).rejects.toSatisfy(isDatabaseAway), until(endSleeping)]);
    expect(database.pool.idleCount).toBe(database.pool.totalCount);
  });
});
