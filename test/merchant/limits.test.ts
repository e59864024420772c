import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { LimitExceeded, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type LimitChange, listLimits, setLimits } from "../../src/merchant/merchants/limits.ts";
import { creditMerchant, listBalances } from "../../src/merchant/merchants/merchants.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { merchantWith, orderTransfer } from "./merchant-accounts.ts";

const WAITING = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const reasonsOf = (outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));

describe.each(testBackends())("an order with limits on the %s server", (backend) => {
  let testDatabase: TestDatabase;
  let database: Database;
  /** Another process that serves the same merchants. */
  let otherNode: Database;
  /** Sees what the sessions of others wait for. */
  let owner: Client;
  beforeAll(async () => {
    testDatabase = await createTestDatabase({ backend });
    database = testDatabase.database;
    otherNode = await openDatabase({ url: testDatabase.url, dataDir: "" });
    owner = new Client(testDatabase.url);
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await otherNode.close();
    await testDatabase.drop();
  });

  const trxOf = async (merchantId: string) => (await listBalances(database, merchantId))[0];
  const limit = (merchantId: string, limits: Partial<LimitChange>) =>
    withTransaction(database, (client) =>
      setLimits(client, { currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "", ...limits, merchantId }),
    );

  test("never exceeds a day's, however many orders come at once, and starts again on the next day", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "10000" });
    await limit(merchantId, { daily: "17" });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => orderTransfer(i % 2 === 0 ? database : otherNode, { merchantId })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    const refusal = await orderTransfer(database, { merchantId }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: "limit_exceeded",
      message: "This merchant may order 17 TRX a day, of which 2 are left today.",
    });
    await database.pool.query("UPDATE merchant_limit SET used_day = used_day - 1 WHERE merchant_id = $1::uuid", [
      merchantId,
    ]);
    await orderTransfer(database, { merchantId });
    expect(await listLimits(database, merchantId)).toMatchObject([{ daily: "17", usedToday: "5" }]);
  });

  test("never exceeds a day's over all networks, of which each has a fund and a lock of its own", async () => {
    const { merchantId } = await merchantWith(database, { USDT: "1000" });
    await creditMerchant(database, { merchantId, currencyCode: "USDT", amountText: "1000", network: "bsc" });
    await limit(merchantId, { currencyCode: "USDT", daily: "7" });
    const order = (address: string) => orderTransfer(database, { merchantId, currencyCode: "USDT", address });
    const outcomes = await withTransaction(otherNode, async (client) => {
      await client.query("SELECT FROM merchant_limit WHERE merchant_id = $1::uuid FOR NO KEY UPDATE", [merchantId]);
      const asked = Promise.allSettled([order("bsc:receiver"), order("ethereum:receiver")]);
      // Both have come to the limit and neither has counted.
      await expect.poll(async () => (await owner.query(WAITING)).rowCount).toBe(2);
      return { asked };
    });
    const settled = await outcomes.asked;
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(reasonsOf(settled)).toEqual([expect.any(LimitExceeded)]);
    expect(await listLimits(database, merchantId)).toMatchObject([{ usedToday: "5" }]);
  });

  test("waits for approval above a threshold, and not at it", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "100" });
    await limit(merchantId, { approvalAbove: "5" });
    expect((await orderTransfer(database, { merchantId })).transfer).toMatchObject({ status: "PENDING" });
    const { transfer } = await orderTransfer(database, { merchantId, amountText: "5.000001" });
    expect(transfer).toMatchObject({
      status: "WAITING",
      awaitsApproval: true,
      reason: expect.stringContaining("approval"),
    });
    expect(await trxOf(merchantId)).toMatchObject({ held: "43.400001" });
  });

  test("refuses limits that are not amounts", async () => {
    const { merchantId } = await merchantWith(database, {});
    for (const daily of ["0", "-1", "many", "1e41", "1000000000001"]) {
      await expect(limit(merchantId, { daily })).rejects.toThrow(ValidationError);
    }
    await expect(limit(uuidv7(), { daily: "1" })).rejects.toThrow("There is no such merchant.");
  });
});
