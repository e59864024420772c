// The database keeps the log of what was posted to webhooks against every statement of a process, but for what the days of the setting
// let go.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "pg";
import { forgetAlertsTick } from "../../src/billing/jobs/alerts.ts";
import { listAlertDeliveries, resendAlert, setWebhook } from "../../src/billing/alerts/account-webhook.ts";
import { LEAST_LOG_DAYS } from "../../src/callbacks/forget-deliveries.ts";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { sqlState, withTransaction } from "../../src/database/transactions.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";

const PERMISSION_DENIED = "42501";
const RESTRICT_VIOLATION = "23001";
const OLD_DAYS = LEAST_LOG_DAYS + 1;
const RETRIED_FOR_DAYS = 3;

// The first 48 bits of an event's id are its time.
const WRITE = `
WITH event AS (
  INSERT INTO alert_event (id, account_id, type, crossing, data, created_at)
  SELECT overlay(new_uuidv7()::text PLACING left(uuid_floor(at)::text, 13) FROM 1 FOR 13)::uuid, $1, 'balance.low',
    new_uuidv7()::text, '{"threshold": "2", "balance": "1"}', at
  FROM (SELECT clock_timestamp() - $2 * interval '1 day' - interval '${RETRIED_FOR_DAYS} days' AS at) v RETURNING *
)
INSERT INTO webhook_delivery (event_id, event_at, account_id, state, attempts, next_attempt_at, give_up_at)
SELECT id, created_at, account_id, $3, 1, CASE WHEN $3 = 'pending' THEN clock_timestamp() + interval '1 hour' END,
  created_at + interval '${RETRIED_FOR_DAYS} days'
FROM event RETURNING event_id AS id`;
const WRITE_ATTEMPT = `
INSERT INTO webhook_attempt (id, event_id, url, started_at, duration_ms, http_status)
VALUES (new_uuidv7(), $1, 'https://example.com/', clock_timestamp(), 1, 500)`;

describe.each(testBackends())("the log of webhooks, on the %s server,", (backend) => {
  let opened: TestDatabase;
  let owner: Client;
  let accountId: string;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    owner = await connectClient(clientConfig({ connectionString: opened.url }, "test"));
    accountId = uuidv7();
    await withTransaction(opened.database, (client) => openAccount(client, accountId));
    const rules = { environment: "production", allowLoopback: false } as const;
    await setWebhook(opened.database, { accountId, url: "https://example.com/", renewSecret: false, rules });
  });
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  const serve = (sql: string): Promise<string | undefined> =>
    opened.database.pool.query(sql).then(() => "done", sqlState);
  const own = (sql: string): Promise<string | undefined> => owner.query(sql).then(() => "done", sqlState);
  const forget = async (days: number): Promise<void> => {
    await forgetAlertsTick(opened.database.pool, days).run(new AbortController().signal);
  };

  /** A delivery with an attempt, whose retries ended so many days ago. */
  async function write(days: number, state: "pending" | "delivered" | "failed"): Promise<string> {
    const { rows } = await owner.query<{ id: string }>(WRITE, [accountId, days, state]);
    const id = String(rows[0]?.id);
    await owner.query(WRITE_ATTEMPT, [id]);
    return id;
  }

  /** How many events, deliveries and attempts an alert has. */
  async function kept(id: string): Promise<readonly unknown[]> {
    const { rows } = await owner.query<{ counts: unknown[] }>(
      `SELECT ARRAY[(SELECT count(*) FROM alert_event WHERE id = $1), (SELECT count(*) FROM webhook_delivery WHERE event_id = $1),
         (SELECT count(*) FROM webhook_attempt WHERE event_id = $1)]::int[] AS counts`,
      [id],
    );
    return rows[0]?.counts ?? [];
  }

  test("is never changed, and none of its rows is deleted that is young or open", async () => {
    const rows = [
      await write(LEAST_LOG_DAYS - 0.01, "delivered"),
      await write(LEAST_LOG_DAYS - 0.01, "failed"),
      await write(OLD_DAYS, "pending"),
    ];
    expect(await serve("UPDATE webhook_attempt SET http_status = 200")).toBe(PERMISSION_DENIED);
    expect(await own("UPDATE webhook_attempt SET http_status = 200")).toBe(RESTRICT_VIOLATION);
    for (const table of ["webhook_attempt", "webhook_delivery"]) {
      expect(await serve(`DELETE FROM ${table}`)).toBe(PERMISSION_DENIED);
      expect(await serve(`TRUNCATE ${table} CASCADE`)).toBe(PERMISSION_DENIED);
      for (const id of rows)
        expect(await own(`DELETE FROM ${table} WHERE event_id = '${id}'`)).toBe(RESTRICT_VIOLATION);
      expect(await own(`TRUNCATE ${table} CASCADE`)).toBe(RESTRICT_VIOLATION);
    }
    for (const days of [0, -1_000, LEAST_LOG_DAYS])
      expect(await serve(`SELECT forget_webhooks(${days}, 1000)`)).toBe("done");
    for (const id of rows) expect(await kept(id)).toEqual([1, 1, 1]);
  });

  test("forgets what has ended and is older than was asked, with its attempts, and no alert itself", async () => {
    const [delivered, failed] = [await write(401, "delivered"), await write(401, "failed")];
    const [younger, open] = [await write(399, "delivered"), await write(401, "pending")];
    await forget(400);
    for (const id of [delivered, failed]) expect(await kept(id)).toEqual([1, 0, 0]);
    for (const id of [younger, open]) expect(await kept(id)).toEqual([1, 1, 1]);
    const page = { accountId, pageSize: 100, pageToken: "" };
    const shown = (await listAlertDeliveries(opened.database, page)).items.map(({ eventId }) => eventId);
    expect(shown).toEqual(expect.arrayContaining([younger, open]));
    expect(shown).not.toContain(delivered);
    await expect(resendAlert(opened.database, { accountId, eventId: failed })).rejects.toThrow("no such delivery");
  });

  test("forgets no more at once than was asked, the oldest first", async () => {
    const ids = [await write(603, "failed"), await write(602, "delivered"), await write(601, "failed")];
    const rounds: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { rows } = await opened.database.pool.query<{ count: number }>("SELECT forget_webhooks(500, 2) AS count");
      const left: unknown[] = [];
      for (const id of ids) left.push((await kept(id))[1]);
      rounds.push([rows[0]?.count, ...left]);
    }
    expect(rounds).toEqual([
      [2, 0, 0, 1],
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });

  test("leaves a delivery that is being sent again at that moment", async () => {
    const id = await write(701, "failed");
    await owner.query("BEGIN");
    await owner.query(
      "UPDATE webhook_delivery SET state = 'pending', next_attempt_at = clock_timestamp() WHERE event_id = $1",
      [id],
    );
    await forget(700);
    await owner.query("COMMIT");
    await forget(700);
    expect(await kept(id)).toEqual([1, 1, 1]);
  });
});
