import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { CurrencyUnsupported } from "../../src/kernel/transfer-errors.ts";
import { type FeeChange, findFeeRow, setFee } from "../../src/merchant/merchants/set-fee.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { newMerchant } from "./merchant-accounts.ts";

let testDatabase: TestDatabase;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());

function setFeeTo(order: Partial<FeeChange>): ReturnType<typeof setFee> {
  return setFee(database.pool, { flat: "0", rate: "0.3", ...order });
}

describe("setFee", () => {
  test("adds a version that applies from the next quote and leaves the earlier one unchanged", async () => {
    const { merchantId } = await newMerchant(database);
    const { row: first } = await setFee(database.pool, { merchantId, flat: "1", rate: "0" });
    const { row: second } = await setFee(database.pool, {
      merchantId,
      flat: "2.50",
      rate: "0.010",
      min: "3",
      max: "1e1",
    });
    expect([first.version, second.version]).toEqual([1, 2]);
    expect(await findFeeRow(database, { merchantId, currencyCode: "TRX" })).toEqual(second);
    const { rows } = await database.pool.query(
      "SELECT version, flat, rate, min, max FROM fee_schedule WHERE merchant_id = $1::uuid ORDER BY version",
      [merchantId],
    );
    expect(rows).toEqual([
      { version: 1, flat: "1", rate: "0", min: null, max: null },
      { version: 2, flat: "2.5", rate: "0.01", min: "3", max: "10" },
    ]);
  });

  test("prices each merchant and currency by the most specific scope", async () => {
    const { merchantId } = await newMerchant(database);
    const { merchantId: otherId } = await newMerchant(database);
    const { row: own } = await setFee(database.pool, { merchantId, flat: "3", rate: "0" });
    const { row: ownTrx } = await setFee(database.pool, { merchantId, currencyCode: "TRX", flat: "4", rate: "0" });
    const { row: ltc } = await setFee(database.pool, { currencyCode: "LTC", flat: "5", rate: "0" });
    const idFor = async (merchant: string, currencyCode: string): Promise<string> =>
      (await findFeeRow(database, { merchantId: merchant, currencyCode })).id;
    expect(await idFor(merchantId, "TRX")).toBe(ownTrx.id);
    expect(await idFor(merchantId, "LTC")).toBe(own.id);
    expect(await idFor(otherId, "LTC")).toBe(ltc.id);
    expect(await idFor(otherId, "TRX")).toBe("00000000-0000-7000-8000-00000000fee1");
    expect(await idFor(otherId, "BTC")).toBe("00000000-0000-7000-8000-00000000fee0");
  });

  test("adds nothing where the terms are in force already, also when they are set at the same time", async () => {
    const { merchantId } = await newMerchant(database);
    const set = (flat: string) => setFee(database.pool, { merchantId, flat, rate: "0.1" });
    const done = await Promise.all([set("1"), set("1.0"), set("1"), set("1.00")]);
    expect(done.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(done.map(({ row }) => row.id)).size).toBe(1);
    expect(await set("2")).toMatchObject({ isNew: true, row: { version: 2 } });
    // Terms that were in force once are not in force now.
    expect(await set("1")).toMatchObject({ isNew: true, row: { version: 3 } });
    expect(await setFee(database.pool, { merchantId, flat: "1", rate: "0.1", min: "1" })).toMatchObject({
      isNew: true,
    });
  });

  test("gives concurrent changes of one scope different versions", async () => {
    const { merchantId } = await newMerchant(database);
    const rows = await Promise.all(
      ["1", "2", "3"].map((flat) => setFee(database.pool, { merchantId, flat, rate: "0" })),
    );
    expect(new Set(rows.map(({ row }) => row.version))).toEqual(new Set([1, 2, 3]));
  });

  test("refuses terms that are not decimals, too large, contradictory or for an unknown merchant", async () => {
    await expect(setFeeTo({ rate: "-0.1" })).rejects.toThrow(ValidationError);
    await expect(setFeeTo({ rate: "100.1" })).rejects.toThrow(ValidationError);
    await expect(setFeeTo({ flat: "many" })).rejects.toThrow(ValidationError);
    await expect(setFeeTo({ flat: "0.0000000000000000001" })).rejects.toThrow(ValidationError);
    await expect(setFeeTo({ flat: "1000000000001" })).rejects.toThrow(ValidationError);
    await expect(setFeeTo({ min: "2", max: "1" })).rejects.toThrow(ValidationError);
    await expect(setFeeTo({ currencyCode: "__proto__" })).rejects.toThrow(CurrencyUnsupported);
    await expect(setFeeTo({ merchantId: uuidv7() })).rejects.toThrow(NotFound);
    await expect(setFeeTo({ merchantId: "merchant" })).rejects.toThrow(NotFound);
  });
});
