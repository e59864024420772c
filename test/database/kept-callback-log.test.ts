// The database keeps the log of callbacks against every statement of a process, but for what the days of the setting let go.

import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Client } from "pg";
import { clientConfig, connectClient } from "../../src/database/connections.ts";
import { sqlState, withTransaction } from "../../src/database/transactions.ts";
import { updateCallbackSettings } from "../../src/merchant/callbacks/callback-settings.ts";
import { forgetDeliveries, LEAST_LOG_DAYS } from "../../src/callbacks/forget-deliveries.ts";
import { MERCHANT_CALLBACKS } from "../../src/merchant/callbacks/store.ts";
import { moveTransfer } from "../../src/merchant/transfers/transfer-states.ts";
import { merchantWith, orderTransfer } from "../merchant/merchant-accounts.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";

const PERMISSION_DENIED = "42501";
const RESTRICT_VIOLATION = "23001";
const DAY_MS = 86_400_000;
const OLD_DAYS = LEAST_LOG_DAYS + 1;
const now = Date.now.bind(Date);

describe.each(testBackends())("the log of callbacks, on the %s server,", (backend) => {
  let opened: TestDatabase;
  let owner: Client;
  let merchantId: string;
  beforeAll(async () => {
    opened = await createTestDatabase({ backend });
    owner = await connectClient(clientConfig({ connectionString: opened.url }, "test"));
    ({ merchantId } = await merchantWith(opened.database, { TRX: "1000" }));
    const change = { merchantId, url: "http://127.0.0.1:4000/", token: "", renewSecret: false };
    await updateCallbackSettings({ database: opened.database, allowLoopback: true }, change);
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(async () => {
    await owner.end();
    await opened.drop();
  });

  const serve = (sql: string): Promise<string | undefined> =>
    opened.database.pool.query(sql).then(() => "done", sqlState);
  const own = (sql: string): Promise<string | undefined> => owner.query(sql).then(() => "done", sqlState);

  type Facts = { readonly days: number; readonly isOpen?: boolean; readonly transferIsOpen?: boolean };

  /** A transfer whose two deliveries ended so many days ago, with an attempt each. `isOpen`: the first has not ended. */
  async function write({ days, isOpen = false, transferIsOpen = false }: Facts): Promise<string> {
    const { database } = opened;
    // The ids of events begin with their time. Their retries ended three days later.
    vi.spyOn(Date, "now").mockImplementation(() => now() - (days + 3) * DAY_MS);
    const { transferId } = (await orderTransfer(database, { merchantId })).transfer;
    const to = transferIsOpen ? "SUBMITTED" : "CANCELED";
    const hash = transferIsOpen ? { transactionHash: "0xabc" } : {};
    await withTransaction(database, (client) => moveTransfer(client, { transferId, from: ["PENDING"], to, ...hash }));
    vi.restoreAllMocks();
    const { rows } = await owner.query<{ event_id: string }>(
      `UPDATE callback_delivery SET state = 'delivered', next_attempt_at = NULL, give_up_at = clock_timestamp() - $2 * interval '1 day'
       WHERE transfer_id = $1 RETURNING event_id`,
      [transferId, days],
    );
    const facts = {
      url: "http://127.0.0.1:4000/",
      startedAt: new Date(),
      durationMs: 1,
      httpStatus: 200,
      problem: null,
    };
    for (const { event_id: eventId } of rows)
      await withTransaction(database, (client) => MERCHANT_CALLBACKS.deliveries.insertAttempt(client, eventId, facts));
    if (isOpen) await open(String(rows[0]?.event_id));
    return transferId;
  }

  async function open(eventId: string): Promise<void> {
    const again = `UPDATE callback_delivery SET state = 'pending', next_attempt_at = clock_timestamp() WHERE event_id = $1`;
    await owner.query(again, [eventId]);
  }

  /** How many deliveries and attempts a transfer has. */
  async function kept(transferId: string): Promise<readonly number[]> {
    const { rows } = await owner.query<{ deliveries: number; attempts: number }>(
      `SELECT count(DISTINCT d.event_id)::int AS deliveries, count(a.id)::int AS attempts
       FROM callback_delivery d LEFT JOIN callback_attempt a USING (event_id) WHERE d.transfer_id = $1`,
      [transferId],
    );
    return [rows[0]?.deliveries ?? -1, rows[0]?.attempts ?? -1];
  }

  test("is never changed, and none of its rows is deleted that is young, open or of an open transfer", async () => {
    const transfers = [
      await write({ days: LEAST_LOG_DAYS - 0.01 }),
      await write({ days: OLD_DAYS, isOpen: true }),
      await write({ days: OLD_DAYS, transferIsOpen: true }),
    ];
    expect(await serve("UPDATE callback_attempt SET http_status = 500")).toBe(PERMISSION_DENIED);
    expect(await own("UPDATE callback_attempt SET http_status = 500")).toBe(RESTRICT_VIOLATION);
    for (const table of ["callback_attempt", "callback_delivery"]) {
      expect(await serve(`DELETE FROM ${table}`)).toBe(PERMISSION_DENIED);
      expect(await serve(`TRUNCATE ${table} CASCADE`)).toBe(PERMISSION_DENIED);
      for (const id of transfers)
        expect(
          await own(`DELETE FROM ${table} WHERE event_id IN (SELECT event_id FROM callback_delivery
            WHERE transfer_id = '${id}')`),
        ).toBe(RESTRICT_VIOLATION);
      expect(await own(`TRUNCATE ${table} CASCADE`)).toBe(RESTRICT_VIOLATION);
    }
    for (const days of [0, -1_000, LEAST_LOG_DAYS])
      expect(await serve(`SELECT forget_callbacks(${days}, 1000)`)).toBe("done");
    for (const id of transfers) expect(await kept(id)).toEqual([2, 2]);
  });

  test("looks at no transfer whose deliveries were still tried lately", async () => {
    for (let made = 0; made < 20; made += 1) await write({ days: 299 });
    const looks = async (): Promise<number> => {
      await owner.query("SELECT pg_stat_force_next_flush()");
      const { rows } = await owner.query<{ looks: number }>(
        `SELECT (coalesce(idx_scan, 0) + coalesce(seq_scan, 0))::int AS looks FROM pg_stat_user_tables WHERE relname = 'transfer'`,
      );
      return rows[0]?.looks ?? -1;
    };
    const before = await looks();
    // Their ids are three days older than the end of their retries.
    await owner.query("SELECT forget_callbacks(300, 1000)");
    expect((await looks()) - before).toBeLessThan(10);
  });

  test("forgets what is older than was asked, with its attempts, and nothing else", async () => {
    const [old, younger] = [await write({ days: 401 }), await write({ days: 399 })];
    await forgetDeliveries(MERCHANT_CALLBACKS, opened.database.pool, 400);
    expect([await kept(old), await kept(younger)]).toEqual([
      [0, 0],
      [2, 2],
    ]);
  });

  test("forgets no more at once than was asked, the oldest first", async () => {
    const [older, old] = [await write({ days: 601 }), await write({ days: 501 })];
    const forget = `SELECT forget_callbacks(500, 3) AS count`;
    const rounds: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { rows } = await opened.database.pool.query<{ count: number }>(forget);
      rounds.push([rows[0]?.count, ...(await kept(older)), ...(await kept(old))]);
    }
    expect(rounds).toEqual([
      [3, 0, 0, 1, 1],
      [1, 0, 0, 0, 0],
      [0, 0, 0, 0, 0],
    ]);
  });

  test("leaves a delivery that is being sent again at that moment", async () => {
    const transferId = await write({ days: 701 });
    const { rows } = await owner.query<{ event_id: string }>(
      "SELECT event_id FROM callback_delivery WHERE transfer_id = $1 ORDER BY event_id",
      [transferId],
    );
    await owner.query("BEGIN");
    for (const { event_id: eventId } of rows) await open(eventId);
    await forgetDeliveries(MERCHANT_CALLBACKS, opened.database.pool, 700);
    await owner.query("COMMIT");
    await forgetDeliveries(MERCHANT_CALLBACKS, opened.database.pool, 700);
    expect(await kept(transferId)).toEqual([2, 2]);
  });
});
