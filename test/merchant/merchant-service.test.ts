import { type Client, Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Environment as ProtoEnvironment } from "#gen/saldo/merchant/v1/merchant_pb.ts";
import { MerchantService } from "#gen/saldo/merchant/v1/merchant_service_pb.ts";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { DomainError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { openAccount } from "../../src/ledger/accounts.ts";
import { createPairVerifier, MAX_WORKING_PAIRS } from "../../src/merchant/merchants/credentials.ts";
import { creditMerchant } from "../../src/merchant/merchants/merchants.ts";
import { createMerchantService, type MerchantServiceSources } from "../../src/merchant/merchant-service.ts";
import { moveTransfer } from "../../src/merchant/transfers/transfer-states.ts";
import { orderApproval, orderLimits, orderRejection } from "../../src/operator/commands/transfer-orders.ts";
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
type MerchantClient = Client<typeof MerchantService>;

/** A client of the service alone, which acts for an account; its errors carry our codes. */
function clientOf(accountId: string, more: Partial<MerchantServiceSources> = {}): MerchantClient {
  const by = { database, operator: OPERATOR };
  const service = createMerchantService({
    ...orderSources(database),
    accountOf: () => accountId,
    scopeOf: () => ({ accountId }),
    hasSigningBegun: () => Promise.resolve(false),
    payoutAttempts: () => Promise.resolve([]),
    orders: {
      setLimits: async (_context, order) => ({
        limits: await orderLimits(by, { ...order, reason: null }),
        pendingOrderId: "",
      }),
      approve: (_context, { transferId, note }) => orderApproval(by, { transferId, note }),
      reject: (_context, order) => orderRejection(by, order),
    },
    ...more,
  });
  const telling = async <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      if (error instanceof DomainError) throw new ConnectError(error.code, Code.Unknown);
      throw error;
    });
  return createClient(
    MerchantService,
    createRouterTransport((router) => router.service(MerchantService, service), {
      router: { interceptors: [(next) => (req) => telling(next(req))] },
    }),
  );
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
    expect((await client.listMerchantBalances({ merchantId })).balances).toMatchObject([{ available: "1000000" }]);
    const { merchant } = await client.createMerchant({ environment: ProtoEnvironment.PRODUCTION });
    const real = client.useFaucet({ merchantId: merchant?.id ?? "", currencyCode: "TRX", amount: "1" });
    await expect(real).rejects.toThrow("not_found");
  });

  test("orders, reads and cancels from the dashboard as with a pair", async () => {
    const { client, merchantId } = await newOwner();
    const quote = (await client.calculateMerchantTransfer({ merchantId, currencyCode: "TRX", amount: "5" })).quote;
    expect(quote).toMatchObject({ receivedAmount: "5", fee: "16.7", totalAmount: "21.7" });
    const asked = { merchantId, currencyCode: "TRX", amount: "5" };
    await client.calculateMerchantTransfer({ ...asked, address: orderOfTrx.address });
    // Where the chain is left to the address, the price is that of the order.
    const usdt = { merchantId, currencyCode: "USDT", amount: "5" };
    const priced = async (address: string) =>
      (await client.calculateMerchantTransfer({ ...usdt, address })).quote?.network;
    expect([await priced(""), await priced("tron:receiver")]).toEqual(["ethereum", "tron"]);
    await expect(client.calculateMerchantTransfer({ ...asked, address: "not an address" })).rejects.toThrow(
      "address_invalid",
    );
    const order = { merchantId, order: { ...orderOfTrx, externalId: "from the dashboard" } };
    const first = await client.createMerchantTransfer(order);
    expect(first).toMatchObject({ replayed: false, transfer: { status: "PENDING", history: [{ status: "PENDING" }] } });
    const again = await client.createMerchantTransfer(order);
    expect([again.replayed, again.transfer?.id]).toEqual([true, first.transfer?.id]);
    expect((await client.listMerchantBalances({ merchantId })).balances).toMatchObject([{ held: "21.7" }]);
    const transferId = first.transfer?.id ?? "";
    const canceled = await client.cancelMerchantTransfer({ merchantId, transferId });
    expect(canceled.transfer?.history.map(({ status }) => status)).toEqual(["PENDING", "CANCELED"]);
    expect((await client.listMerchantBalances({ merchantId })).balances).toMatchObject([{ held: "0" }]);
    await expect(client.createMerchantTransfer({ merchantId })).rejects.toThrow("validation_error");
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
      await client.createMerchantTransfer({ merchantId, order: { ...orderOfTrx, amount: "0.5", externalId } });
    }
    const page = (pageToken: string, status = "") =>
      client.listMerchantTransfers({ merchantId, pageSize: 2, pageToken, status });
    const names = ({ transfers }: Awaited<ReturnType<typeof page>>) => transfers.map(({ externalId }) => externalId);
    const first = await page("");
    expect(names(first)).toEqual(["3", "2"]);
    const second = await page(first.nextPageToken);
    expect([names(second), second.nextPageToken]).toEqual([["1"], ""]);
    expect(names(await page("", "REJECTED"))).toEqual([]);
    await expect(page("nonsense")).rejects.toThrow("validation_error");
  });

  test("is not found by another account, by any method", async () => {
    const { client: owner, merchantId } = await newOwner();
    const order = { merchantId, order: { ...orderOfTrx, externalId: "mine" } };
    const transferId = (await owner.createMerchantTransfer(order)).transfer?.id ?? "";
    const credentialId = (await owner.listCredentials({ merchantId })).credentials[0]?.id ?? "";
    const stranger = clientOf(await newAccount());
    const { merchantId: ownId, client: neighbour } = await newOwner();
    const asked: (() => Promise<unknown>)[] = [
      () => stranger.createCredential({ merchantId }),
      () => stranger.listCredentials({ merchantId }),
      () => stranger.revokeCredential({ merchantId, credentialId }),
      () => neighbour.revokeCredential({ merchantId: ownId, credentialId }),
      () => stranger.useFaucet({ merchantId, currencyCode: "TRX", amount: "1" }),
      () => stranger.listMerchantBalances({ merchantId }),
      () => stranger.listLimits({ merchantId }),
      () => stranger.calculateMerchantTransfer({ merchantId, currencyCode: "TRX", amount: "5" }),
      () => stranger.createMerchantTransfer(order),
      () => stranger.listMerchantTransfers({ merchantId }),
      () => stranger.cancelMerchantTransfer({ merchantId, transferId }),
      () => neighbour.cancelMerchantTransfer({ merchantId: ownId, transferId }),
      () => stranger.getTransferStatement({ transferId }),
    ];
    for (const ask of asked) await expect(ask(), ask.toString()).rejects.toThrow("not_found");
    expect((await stranger.listMerchants({})).merchants).toEqual([]);
    expect((await owner.listCredentials({ merchantId })).credentials[0]?.revokedAt).toBeUndefined();
  });
});

