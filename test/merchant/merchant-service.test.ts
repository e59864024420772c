import { type Client, Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Environment as ProtoEnvironment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { PayoutAttemptState, TransferAccount } from "#gen/saldo/merchant/v1/statement_pb.ts";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { DomainError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { createPairVerifier, MAX_WORKING_PAIRS } from "../../src/merchant/merchants/credentials.ts";
import { creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { createMerchantService } from "../../src/merchant/merchant-service.ts";
import { createMerchantTransferService, type MerchantTransferServiceSources } from "../../src/merchant/service.ts";
import { moveTransfer } from "../../src/merchant/transfers/transfer-states.ts";
import { setLimits } from "../../src/operator/commands/transfers.ts";
import { listActions } from "../../src/operator/audit-log/operator-actions.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { orderSources } from "./merchant-accounts.ts";

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = testDatabase.database;
});
afterAll(() => testDatabase.drop());

const OPERATOR = "ani@saldo.example";
type MerchantClient = Client<typeof MerchantService> & Client<typeof MerchantTransferService>;

/** A client of the services of merchants alone, which acts for an account; its errors carry our codes. */
function clientOf(accountId: string, more: Partial<MerchantTransferServiceSources> = {}): MerchantClient {
  const sources = { ...orderSources(database), ...more };
  const merchants = createMerchantService({
    ...sources,
    accountOf: () => accountId,
    memberOf: () => null,
    requireRole: async () => {},
  });
  const transfers = createMerchantTransferService({
    callerOf: () => ({ kind: "account", accountId }),
    hasSigningBegun: () => Promise.resolve(false),
    payoutAttempts: () => Promise.resolve([]),
    ...sources,
  });
  const telling = async <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      if (error instanceof DomainError) throw new ConnectError(error.code, Code.Unknown);
      throw error;
    });
  const transport = createRouterTransport(
    (router) => router.service(MerchantService, merchants).service(MerchantTransferService, transfers),
    { router: { interceptors: [(next) => (req) => telling(next(req))] } },
  );
  return { ...createClient(MerchantService, transport), ...createClient(MerchantTransferService, transport) };
}

async function newAccount(): Promise<string> {
  const accountId = uuidv7();
  await withTransaction(database, (client) => openAccount(client, accountId));
  return accountId;
}

/** An account with a sandbox merchant that has 100 TRX. */
async function newOwner(): Promise<{ accountId: string; client: MerchantClient; merchantId: string }> {
  const accountId = await newAccount();
  const client = clientOf(accountId);
  const { merchant } = await client.createMerchant({ environment: ProtoEnvironment.SANDBOX });
  const merchantId = merchant?.id ?? "";
  await client.useFaucet({ merchantId, currencyCode: "TRX", amount: "100" });
  return { accountId, client, merchantId };
}

const orderOfTrx = { currencyCode: "TRX", amount: "5", address: "tron:receiver" };

