import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { LimitExceeded, NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { AmountPrecision, CurrencyUnsupported } from "../../src/kernel/transfer-errors.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { creditMerchant, listBalances, type MerchantCredit } from "../../src/merchant/merchants/merchants.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { newMerchant } from "./merchant-accounts.ts";

type Line = { asset: string; debit: string; credit: string; amount: string; reason: string; note: string | null };

describe.each(testBackends())("a merchant's funds on the %s server", (backend) => {
  let testDatabase: TestDatabase;
  let database: Database;
  let merchantId: string;

  beforeAll(async () => {
    testDatabase = await createTestDatabase({ backend });
    database = testDatabase.database;
    ({ merchantId } = await newMerchant(database));
  });
  afterAll(() => testDatabase.drop());

  const credit = (order: Partial<MerchantCredit>): ReturnType<typeof creditMerchant> =>
    creditMerchant(database, { merchantId, currencyCode: "TRX", amountText: "1", ...order });

  test("grow by a posting from the clearing account to the fund", async () => {
    const { merchantId: own } = await newMerchant(database);
    const { postingId, available } = await credit({ merchantId: own, amountText: "1000.5", reason: "first deposit" });
    expect(available).toBe("1000.5");
    const { rows } = await database.pool.query<Line & { fund: string }>(
      `SELECT p.asset, p.debit, p.credit, p.amount, p.reason, p.note, f.id AS fund
       FROM posting p JOIN merchant_fund f ON f.id = p.credit WHERE p.id = $1::uuid AND f.merchant_id = $2::uuid`,
      [postingId, own],
    );
    expect(rows).toEqual([
      {
        asset: "TRX/6",
        debit: systemAccounts.sandbox,
        credit: rows[0]?.fund,
        amount: "1000500000",
        reason: "merchant_credit",
        note: "first deposit",
        fund: rows[0]?.fund,
      },
    ]);
    expect(await listBalances(database, own)).toEqual([{ currencyCode: "TRX", available: "1000.5", held: "0" }]);
  });

  test("keep every one of many credits that arrive at the same time, also the ones that open the fund", async () => {
    const { merchantId: own } = await newMerchant(database);
    const credits = await Promise.all(
      Array.from({ length: 20 }, () =>
        credit({ merchantId: own, currencyCode: "ETH", amountText: "0.000000000000000001" }),
      ),
    );
    expect(new Set(credits.map(({ available }) => available)).size).toBe(20);
    expect(await listBalances(database, own)).toEqual([
      { currencyCode: "ETH", available: "0.00000000000000002", held: "0" },
    ]);
    const { rows } = await database.pool.query<{ equal: boolean }>(
      `SELECT f.posted = (SELECT sum(amount) FROM posting p WHERE p.credit = f.id) AS equal
       FROM merchant_fund f WHERE merchant_id = $1::uuid`,
      [own],
    );
    expect(rows).toEqual([{ equal: true }]);
  });

  test("are kept by the scale of the network and shown per currency", async () => {
    const { merchantId: own } = await newMerchant(database);
    await credit({ merchantId: own, currencyCode: "USDT", amountText: "1.000001" });
    await credit({ merchantId: own, currencyCode: "USDT", amountText: "0.000000000000000001", network: "bsc" });
    await credit({ merchantId: own, currencyCode: "BTC", amountText: "21000000" });
    const { rows } = await database.pool.query<{ asset: string }>(
      "SELECT asset FROM merchant_fund WHERE merchant_id = $1::uuid ORDER BY asset",
      [own],
    );
    expect(rows.map(({ asset }) => asset)).toEqual(["BTC/8", "USDT/18", "USDT/6"]);
    expect(await listBalances(database, own)).toEqual([
      { currencyCode: "BTC", available: "21000000", held: "0" },
      { currencyCode: "USDT", available: "1.000001000000000001", held: "0" },
    ]);
  });

  test("of an unknown merchant are empty, and cannot be credited", async () => {
    expect(await listBalances(database, uuidv7())).toEqual([]);
    await expect(credit({ merchantId: uuidv7() })).rejects.toThrow(NotFound);
    await expect(credit({ merchantId: "merchant" })).rejects.toThrow(NotFound);
  });

  test("do not change by a refused credit", async () => {
    const { merchantId: own } = await newMerchant(database);
    const refused = async (order: Partial<MerchantCredit>, error: new (...args: never[]) => Error): Promise<void> => {
      await expect(credit({ merchantId: own, ...order })).rejects.toThrow(error);
    };
    await refused({ amountText: "0" }, ValidationError);
    await refused({ amountText: "-1" }, ValidationError);
    await refused({ amountText: "0.0000001" }, AmountPrecision);
    await refused({ amountText: "1000000000001" }, LimitExceeded);
    await refused({ currencyCode: "XYZ" }, CurrencyUnsupported);
    await refused({ network: "bsc" }, CurrencyUnsupported);
    expect(await listBalances(database, own)).toEqual([]);
  });
});
