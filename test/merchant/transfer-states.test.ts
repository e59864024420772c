import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { NotFound } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { InvariantError } from "../../src/kernel/invariant.ts";
import type { Environment } from "../../src/identity/principal.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { transferAudit } from "../../src/merchant/transfers/audit-transfers.ts";
import { systemAccounts } from "../../src/ledger/system-accounts.ts";
import { setLimits } from "../../src/merchant/merchants/limits.ts";
import { listBalances } from "../../src/merchant/merchants/merchants.ts";
import { OPEN_STATUSES } from "../../src/merchant/transfers/transfer.ts";
import { moveTransfer, noteProgress, type TransferMove } from "../../src/merchant/transfers/transfer-states.ts";
import { readEvents, readTransfer } from "../../src/merchant/transfers/transfer-store.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { merchantWith, orderTransfer } from "./merchant-accounts.ts";

const transactionHash = "0xaaaa";

describe.each(testBackends())("moveTransfer on the %s server", (backend) => {
  let testDatabase: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase({ backend });
    database = testDatabase.database;
  });
  afterAll(() => testDatabase.drop());

  const move = (order: TransferMove): Promise<boolean> =>
    withTransaction(database, (client) => moveTransfer(client, order));

  /** A transfer of 5 TRX of a merchant who has 100. */
  async function ordered(environment: Environment = "sandbox"): Promise<{ merchantId: string; transferId: string }> {
    const { merchantId } = await merchantWith(database, { TRX: "100" }, environment);
    const { transfer } = await orderTransfer(database, { merchantId, environment });
    return { merchantId, transferId: transfer.transferId };
  }

  const trxOf = async (merchantId: string) => (await listBalances(database, merchantId))[0];
  const statusesOf = async (transferId: string): Promise<string[]> =>
    (await readEvents(database.pool, transferId)).map(({ status }) => status);

  test.each([
    ["production", systemAccounts.merchantClearing, systemAccounts.revenue],
    ["sandbox", systemAccounts.sandbox, systemAccounts.sandbox],
  ] as const)(
    "to CONFIRMED takes the total from a fund in %s, with the fee for us",
    async (environment, coins, fees) => {
      const { merchantId, transferId } = await ordered(environment);
      expect(await move({ transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash })).toBe(true);
      expect(await trxOf(merchantId)).toMatchObject({ available: "78.3", held: "21.7" });
      expect(await move({ transferId, from: ["SUBMITTED"], to: "CONFIRMED", confirmations: 20 })).toBe(true);
      expect(await trxOf(merchantId)).toMatchObject({ available: "78.3", held: "0" });

      const transfer = await readTransfer(database.pool, transferId);
      expect(transfer).toMatchObject({ status: "CONFIRMED", transactionHash, confirmations: 20 });
      expect(transfer?.confirmedAt).toEqual(transfer?.updatedAt);
      expect(await statusesOf(transferId)).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
      const { rows } = await database.pool.query<{ debit: string; credit: string; amount: string; reason: string }>(
        `SELECT debit, credit, amount, reason FROM posting WHERE group_id = $1::uuid ORDER BY reason`,
        [transferId],
      );
      const fund = rows[0]?.debit;
      expect(rows).toEqual([
        { debit: fund, credit: fees, amount: "16700000", reason: "transfer_fee" },
        { debit: fund, credit: systemAccounts.payoutClearing, amount: "5000000", reason: "transfer_payout" },
        {
          debit: systemAccounts.payoutClearing,
          credit: coins,
          amount: "5000000",
          reason: "transfer_sent",
        },
      ]);
    },
  );

  test.each(["REJECTED", "CANCELED"] as const)("to %s gives everything back and posts nothing", async (to) => {
    const { merchantId, transferId } = await ordered();
    expect(await move({ transferId, from: OPEN_STATUSES, to, reason: "It cannot be sent." })).toBe(true);
    expect(await trxOf(merchantId)).toMatchObject({ available: "100", held: "0" });
    expect(await readTransfer(database.pool, transferId)).toMatchObject({ status: to, reason: "It cannot be sent." });
    const { rowCount } = await database.pool.query("SELECT FROM posting WHERE group_id = $1::uuid", [transferId]);
    expect(rowCount).toBe(0);
  });

  test("is moved by one of several callers, and only once", async () => {
    const { merchantId, transferId } = await ordered();
    await move({ transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash });
    const moves = await Promise.all(
      (["CONFIRMED", "REJECTED", "CONFIRMED", "REJECTED"] as const).map((to) =>
        move({ transferId, from: ["SUBMITTED"], to }),
      ),
    );
    expect(moves.filter(Boolean)).toHaveLength(1);
    const { held } = (await trxOf(merchantId)) ?? {};
    expect(held).toBe("0");
    expect(await statusesOf(transferId)).toHaveLength(3);
  });

  test("changes nothing from another status, and refuses an unknown move", async () => {
    const { transferId } = await ordered();
    expect(await move({ transferId, from: ["SUBMITTED"], to: "CONFIRMED" })).toBe(false);
    await expect(move({ transferId, from: ["PENDING"], to: "CONFIRMED", transactionHash })).rejects.toThrow(
      InvariantError,
    );
    await move({ transferId, from: ["PENDING"], to: "SUBMITTED" });
    await expect(move({ transferId, from: ["SUBMITTED"], to: "CONFIRMED" })).rejects.toThrow(InvariantError);
    expect(await statusesOf(transferId)).toEqual(["PENDING", "SUBMITTED"]);
    await expect(move({ transferId: uuidv7(), from: ["PENDING"], to: "SUBMITTED" })).rejects.toThrow(NotFound);
  });

  test("does not move on without its approval", async () => {
    const { merchantId } = await merchantWith(database, { TRX: "100" });
    const limits = { merchantId, currencyCode: "TRX", perTransfer: "", daily: "", approvalAbove: "1" };
    await withTransaction(database, (client) => setLimits(client, limits));
    const { transferId } = (await orderTransfer(database, { merchantId })).transfer;
    expect(await move({ transferId, from: ["WAITING"], to: "PENDING" })).toBe(false);
    expect(await readTransfer(database.pool, transferId)).toMatchObject({ status: "WAITING", awaitsApproval: true });
    expect(await move({ transferId, from: ["WAITING"], to: "PENDING", isApproval: true })).toBe(true);
    expect(await readTransfer(database.pool, transferId)).toMatchObject({ status: "PENDING", awaitsApproval: false });
    // Once approved, it may wait for other reasons and move on without an operator.
    await move({ transferId, from: ["PENDING"], to: "WAITING", reason: "The wallet is being refilled." });
    expect(await move({ transferId, from: ["WAITING"], to: "PENDING" })).toBe(true);
  });

  test("records the chain's state without a new status or event", async () => {
    const { transferId } = await ordered();
    const note = (confirmations: number): Promise<boolean> =>
      withTransaction(database, (client) =>
        noteProgress(client, { transferId, transactionHash: "0xbb", confirmations }),
      );
    expect(await note(1)).toBe(false);
    await move({ transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash });
    expect(await note(7)).toBe(true);
    expect(await readTransfer(database.pool, transferId)).toMatchObject({
      status: "SUBMITTED",
      transactionHash: "0xbb",
      confirmations: 7,
    });
    expect(await statusesOf(transferId)).toHaveLength(2);
  });

  test("leaves balanced books", async () => {
    expect(await audit(database.pool, { topics: [transferAudit] })).toEqual({
      ok: true,
      violations: [],
      hasMore: false,
    });
  });
});
