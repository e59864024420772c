import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import type { Environment, MerchantPrincipal } from "../../src/identity/principal.ts";
import type { Database } from "../../src/database/database.ts";
import { InvalidCredentials, LimitExceeded, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { scaleOf } from "../../src/kernel/money.ts";
import { AmountPrecision, CurrencyUnsupported } from "../../src/kernel/transfer-errors.ts";
import { creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { type IsServed, quoteTransfer } from "../../src/merchant/transfers/quote.ts";
import { createMerchantTransferService } from "../../src/merchant/service.ts";
import { setFee } from "../../src/merchant/merchants/set-fee.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { newMerchant, orderSources } from "./merchant-accounts.ts";

let testDatabase: TestDatabase;
let database: Database;
let merchantId: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
  ({ merchantId } = await newMerchant(database));
});
afterAll(() => testDatabase.drop());

/** A client of the service alone, called by the given merchant. */
function clientOf(merchant: () => MerchantPrincipal): ReturnType<typeof createClient<typeof MerchantTransferService>> {
  const service = createMerchantTransferService({
    ...orderSources(database),
    callerOf: merchant,
    payoutAttempts: () => Promise.resolve([]),
    hasSigningBegun: () => Promise.resolve(false),
  });
  return createClient(
    MerchantTransferService,
    createRouterTransport(({ service: serve }) => serve(MerchantTransferService, service)),
  );
}

async function balancesOf(id: string): Promise<unknown[]> {
  const client = clientOf(() => ({ kind: "merchant", merchantId: id, pairId: uuidv7(), environment: "sandbox" }));
  return (await client.listBalances({})).balances;
}

/** The least of a coin is 5, and of a fee 2. */
const floorOf = ({ decimals }: { decimals: number }) => ({
  least: 5n * 10n ** BigInt(decimals),
  fee: 2n * 10n ** BigInt(decimals),
});

describe("a floor", () => {
  let own: string;
  beforeAll(async () => {
    ({ merchantId: own } = await newMerchant(database));
    await setFee(database.pool, { merchantId: own, flat: "0", rate: "0.1" });
  });
  const quote = (environment: Environment, amountText: string) =>
    quoteTransfer(
      { ...orderSources(database), floorOf },
      { merchantId: own, environment, currencyCode: "TRX", amountText },
    );
  const coins = ({ received, fee, total }: Awaited<ReturnType<typeof quote>>) =>
    [received, fee, total].map(({ units, asset }) => Number(units) / 10 ** scaleOf(asset));

  test("refuses smaller amounts in production, and names the floor", async () => {
    await expect(quote("production", "4.999999")).rejects.toThrow(
      new LimitExceeded("A transfer of TRX on tron is at least 5."),
    );
  });

  test("raises a fee below it, and leaves one above it unchanged", async () => {
    expect(coins(await quote("production", "5"))).toEqual([5, 2, 7]);
    expect(coins(await quote("production", "100"))).toEqual([100, 10, 110]);
  });

  test("does not exist in the sandbox", async () => {
    expect(coins(await quote("sandbox", "1"))).toEqual([1, 0.1, 1.1]);
  });
});

/** Quotes where production has a chain for tron only. */
function quoteFor(
  currencyCode: string,
  amountText: string,
  more: { network?: string; environment?: Environment } = {},
): ReturnType<typeof quoteTransfer> {
  const isServed: IsServed = (_currency, network, environment) => environment === "sandbox" || network === "tron";
  const sources = { database, isServed };
  return quoteTransfer(sources, { merchantId, environment: "sandbox", currencyCode, amountText, ...more });
}

describe("CalculateTransfer", () => {
  test("returns a fee of 1.5 and a total of 6.5 for 5, in both environments", async () => {
    for (const environment of ["sandbox", "production"] satisfies Environment[]) {
      const client = clientOf(() => ({ kind: "merchant", merchantId, pairId: uuidv7(), environment }));
      const { quote } = await client.calculateTransfer({ currencyCode: "USDT", amount: "5" });
      expect(quote).toMatchObject({
        currencyCode: "USDT",
        network: "ethereum",
        receivedAmount: "5",
        fee: "1.5",
        totalAmount: "6.5",
      });
    }
  });

  test("returns 16.7 and 26.7 for TRX 10 by the currency's own row", async () => {
    const client = clientOf(() => ({ kind: "merchant", merchantId, pairId: uuidv7(), environment: "sandbox" }));
    const { quote } = await client.calculateTransfer({ currencyCode: "TRX", amount: "10", network: "tron" });
    expect(quote).toMatchObject({ network: "tron", receivedAmount: "10", fee: "16.7", totalAmount: "26.7" });
  });

  test("uses a merchant's own fee at the next call", async () => {
    const { merchantId: own } = await newMerchant(database);
    const client = clientOf(() => ({ kind: "merchant", merchantId: own, pairId: uuidv7(), environment: "sandbox" }));
    await setFee(database.pool, { merchantId: own, flat: "0.5", rate: "0.01", max: "1" });
    const { quote } = await client.calculateTransfer({ currencyCode: "TRX", amount: "10" });
    expect(quote).toMatchObject({ fee: "0.6", totalAmount: "10.6" });
  });

  test("refuses every caller but a merchant", async () => {
    const client = clientOf(() => {
      throw new ConnectError("no merchant", Code.Unauthenticated, undefined, undefined, new InvalidCredentials());
    });
    for (const call of [client.calculateTransfer({ currencyCode: "TRX", amount: "1" }), client.listBalances({})]) {
      await expect(call).rejects.toMatchObject({ code: Code.Unauthenticated });
    }
  });
});

describe("ListBalances", () => {
  test("shows the caller's balances only", async () => {
    const { merchantId: own } = await newMerchant(database);
    await creditMerchant(database, { merchantId: own, currencyCode: "TRX", amountText: "1000" });
    expect(await balancesOf(own)).toMatchObject([{ currencyCode: "TRX", available: "1000", held: "0" }]);
    expect(await balancesOf(merchantId)).toEqual([]);
  });
});

describe("quoteTransfer", () => {
  test("refuses bad amounts, unknown currencies and amounts over the limit, each by its own error", async () => {
    for (const amount of ["-1", "0", "-0", "1e400", "", "five"]) {
      await expect(quoteFor("TRX", amount)).rejects.toThrow(ValidationError);
    }
    await expect(quoteFor("TRX", "0.0000001")).rejects.toThrow(AmountPrecision);
    await expect(quoteFor("TRX", "1000000000000.000001")).rejects.toThrow(LimitExceeded);
    await expect(quoteFor("XYZ", "1")).rejects.toThrow(CurrencyUnsupported);
    await expect(quoteFor("TRX", "1", { network: "ethereum" })).rejects.toThrow(CurrencyUnsupported);
  });

  test("offers in production only the networks whose chain is configured, and in the sandbox all", async () => {
    await expect(quoteFor("BTC", "1", { environment: "production" })).rejects.toThrow(CurrencyUnsupported);
    expect((await quoteFor("TRX", "1", { environment: "production" })).coin.network).toBe("tron");
    expect((await quoteFor("BTC", "1")).coin.network).toBe("bitcoin");
  });

  test("names the version of the fee schedule it was priced by", async () => {
    expect((await quoteFor("BTC", "1")).feeRowId).toBe("00000000-0000-7000-8000-00000000fee0");
  });
});