describe("a merchant of an account", () => {
  test("is made once per environment, with a pair that works", async () => {
    const client = clientOf(await newAccount());
    const { merchant, credential, apiKey, secretKey } = await client.createMerchant({
      environment: ProtoEnvironment.PRODUCTION,
    });
    expect(await createPairVerifier(database)({ apiKey, secretKey })).toMatchObject({ merchantId: merchant?.id });
    expect(apiKey.startsWith(credential?.keyPrefix ?? "?")).toBe(true);
    expect((await client.listMerchants({})).merchants).toEqual([merchant]);
    const again = Promise.all([0, 1].map(() => client.createMerchant({ environment: ProtoEnvironment.PRODUCTION })));
    await expect(again).rejects.toThrow("limit_exceeded");
    const sandboxes = await Promise.allSettled(
      [0, 1, 2].map(() => client.createMerchant({ environment: ProtoEnvironment.SANDBOX })),
    );
    expect(sandboxes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(client.createMerchant({ environment: 17 as ProtoEnvironment })).rejects.toThrow("validation_error");
  });

  test("is not made in production without a chain", async () => {
    const client = clientOf(await newAccount(), { isServed: (_currency, _network, where) => where === "sandbox" });
    const make = client.createMerchant({ environment: ProtoEnvironment.PRODUCTION });
    await expect(make).rejects.toThrow("currency_unsupported");
  });

  test("has several pairs, shown once each, up to a bound, and revokes one by one", async () => {
    const { client, merchantId } = await newOwner();
    const { credential, apiKey, secretKey } = await client.createCredential({ merchantId });
    for (let more = 2; more < MAX_WORKING_PAIRS; more += 1) await client.createCredential({ merchantId });
    await expect(client.createCredential({ merchantId })).rejects.toThrow("limit_exceeded");
    const verify = createPairVerifier(database);
    expect(await verify({ apiKey, secretKey })).toMatchObject({ merchantId });
    const { credential: revoked } = await client.revokeCredential({ merchantId, credentialId: credential?.id ?? "" });
    expect(revoked?.revokedAt).toBeDefined();
    expect(await createPairVerifier(database)({ apiKey, secretKey })).toBeNull();
    const { credentials } = await client.listCredentials({ merchantId });
    expect(credentials.filter(({ revokedAt }) => revokedAt === undefined)).toHaveLength(MAX_WORKING_PAIRS - 1);
    expect(credentials.map(({ keyPrefix }) => keyPrefix)).not.toContain(apiKey);
    await client.createCredential({ merchantId });
  });

  test("gets coins from the faucet within bounds, in the sandbox only", async () => {
    const { client, merchantId } = await newOwner();
    const use = async (amount: string, currencyCode = "TRX") =>
      (await client.useFaucet({ merchantId, currencyCode, amount })).balance?.available;
    expect(await use("10000")).toBe("10100");
    await expect(use("10000.000001")).rejects.toThrow("limit_exceeded");
    await expect(use("0")).rejects.toThrow("validation_error");
    await expect(use("1", "XYZ")).rejects.toThrow("currency_unsupported");
    await creditMerchant(database, { merchantId, currencyCode: "TRX", amountText: "989900" });
    await expect(use("0.000001")).rejects.toThrow("limit_exceeded");
    expect((await client.listBalances({ merchantId })).balances).toMatchObject([{ available: "1000000" }]);
    const { merchant } = await client.createMerchant({ environment: ProtoEnvironment.PRODUCTION });
    const real = client.useFaucet({ merchantId: merchant?.id ?? "", currencyCode: "TRX", amount: "1" });
    await expect(real).rejects.toThrow("not_found");
  });

  test("orders, reads and cancels from the dashboard as with a pair", async () => {
    const { client, merchantId } = await newOwner();
    const quote = (await client.calculateTransfer({ merchantId, currencyCode: "TRX", amount: "5" })).quote;
    expect(quote).toMatchObject({ receivedAmount: "5", fee: "16.7", totalAmount: "21.7" });
    const asked = { merchantId, currencyCode: "TRX", amount: "5" };
    await client.calculateTransfer({ ...asked, address: orderOfTrx.address });
    // Where the chain is left to the address, the price is that of the order.
    const usdt = { merchantId, currencyCode: "USDT", amount: "5" };
    const priced = async (address: string) => (await client.calculateTransfer({ ...usdt, address })).quote?.network;
    expect([await priced(""), await priced("tron:receiver")]).toEqual(["ethereum", "tron"]);
    await expect(client.calculateTransfer({ ...asked, address: "not an address" })).rejects.toThrow("address_invalid");
    const order = { merchantId, ...orderOfTrx, externalId: "from the dashboard" };
    const first = await client.createTransfer(order);
    expect(first).toMatchObject({ replayed: false, transfer: { status: "PENDING", history: [{ status: "PENDING" }] } });
    const again = await client.createTransfer(order);
    expect([again.replayed, again.transfer?.id]).toEqual([true, first.transfer?.id]);
    expect((await client.listBalances({ merchantId })).balances).toMatchObject([{ held: "21.7" }]);
    const transferId = first.transfer?.id ?? "";
    const canceled = await client.cancelTransfer({ id: transferId });
    expect(canceled.transfer?.history.map(({ status }) => status)).toEqual(["PENDING", "CANCELED"]);
    expect((await client.listBalances({ merchantId })).balances).toMatchObject([{ held: "0" }]);
    await expect(client.createTransfer({ ...order, merchantId: "" })).rejects.toThrow("validation_error");
  });

  test("can choose among the currencies that are served in its environment, with their decimals", async () => {
    const client = clientOf(await newAccount(), {
      isServed: (code, network, environment) => environment === "sandbox" || (code === "USDT" && network === "bsc"),
    });
    const { currencies } = await client.listCurrencies({ environment: ProtoEnvironment.SANDBOX });
    expect(currencies.map(({ code }) => code)).toEqual(["BNB", "BTC", "ETH", "LTC", "SOL", "TRX", "USDC", "USDT"]);
    const usdt = currencies.find(({ code }) => code === "USDT");
    expect(usdt?.networks.map(({ network, decimals }) => [network, decimals])).toEqual([
      ["ethereum", 6],
      ["tron", 6],
      ["solana", 6],
      ["bsc", 18],
    ]);
    const production = await client.listCurrencies({ environment: ProtoEnvironment.PRODUCTION });
    expect(production.currencies).toMatchObject([{ code: "USDT", networks: [{ network: "bsc", decimals: 18 }] }]);
  });

  test("lists its transfers page by page, newest first, by status", async () => {
    const { client, merchantId } = await newOwner();
    for (const externalId of ["1", "2", "3"]) {
      await client.createTransfer({ merchantId, ...orderOfTrx, amount: "0.5", externalId });
    }
    const page = (pageToken: string, status = "") =>
      client.listTransfers({ merchantId, pageSize: 2, pageToken, status });
    const names = ({ transfers }: Awaited<ReturnType<typeof page>>) => transfers.map(({ externalId }) => externalId);
    const first = await page("");
    expect(names(first)).toEqual(["3", "2"]);
    const second = await page(first.nextPageToken);
    expect([names(second), second.nextPageToken]).toEqual([["1"], ""]);
    expect(names(await page("", "REJECTED"))).toEqual([]);
    await expect(page("nonsense")).rejects.toThrow("validation_error");
    const until = (toDate: string) => client.listTransfers({ merchantId, pageSize: 2, toDate });
    expect([names(await until("2999-12-31")), names(await until("2020-01-01"))]).toEqual([["3", "2"], []]);
  });

  test("with its pair needs not name itself, and names no other", async () => {
    const { accountId, client: owner, merchantId } = await newOwner();
    const { merchantId: otherId } = await newOwner();
    const pairId = (await owner.listCredentials({ merchantId })).credentials[0]?.id ?? "";
    const merchant = { kind: "merchant", merchantId, pairId, environment: "sandbox" } as const;
    const client = clientOf(accountId, { callerOf: () => merchant });
    const { transfer } = await client.createTransfer({ ...orderOfTrx, externalId: "by its pair" });
    expect((await client.listTransfers({ merchantId })).transfers.map(({ id }) => id)).toEqual([transfer?.id]);
    expect((await client.listTransfers({})).totalData).toBe(1);
    const asked: (() => Promise<unknown>)[] = [
      () => client.calculateTransfer({ merchantId: otherId, currencyCode: "TRX", amount: "5" }),
      () => client.createTransfer({ merchantId: otherId, ...orderOfTrx, externalId: "for another" }),
      () => client.listTransfers({ merchantId: otherId }),
      () => client.listBalances({ merchantId: otherId }),
    ];
    for (const ask of asked) await expect(ask(), ask.toString()).rejects.toThrow("not_found");
  });

  test("is not found by another account, by any method", async () => {
    const { client: owner, merchantId } = await newOwner();
    const order = { merchantId, ...orderOfTrx, externalId: "mine" };
    const transferId = (await owner.createTransfer(order)).transfer?.id ?? "";
    const credentialId = (await owner.listCredentials({ merchantId })).credentials[0]?.id ?? "";
    const stranger = clientOf(await newAccount());
    const { merchantId: ownId, client: neighbour } = await newOwner();
    const asked: (() => Promise<unknown>)[] = [
      () => stranger.createCredential({ merchantId }),
      () => stranger.listCredentials({ merchantId }),
      () => stranger.revokeCredential({ merchantId, credentialId }),
      () => neighbour.revokeCredential({ merchantId: ownId, credentialId }),
      () => stranger.useFaucet({ merchantId, currencyCode: "TRX", amount: "1" }),
      () => stranger.listBalances({ merchantId }),
      () => stranger.listLimits({ merchantId }),
      () => stranger.calculateTransfer({ merchantId, currencyCode: "TRX", amount: "5" }),
      () => stranger.createTransfer(order),
      () => stranger.listTransfers({ merchantId }),
      () => stranger.cancelTransfer({ id: transferId }),
      () => neighbour.cancelTransfer({ id: transferId }),
      () => neighbour.getTransfer({ id: transferId }),
      () => stranger.getTransferStatement({ id: transferId }),
    ];
    for (const ask of asked) await expect(ask(), ask.toString()).rejects.toThrow("not_found");
    expect((await stranger.listMerchants({})).merchants).toEqual([]);
    expect((await owner.listCredentials({ merchantId })).credentials[0]?.revokedAt).toBeUndefined();
  });
});

test("limits that an operator sets are shown to the merchant and hold, and each change is recorded", async () => {
  const { client, merchantId } = await newOwner();
  const wanted = { merchantId, currencyCode: "TRX", perTransfer: "", daily: "7.50", approvalAbove: "0", reason: null };
  const limits = await setLimits({ database, operator: OPERATOR }, wanted);
  expect(limits).toMatchObject({ perTransfer: null, daily: "7.5", approvalAbove: "0", usedToday: "0" });
  const create = (externalId: string) => client.createTransfer({ merchantId, ...orderOfTrx, externalId });
  expect((await create("one")).transfer?.status).toBe("WAITING");
  await expect(create("two")).rejects.toThrow("limit_exceeded");
  expect((await client.listLimits({ merchantId })).limits).toMatchObject([{ currencyCode: "TRX", usedToday: "5" }]);
  const facts = { currencyCode: "TRX", perTransfer: null, daily: "7.5", approvalAbove: "0" };
  expect(await listActions(database.pool, { filter: { subject: merchantId }, limit: 10 })).toMatchObject([
    { operator: OPERATOR, action: "merchant limit", facts },
  ]);
});

test("a statement shows the order, its history, its ledger entries and the attempts", async () => {
  const { accountId, merchantId, client: owner } = await newOwner();
  const made = await owner.createTransfer({ merchantId, ...orderOfTrx, externalId: "stated" });
  const transferId = made.transfer?.id ?? "";
  const open = (await owner.getTransferStatement({ id: transferId })).statement;
  expect(open).toMatchObject({ held: "21.7", ledgerEntries: [], feeId: "00000000-0000-7000-8000-00000000fee1" });
  await withTransaction(database, async (client) => {
    await moveTransfer(client, { transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash: "0xaa" });
    await moveTransfer(client, { transferId, from: ["SUBMITTED"], to: "CONFIRMED", confirmations: 3 });
  });
  const attempt = { transactionHash: "0xaa", state: "confirmed", confirmations: 3, problem: "" } as const;
  const client = clientOf(accountId, {
    payoutAttempts: () => Promise.resolve([{ ...attempt, nonce: 7n, blockNumber: 12n, createdAt: new Date(0) }]),
  });
  const { statement } = await client.getTransferStatement({ id: transferId });
  expect(statement).toMatchObject({
    held: "0",
    transfer: {
      status: "CONFIRMED",
      history: [{ status: "PENDING" }, { status: "SUBMITTED" }, { status: "CONFIRMED" }],
    },
    payoutAttempts: [{ ...attempt, state: PayoutAttemptState.CONFIRMED, nonce: "7", blockNumber: "12" }],
  });
  const lines = statement?.ledgerEntries.map(({ account, amount, reason }) => [account, amount, reason]).toSorted();
  expect(lines).toEqual([
    [TransferAccount.MERCHANT, "-16.7", "transfer_fee"],
    [TransferAccount.MERCHANT, "-5", "transfer_payout"],
    [TransferAccount.PAYOUT_CLEARING, "-5", "transfer_sent"],
    [TransferAccount.PAYOUT_CLEARING, "5", "transfer_payout"],
    [TransferAccount.SANDBOX, "16.7", "transfer_fee"],
    [TransferAccount.SANDBOX, "5", "transfer_sent"],
  ]);
  const inCapitals = await client.getTransferStatement({ id: transferId.toUpperCase() });
  expect(inCapitals.statement).toEqual(statement);
});
