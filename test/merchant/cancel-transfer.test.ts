import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/database/database.ts";
import { withTransaction } from "../../src/database/transactions.ts";
import { NotFound, ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { audit } from "../../src/ledger/audit/audit.ts";
import { transferAudit } from "../../src/merchant/transfers/audit-transfers.ts";
import { listBalances } from "../../src/merchant/merchants/merchants.ts";
import { lockTransfer, moveTransfer } from "../../src/merchant/transfers/transfer-states.ts";
import { readEvents } from "../../src/merchant/transfers/transfer-store.ts";
import { cancelTransfer } from "../../src/merchant/transfers/transfers.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { merchantWith, orderTransfer } from "./merchant-accounts.ts";

describe.each(testBackends())("canceling a transfer on the %s server", (backend) => {
  let testDatabase: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    testDatabase = await createTestDatabase({ backend });
    database = testDatabase.database;
  });
  afterAll(() => testDatabase.drop());

  /**
   * Signs as a payout does: it records that in the transaction that has locked the transfer, and finds the transfer
   * payable.
   */
  class Signer {
    readonly #client: Database;
    readonly begun = new Set<string>();
    constructor(client: Database) {
      this.#client = client;
    }
    readonly hasSigningBegun = (_client: PoolClient, transferId: string): Promise<boolean> =>
      Promise.resolve(this.begun.has(transferId));
    sign(transferId: string): Promise<boolean> {
      return withTransaction(this.#client, async (client) => {
        const { transfer } = await lockTransfer(client, transferId);
        if (transfer.status !== "PENDING") return false;
        this.begun.add(transferId);
        return true;
      });
    }
  }

  async function ordered() {
    const { merchantId } = await merchantWith(database, { TRX: "100" });
    const { transfer } = await orderTransfer(database, { merchantId });
    const signer = new Signer(database);
    const cancel = (scope: { merchantId: string } = { merchantId }) =>
      cancelTransfer(database, { scope, transferId: transfer.transferId, hasSigningBegun: signer.hasSigningBegun });
    return { merchantId, transferId: transfer.transferId, signer, cancel };
  }
  const heldBy = async (merchantId: string) => (await listBalances(database, merchantId))[0]?.held;

  test("releases the whole hold, once, however often it is called", async () => {
    const { merchantId, transferId, cancel } = await ordered();
    const answers = await Promise.all([cancel(), cancel(), cancel()]);
    expect(answers.map(({ transfer }) => transfer.status)).toEqual(["CANCELED", "CANCELED", "CANCELED"]);
    expect(await heldBy(merchantId)).toBe("0");
    expect(await readEvents(database.pool, transferId)).toHaveLength(2);
  });

  test("is too late once signing has begun, and once it was submitted", async () => {
    const { merchantId, transferId, signer, cancel } = await ordered();
    expect(await signer.sign(transferId)).toBe(true);
    await expect(cancel()).rejects.toThrow(ValidationError);
    await withTransaction(database, (client) =>
      moveTransfer(client, { transferId, from: ["PENDING"], to: "SUBMITTED", transactionHash: "0xaa" }),
    );
    await expect(cancel()).rejects.toThrow("SUBMITTED");
    expect(await heldBy(merchantId)).toBe("21.7");
  });

  test("and signing it at the same time leave one of the two, in 40 rounds", async () => {
    let canceledRounds = 0;
    for (let round = 0; round < 40; round += 1) {
      const { merchantId, transferId, signer, cancel } = await ordered();
      const asked = round % 2 === 0 ? [cancel(), signer.sign(transferId)] : [signer.sign(transferId), cancel()];
      await Promise.allSettled(asked);
      const [last] = (await readEvents(database.pool, transferId)).slice(-1);
      const isCanceled = last?.status === "CANCELED";
      canceledRounds += isCanceled ? 1 : 0;
      expect([isCanceled, signer.begun.has(transferId)]).toEqual([isCanceled, !isCanceled]);
      expect(await heldBy(merchantId)).toBe(isCanceled ? "0" : "21.7");
    }
    // Both outcomes occur, so the race is real.
    expect(canceledRounds).toBeGreaterThan(0);
    expect(canceledRounds).toBeLessThan(40);
  });

  test("of an unknown id or another merchant is not found", async () => {
    const { transferId, cancel } = await ordered();
    await expect(cancel({ merchantId: uuidv7() })).rejects.toThrow(NotFound);
    const hasSigningBegun = () => Promise.resolve(false);
    for (const unknown of [uuidv7(), "17"]) {
      const asked = cancelTransfer(database, { scope: { accountId: uuidv7() }, transferId: unknown, hasSigningBegun });
      await expect(asked).rejects.toThrow(NotFound);
    }
    expect(await readEvents(database.pool, transferId)).toHaveLength(1);
  });

  test("leaves balanced books", async () => {
    const report = await audit(database.pool, { topics: [transferAudit] });
    expect(report).toEqual({ ok: true, violations: [], hasMore: false });
  });
});
