// Checks that stop an order in its own transaction, whatever was decided before it began.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { InvalidCredentials, LimitExceeded } from "../../src/kernel/errors.ts";
import { issuePair, revokePair } from "../../src/merchant/merchants/credentials.ts";
import { createTransfer } from "../../src/merchant/transfers/create-transfer.ts";
import { guardOrder } from "../../src/merchant/transfers/order-guards.ts";
import { onServer } from "../setup/test-servers.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { merchantWith, orderOf, orderSources } from "./merchant-accounts.ts";

let opened: TestDatabase;
let database: Database;
beforeAll(async () => {
  opened = await createTestDatabase();
  ({ database } = opened);
});
afterAll(() => opened.drop());

test("an order of a pair that was revoked after its authentication is refused, and holds nothing", async () => {
  const { merchantId } = await merchantWith(database, { TRX: "1000" });
  const { pairId } = await issuePair(database.pool, merchantId);
  const sources = orderSources(database);
  expect((await createTransfer(sources, orderOf({ merchantId, pairId }))).isReplayed).toBe(false);
  await revokePair(database, pairId);
  await expect(createTransfer(sources, orderOf({ merchantId, pairId }))).rejects.toThrow(InvalidCredentials);
  const { rows } = await database.pool.query("SELECT held::text FROM merchant_fund WHERE merchant_id = $1", [
    merchantId,
  ]);
  expect(rows).toEqual([{ held: "21700000" }]);
});

test("a revocation returns only when the orders that it did not stop are decided", async () => {
  const { merchantId } = await merchantWith(database, {});
  const { pairId } = await issuePair(database.pool, merchantId);
  const steps: string[] = [];
  const guarded = Promise.withResolvers<void>();
  const decided = Promise.withResolvers<void>();
  const ordering = withTransaction(database, async (client) => {
    await guardOrder(client, { merchantId, environment: "sandbox", pairId }, undefined);
    guarded.resolve();
    await decided.promise;
    steps.push("ordered");
  });
  await guarded.promise;
  const revoking = revokePair(database, pairId).then(() => steps.push("revoked"));
  await expect
    .poll(async () => {
      const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      return (await onServer(opened.url, waiting)).rowCount;
    })
    .toBe(1);
  decided.resolve();
  await Promise.all([ordering, revoking]);
  expect(steps).toEqual(["ordered", "revoked"]);
});

test("a sandbox merchant has a limit of orders in 24 hours; a production one has none", async () => {
  const sandbox = await merchantWith(database, { TRX: "1000" });
  const sources = { ...orderSources(database), sandboxOrdersADay: 3 };
  const order = async (merchantId: string, environment: "sandbox" | "production") =>
    createTransfer(sources, orderOf({ merchantId, environment }));
  const first = orderOf(sandbox);
  await createTransfer(sources, first);
  await order(sandbox.merchantId, "sandbox");
  await order(sandbox.merchantId, "sandbox");
  await expect(order(sandbox.merchantId, "sandbox")).rejects.toThrow(LimitExceeded);
  // A repeated order is none.
  expect((await createTransfer(sources, first)).isReplayed).toBe(true);
  const production = await merchantWith(database, { TRX: "1000" }, "production");
  for (let i = 0; i < 4; i += 1) await order(production.merchantId, "production");
});
