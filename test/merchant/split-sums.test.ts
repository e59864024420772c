// The approval threshold is per transfer. A sum that is split into many below it is bounded by the daily limit, which
// every production merchant has for every currency.

import { afterAll, beforeAll, expect, test } from "vitest";
import { LimitExceeded } from "../../src/kernel/errors.ts";
import { coins } from "../../src/merchant/chains/currencies.ts";
import { listLimits } from "../../src/merchant/merchants/limits.ts";
import { creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { merchantWith, orderTransfer } from "./merchant-accounts.ts";

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
});
afterAll(() => testDatabase.drop());

test("a sum that is split below the approval threshold is sent up to the day's limit, and no further", async () => {
  const { database } = testDatabase;
  const environment = "production";
  const { merchantId } = await merchantWith(database, {}, environment);
  await creditMerchant(database, { merchantId, currencyCode: "USDT", amountText: "100000" });
  const order = { merchantId, environment, currencyCode: "USDT", amountText: "1000" } as const;
  const statuses: string[] = [];
  for (let placed = 0; placed < 50; placed += 1) {
    statuses.push((await orderTransfer(database, order)).transfer.status);
  }
  expect(new Set(statuses)).toEqual(new Set(["PENDING"]));
  await expect(orderTransfer(database, { ...order, amountText: "1" })).rejects.toThrow(LimitExceeded);
});

test("a production merchant has a daily limit for every currency", async () => {
  const { merchantId } = await merchantWith(testDatabase.database, {}, "production");
  const limits = await listLimits(testDatabase.database, merchantId);
  const limited = limits.filter(({ daily }) => daily !== null).map(({ currencyCode }) => currencyCode);
  expect(new Set(limited)).toEqual(new Set(coins.map(({ currencyCode }) => currencyCode)));
});