describe("an operator", () => {
  test("sets limits that the merchant sees and orders obey, and each change is recorded", async () => {
    const { client, merchantId } = await newOwner();
    const { limit } = await client.setLimit({ merchantId, currencyCode: "TRX", daily: "7.50", approvalAbove: "0" });
    expect(limit).toMatchObject({ daily: "7.5", approvalAbove: "0", usedToday: "0" });
    expect(limit?.perTransfer).toBeUndefined();
    const create = (externalId: string) =>
      client.createMerchantTransfer({ merchantId, order: { ...orderOfTrx, externalId } });
    expect((await create("one")).transfer?.status).toBe("WAITING");
    await expect(create("two")).rejects.toThrow("limit_exceeded");
    expect((await client.listLimits({ merchantId })).limits).toMatchObject([{ currencyCode: "TRX", usedToday: "5" }]);
    const facts = { currencyCode: "TRX", perTransfer: null, daily: "7.5", approvalAbove: "0" };
    expect(await listActions(database.pool, { filter: { subject: merchantId }, limit: 10 })).toMatchObject([
      { operator: OPERATOR, action: "merchant limit", facts },
    ]);
  });

  test("approves and rejects waiting transfers, once, and sees their accounts", async () => {
    const { client, merchantId, accountId } = await newOwner();
    await client.setLimit({ merchantId, currencyCode: "TRX", approvalAbove: "0" });
    const create = async (externalId: string): Promise<string> =>
      (await client.createMerchantTransfer({ merchantId, order: { ...orderOfTrx, externalId } })).transfer?.id ?? "";
    const [one, two] = [await create("one"), await create("two")];
    const { transfers } = await client.listAllTransfers({ merchantId, status: "WAITING" });
    expect(transfers.map(({ transfer, accountId: owner }) => [transfer?.id, owner])).toEqual([
      [two, accountId],
      [one, accountId],
    ]);
    const approvals = await Promise.allSettled(
      [0, 1, 2].map(() => client.approveTransfer({ transferId: one, note: "ok" })),
    );
    expect(approvals.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    const rejected = await client.rejectTransfer({ transferId: two, reason: "Not to him." });
    expect(rejected.transfer).toMatchObject({ status: "REJECTED", reason: "Not to him." });
    await expect(client.approveTransfer({ transferId: two })).rejects.toThrow("validation_error");
    await expect(client.approveTransfer({ transferId: uuidv7() })).rejects.toThrow("not_found");
    expect((await client.listMerchantBalances({ merchantId })).balances).toMatchObject([{ held: "21.7" }]);
    const lines = await listActions(database.pool, { filter: { operator: OPERATOR, subject: one }, limit: 10 });
    expect(lines.map(({ action, reason }) => [action, reason])).toEqual([["transfer approve", "ok"]]);
  });
});

test("a statement shows the order, its history, its ledger entries and the attempts", async () => {
  const { accountId, merchantId, client: owner } = await newOwner();
  const made = await owner.createMerchantTransfer({ merchantId, order: { ...orderOfTrx, externalId: "stated" } });
  const transferId = made.transfer?.id ?? "";
  const open = (await owner.getTransferStatement({ transferId })).statement;
  expect(open).toMatchObject({ held: "21.7", ledgerEntries: [], feeId: "00000000-0000-7000-8000-00000000fee1" });
  await withTransaction(database, async (client) => {
    await moveTransfer(client, { transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash: "0xaa" });
    await moveTransfer(client, { transferId, from: ["SUBMITTED"], to: "CONFIRMED", confirmations: 3 });
  });
  const attempt = { transactionHash: "0xaa", state: "confirmed", confirmations: 3, problem: "" };
  const client = clientOf(accountId, {
    payoutAttempts: () => Promise.resolve([{ ...attempt, nonce: 7n, blockNumber: 12n, createdAt: new Date(0) }]),
  });
  const { statement } = await client.getTransferStatement({ transferId });
  expect(statement).toMatchObject({
    held: "0",
    transfer: {
      status: "CONFIRMED",
      history: [{ status: "PENDING" }, { status: "SUBMITTED" }, { status: "CONFIRMED" }],
    },
    payoutAttempts: [{ ...attempt, nonce: "7", blockNumber: "12" }],
  });
  const lines = statement?.ledgerEntries.map(({ account, amount, reason }) => [account, amount, reason]).toSorted();
  expect(lines).toEqual([
    ["merchant", "-16.7", "transfer_fee"],
    ["merchant", "-5", "transfer_payout"],
    ["payout_clearing", "-5", "transfer_sent"],
    ["payout_clearing", "5", "transfer_payout"],
    ["sandbox", "16.7", "transfer_fee"],
    ["sandbox", "5", "transfer_sent"],
  ]);
  const inCapitals = await client.getTransferStatement({ transferId: transferId.toUpperCase() });
  expect(inCapitals.statement).toEqual(statement);
});
