import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { AccountFrozen, LimitExceeded, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import {
  AddressInvalid,
  AmountPrecision,
  CurrencyUnsupported,
  ExternalIdConflict,
  InsufficientFunds,
} from "../../src/kernel/transfer-errors.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { transferAudit } from "../../src/merchant/transfers/audit-transfers.ts";
import { createTransfer, type OrderOutcome } from "../../src/merchant/transfers/create-transfer.ts";
import { type LimitChange, listLimits, setLimits } from "../../src/merchant/merchants/limits.ts";
import { creditMerchant, listBalances } from "../../src/merchant/merchants/merchants.ts";
import { setFee } from "../../src/merchant/merchants/set-fee.ts";
import { readEvents } from "../../src/merchant/transfers/transfer-store.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { merchantWith, orderOf, orderSources, orderTransfer, type SomeOrder } from "./merchant-accounts.ts";

const reasonsOf = (outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));

describe.each(testBackends())("ordering a transfer on the %s server", (backend) => {
  let testDatabase: TestDatabase;
  let database: Database;
  /** Another process that serves the same merchants. */
  let otherNode: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase({ backend });
    database = testDatabase.database;
    otherNode = await openDatabase({ url: testDatabase.url, dataDir: "" });
  });
  afterAll(async () => {
    await otherNode.close();
    await testDatabase.drop();
  });

  const trxOf = async (merchantId: string) => (await listBalances(database, merchantId))[0];
  const transfersOf = async (merchantId: string): Promise<number> =>
    (await database.pool.query("SELECT FROM transfer WHERE merchant_id = $1::uuid", [merchantId])).rowCount ?? 0;
  const limit = (merchantId: string, limits: Partial<LimitChange>) =>
    withTransaction(database, (client) =>
      setLimits(client, { currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "", ...limits, merchantId }),
    );

  test("holds amount and fee, and returns the transfer", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "100" });
    const { transfer, isReplayed } = await orderTransfer(database, { merchantId, address: "tron:Receiver" });
    expect(isReplayed).toBe(false);
    expect(transfer).toMatchObject({
      status: "PENDING",
      coin: { currencyCode: "TRX", network: "tron", decimals: 6 },
      address: "tron:receiver",
      received: { units: 5_000_000n, asset: "TRX/6" },
      fee: { units: 16_700_000n },
      total: { units: 21_700_000n },
      feeRowId: "00000000-0000-7000-8000-00000000fee1",
      transactionHash: null,
      confirmedAt: null,
    });
    expect(transfer.slug).toMatch(/^t-[0-9a-hjkmnp-tv-z]{12}$/);
    expect(transfer.updatedAt).toEqual(transfer.createdAt);
    expect(await trxOf(merchantId)).toMatchObject({ available: "78.3", held: "21.7" });
    expect(await readEvents(database.pool, transfer.transferId)).toMatchObject([{ status: "PENDING", reason: null }]);
  });

  describe("again under the same externalId", () => {
    test("returns the first transfer, however the same content is written", async () => {
      const { merchantId } = await merchantWith(database, { TRX: "100" });
      const externalId = "same content";
      const first = await orderTransfer(database, { merchantId, externalId, address: "tron:Receiver" });
      const sameContents: Partial<SomeOrder>[] = [
        { address: "tron:Receiver" },
        { amountText: "5.0", address: "tron:receiver" },
        { amountText: "0.5e1", network: "tron", address: "tron:RECEIVER" },
      ];
      for (const content of sameContents) {
        const again = await orderTransfer(database, { merchantId, externalId, ...content });
        expect(again).toEqual({ transfer: first.transfer, isReplayed: true });
      }
      expect(await trxOf(merchantId)).toMatchObject({ held: "21.7" });
    });

    test("is refused with other content, naming the fields that differ", async () => {
      const { merchantId } = await merchantWith(database, { USDT: "1000" });
      const order = { merchantId, externalId: "other content", currencyCode: "USDT", address: "ethereum:receiver" };
      await orderTransfer(database, order);
      const differing = async (content: Partial<SomeOrder>): Promise<readonly string[]> => {
        const refusal: unknown = await orderTransfer(database, { ...order, ...content }).catch(
          (error: unknown) => error,
        );
        expect(refusal).toBeInstanceOf(ExternalIdConflict);
        return (refusal as ExternalIdConflict).differingFields;
      };
      expect(await differing({ amountText: "5.000001" })).toEqual(["amount"]);
      // More decimals than any USDT has: still another amount.
      expect(await differing({ amountText: "5.0000000000001" })).toEqual(["amount"]);
      expect(await differing({ address: "ethereum:other" })).toEqual(["address"]);
      expect(await differing({ network: "bsc" })).toEqual(["network"]);
      expect(await differing({ currencyCode: "TRX", amountText: "6" })).toEqual(["currencyCode", "amount"]);
      expect(await differing({ currencyCode: "NONE", address: "nonsense" })).toEqual(["currencyCode", "address"]);
      await expect(orderTransfer(database, { ...order, amountText: "0" })).rejects.toThrow(ValidationError);
      expect(await transfersOf(merchantId)).toBe(1);
    });

    test("returns the first transfer when fee, balance, limits, currency and address have changed since", async () => {
      const { merchantId } = await merchantWith(database, { TRX: "21.7" });
      const order = orderOf({ merchantId });
      const { transfer } = await createTransfer(orderSources(database), order);
      await setFee(database.pool, { merchantId, flat: "99", rate: "1" });
      await limit(merchantId, { perTransfer: "1", daily: "1" });
      const refuse = (): never => {
        throw new AddressInvalid("No address is good any more.");
      };
      const sources = { database, checkAddress: refuse, isServed: () => false };
      expect(await createTransfer(sources, order)).toEqual({ transfer, isReplayed: true });
      const other = { ...order, externalId: "another" };
      await expect(createTransfer(sources, other)).rejects.toThrow(AddressInvalid);
    });

    test("is another transfer for another merchant", async () => {
      const [one, two] = [await merchantWith(database, { TRX: "50" }), await merchantWith(database, { TRX: "50" })];
      const externalId = "shared name";
      const { transfer } = await orderTransfer(database, { ...one, externalId });
      const { transfer: second, isReplayed } = await orderTransfer(database, { ...two, externalId });
      expect([isReplayed, second.transferId === transfer.transferId]).toEqual([false, false]);
    });

    test.each([1, 2, 3, 4, 5])("50 at once on two nodes are one transfer, one hold, one event (round %i)", async () => {
      const { merchantId } = await merchantWith(database, { TRX: "10000" });
      const externalId = uuidv7();
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) =>
          orderTransfer(i % 2 === 0 ? database : otherNode, { merchantId, externalId }),
        ),
      );
      expect(outcomes.filter(({ isReplayed }) => !isReplayed)).toHaveLength(1);
      const [id, ...others] = new Set(outcomes.map(({ transfer }) => transfer.transferId));
      expect(others).toEqual([]);
      expect(await transfersOf(merchantId)).toBe(1);
      expect(await trxOf(merchantId)).toMatchObject({ available: "9978.3", held: "21.7" });
      expect(await readEvents(database.pool, id ?? "")).toHaveLength(1);
      expect(await listLimits(database, merchantId)).toMatchObject([{ usedToday: "5" }]);
    });

    test("at once in two currencies is one transfer and one refusal", async () => {
      for (let round = 0; round < 10; round += 1) {
        const { merchantId } = await merchantWith(database, { TRX: "100", LTC: "100" });
        const externalId = uuidv7();
        const outcomes = await Promise.allSettled([
          orderTransfer(database, { merchantId, externalId }),
          orderTransfer(otherNode, { merchantId, externalId, currencyCode: "LTC", address: "litecoin:receiver" }),
        ]);
        expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
        expect(reasonsOf(outcomes)).toEqual([expect.any(ExternalIdConflict)]);
        expect(await transfersOf(merchantId)).toBe(1);
      }
    });
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    "with balance for 3 and 100 at once on two nodes accepts 3 (round %i)",
    async () => {
      const { merchantId } = await merchantWith(database, { TRX: "65.1" });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, (_, i) => orderTransfer(i % 2 === 0 ? database : otherNode, { merchantId })),
      );
      const accepted = outcomes.filter(
        (each): each is PromiseFulfilledResult<OrderOutcome> => each.status === "fulfilled",
      );
      expect(accepted).toHaveLength(3);
      expect(reasonsOf(outcomes).filter((reason) => !(reason instanceof InsufficientFunds))).toEqual([]);
      expect(await trxOf(merchantId)).toMatchObject({ available: "0", held: "65.1" });
      expect(await transfersOf(merchantId)).toBe(3);
    },
  );

  test("is refused when the funds are one unit short, with the available and the needed amount", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "21.699999" });
    const order = orderOf({ merchantId });
    await expect(createTransfer(orderSources(database), order)).rejects.toThrow(
      "Available is 21.699999 TRX, needed is 21.7 TRX.",
    );
    expect(await transfersOf(merchantId)).toBe(0);
    // The refusal changes nothing and keeps no name: the same order succeeds once there is enough.
    await creditMerchant(database, { merchantId, currencyCode: "TRX", amountText: "0.000001" });
    expect((await createTransfer(orderSources(database), order)).isReplayed).toBe(false);
    expect(await trxOf(merchantId)).toMatchObject({ available: "0", held: "21.7" });
  });

  test("does not pay a token of one scale with the balance of another", async () => {
    const { merchantId } = await merchantWith(database, { USDT: "1000" });
    const onBsc = { merchantId, currencyCode: "USDT", address: "bsc:receiver" };
    await expect(orderTransfer(database, onBsc)).rejects.toThrow(InsufficientFunds);
    await creditMerchant(database, { merchantId, currencyCode: "USDT", amountText: "6.5", network: "bsc" });
    const { transfer } = await orderTransfer(database, onBsc);
    expect(transfer.total).toEqual({ units: 6_500_000_000_000_000_000n, asset: "USDT/18" });
  });

  test("checks in a fixed order, and changes nothing", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "10" });
    const wrong = { currencyCode: "NONE", address: "nonsense", amountText: "5.0000001" };
    const order = (content: Partial<SomeOrder>) => orderTransfer(database, { merchantId, ...content });
    await expect(order({ ...wrong, amountText: "-1" })).rejects.toThrow(ValidationError);
    await expect(order(wrong)).rejects.toThrow(CurrencyUnsupported);
    await expect(order({ ...wrong, currencyCode: "TRX" })).rejects.toThrow(AddressInvalid);
    await expect(order({ amountText: "5.0000001" })).rejects.toThrow(AmountPrecision);
    await limit(merchantId, { perTransfer: "4" });
    await expect(order({})).rejects.toThrow(LimitExceeded);
    await expect(order({ amountText: "4" })).rejects.toThrow(InsufficientFunds);
    await expect(order({ network: "ethereum" })).rejects.toThrow(CurrencyUnsupported);
    expect(await trxOf(merchantId)).toMatchObject({ available: "10", held: "0" });
    expect(await listLimits(database, merchantId)).toMatchObject([{ usedToday: "0" }]);
    expect(await transfersOf(merchantId)).toBe(0);
  });

  test("is refused in production where no chain carries the currency", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "100" }, "production");
    const sources = { ...orderSources(database), isServed: () => false };
    const order = orderOf({ merchantId, environment: "production" });
    await expect(createTransfer(sources, order)).rejects.toThrow(CurrencyUnsupported);
  });

  test("is refused to a merchant whose account is frozen, and is still repeated", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "100" });
    const order = orderOf({ merchantId });
    await createTransfer(orderSources(database), order);
    const freeze = `UPDATE account SET frozen_at = now() WHERE id = (SELECT account_id FROM merchant WHERE id = $1::uuid)`;
    await database.pool.query(freeze, [merchantId]);
    await expect(orderTransfer(database, { merchantId })).rejects.toThrow(AccountFrozen);
    expect((await createTransfer(orderSources(database), order)).isReplayed).toBe(true);
  });

  test("leaves balanced books", async () => {
    const report = await audit(database.pool, { topics: [transferAudit] });
    expect(report).toEqual({ ok: true, violations: [], hasMore: false });
  });
});
