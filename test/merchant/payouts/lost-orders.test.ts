// Transfers that were ordered and paid in a time that the books have lost. Their merchants order them again by the same externalId.

import type { Hex } from "viem";
import { describe, expect, it } from "vitest";
import type { Database } from "../../../src/database/database.ts";
import { withTransaction } from "../../../src/database/transactions.ts";
import { systemAccounts } from "../../../src/ledger/system-accounts.ts";
import { moveTransfer } from "../../../src/merchant/transfers/transfer-states.ts";
import { approveTransfer } from "../../../src/merchant/transfers/transfers.ts";
import { saldoJson } from "../../setup/saldo-command.ts";
import { AMOUNT, type EvmSetup, FINAL_AFTER, TOTAL, UNITS } from "./evm-setup.ts";
import { paymentsTo, rewriteJournal, testing } from "./lost-books.ts";
import { expectSoundBooks, OrderingMerchant } from "./ordered.ts";

const { setup: now, stopReason, resume, lose, changeTimeline } = testing();

function order(setup: EvmSetup, externalId: string, to: Hex, database: Database = setup.database): Promise<string> {
  return setup.merchant.order({ currencyCode: "USDT", amount: AMOUNT, to, externalId }, database);
}

/** Pays a transfer that is ordered in the time that the books lose. Returns its id there. */
async function loseOrder(setup: EvmSetup, externalId: string, to: Hex, { isMined = true } = {}): Promise<string> {
  // The books have a payment of the wallet, as before any restore.
  await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
  let transferId = "";
  await lose(async (engine, database) => {
    transferId = await order(setup, externalId, to, database);
    await engine.round();
    if (isMined) await setup.anvil.mine(FINAL_AFTER);
    await engine.round();
  });
  await changeTimeline();
  await setup.engine().round();
  expect(await stopReason()).toMatch(/^the books lack 1 transactions/);
  return transferId;
}

describe("a transfer that was ordered and paid in a time that the books have lost", () => {
  it("is made again with its payment, and its merchant's repeated order returns it", async () => {
    const setup = now();
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await loseOrder(setup, "gap-1", to);
    await expect(resume()).rejects.toThrow(/which the books have lost: resume with --adopt/);
    const resumed = await resume({ adopts: true });
    expect(resumed).toEqual({ foreignNonces: 0, adoptedPayments: 1, isNew: true, remadeTransfers: [transferId] });
    expect(await stopReason()).toBeNull();
    expect(await order(setup, "gap-1", to)).toBe(transferId);
    await setup.runToEnd(setup.engine(), [transferId]);
    await setup.expectPaidOnce(transferId, to, before - TOTAL);
    expect(await order(setup, "gap-1", to)).toBe(transferId);
    await setup.engine().round();
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
  });

  it("is made again while the network has not mined its payment", async () => {
    const setup = now();
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await loseOrder(setup, "gap-2", to, { isMined: false });
    await expect(resume()).rejects.toThrow(/resume with --adopt/);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, remadeTransfers: [transferId] });
    expect(await order(setup, "gap-2", to)).toBe(transferId);
    await setup.runToEnd(setup.engine(), [transferId]);
    await setup.expectPaidOnce(transferId, to, before - TOTAL);
  });

  it("is not made again by a second adoption, nor twice by a second loss", async () => {
    const setup = now();
    const to = await setup.recipient();
    const transferId = await loseOrder(setup, "gap-3", to);
    await resume({ adopts: true });
    await setup.runToEnd(setup.engine(), [transferId]);
    const before = await setup.available();
    expect(await resume({ adopts: true })).toEqual({ foreignNonces: 0, adoptedPayments: 0, isNew: false });
    await changeTimeline();
    await setup.engine().round();
    expect(await stopReason()).toBeNull();
    await setup.engine().round();
    expect(await setup.available()).toBe(before);
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
  });

  it("takes no other transfer's place: one that pays the same stays open and is paid by itself", async () => {
    const setup = now();
    const to = await setup.recipient();
    const open = await setup.orderTokens(to);
    const transferId = await (async () => {
      let id = "";
      await lose(async (engine, database) => {
        id = await order(setup, "gap-4", to, database);
        await database.pool.query("UPDATE transfer SET status = 'CANCELED' WHERE id = $1", [open]);
        await engine.round();
        await setup.anvil.mine(FINAL_AFTER);
        await engine.round();
      });
      return id;
    })();
    await changeTimeline();
    await setup.engine().round();
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, remadeTransfers: [transferId] });
    const [first] = await setup.anvil.tokenTransfersTo(setup.token, to);
    await setup.runToEnd(setup.engine(), [transferId, open]);
    expect((await setup.merchant.transfer(transferId)).transactionHash).toBe(first?.transactionHash);
    expect(await paymentsTo(setup, to)).toEqual([UNITS, UNITS]);
    await expectSoundBooks(setup.database);
  });

  it("is the repeated order where that came before the resume", async () => {
    const setup = now();
    const [to, before] = [await setup.recipient(), await setup.available()];
    await loseOrder(setup, "gap-5", to);
    const again = await order(setup, "gap-5", to);
    const resumed = await resume({ adopts: true });
    expect(resumed).toEqual({ foreignNonces: 0, adoptedPayments: 1, isNew: true });
    await setup.runToEnd(setup.engine(), [again]);
    await setup.expectPaidOnce(again, to, before - TOTAL);
  });

  it("is ours to bear where the fund does not have its total, and no fund falls below zero", async () => {
    const setup = now();
    const poor = await OrderingMerchant.open(setup.database, "production", { USDT: "1" });
    const to = await setup.recipient();
    let transferId = "";
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    const others = await setup.available();
    await lose(async (engine, database) => {
      await database.pool.query("UPDATE merchant_fund SET posted = posted + 9000000 WHERE merchant_id = $1", [
        poor.merchantId,
      ]);
      transferId = await poor.order({ currencyCode: "USDT", amount: AMOUNT, to, externalId: "gap-6" }, database);
      await engine.round();
      await setup.anvil.mine(FINAL_AFTER);
      await engine.round();
    });
    await changeTimeline();
    await setup.engine().round();
    expect(await resume({ adopts: true })).toMatchObject({
      remadeTransfers: [transferId],
      uncovered: [{ transferId, asset: "USDT/6", units: "5500000" }],
    });
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await poor.balance("USDT")).toEqual({ available: "0", held: "0" });
    expect(await setup.available()).toBe(others);
    const { rows } = await setup.database.pool.query("SELECT amount, reason, debit FROM posting WHERE reference = $1", [
      `transfer:${transferId}:uncovered`,
    ]);
    expect(rows).toEqual([
      { amount: "5500000", reason: "transfer_uncovered", debit: systemAccounts.operatorAdjustments },
    ]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
    await expectSoundBooks(setup.database);
  });

  it("gives back what we bore where the payment of a covered transfer reverts or is given up", async () => {
    const setup = now();
    const poor = await OrderingMerchant.open(setup.database, "production", { USDT: "1" });
    const to = await setup.recipient();
    let transferId = "";
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    await lose(async (engine, database) => {
      await database.pool.query("UPDATE merchant_fund SET posted = posted + 9000000 WHERE merchant_id = $1", [
        poor.merchantId,
      ]);
      transferId = await poor.order({ currencyCode: "USDT", amount: AMOUNT, to, externalId: "gap-back" }, database);
      await engine.round();
    });
    await changeTimeline();
    await setup.engine().round();
    expect(await resume({ adopts: true })).toMatchObject({ uncovered: [{ transferId, units: "5500000" }] });
    expect(await poor.balance("USDT")).toEqual({ available: "0", held: "6.5" });
    // As the engine does where the nonce was taken by a transaction that pays nothing.
    await withTransaction(setup.database, (client) =>
      moveTransfer(client, {
        transferId,
        from: ["PENDING", "WAITING", "SUBMITTED"],
        to: "REJECTED",
        reason: "not paid",
      }),
    );
    expect(await poor.balance("USDT")).toEqual({ available: "1", held: "0" });
    const { rows } = await setup.database.pool.query(
      "SELECT reason, amount FROM posting WHERE reference LIKE $1 ORDER BY id",
      [`transfer:${transferId}:uncovered%`],
    );
    expect(rows).toEqual([
      { reason: "transfer_uncovered", amount: "5500000" },
      { reason: "transfer_uncovered_back", amount: "5500000" },
    ]);
  });

  it("is not canceled nor rejected while a journal has its lost payment", async () => {
    const setup = now();
    const to = await setup.recipient();
    await loseOrder(setup, "gap-cancel", to);
    const again = await order(setup, "gap-cancel", to);
    const rejecting = saldoJson(["transfer", "reject", "--transfer", again, "--reason", "no"], {
      DATABASE_URL: setup.opened.url,
    });
    await expect(rejecting).rejects.toThrow(/too late/);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1 });
    await setup.runToEnd(setup.engine(), [again]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
  });
});

describe("a payment of a lost order that no journal describes", () => {
  it.each<[string, string, (entry: Record<string, unknown>) => Record<string, unknown> | null]>([
    ["was written by an earlier version", "old-1", ({ transfer: _transfer, ...entry }) => entry],
    ["is in no journal", "old-2", () => null],
    [
      "has another recipient there",
      "old-3",
      (entry) => ({ ...entry, transfer: { ...(entry["transfer"] as object), address: `0x${"1".repeat(40)}` } }),
    ],
  ])("lets the same order wait for an operator, where it %s", async (_what, externalId, change) => {
    const setup = now();
    const to = await setup.recipient();
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    await lose(async (engine, database) => {
      await order(setup, externalId, to, database);
      await engine.round();
      await setup.anvil.mine(FINAL_AFTER);
      await engine.round();
    });
    await rewriteJournal(setup, change);
    await changeTimeline();
    const engine = setup.engine();
    await engine.round();
    // Without a journal that knows it the chain has used the nonce all the same.
    await engine.round().catch(() => {});
    if ((await stopReason()) === null)
      await setup.runToEnd(engine, [await setup.orderTokens(await setup.recipient())]).catch(() => {});
    expect(await resume({ adopts: true })).toMatchObject({ foreignNonces: 1, adoptedPayments: 0 });
    const [{ transactionHash: paid } = { transactionHash: "" }] = await setup.anvil.tokenTransfersTo(setup.token, to);
    const report = await saldoJson(["recover", "report"], { DATABASE_URL: setup.opened.url });
    expect(report["foreignPayments"]).toContainEqual(expect.objectContaining({ hash: paid, units: String(UNITS) }));

    const other = await setup.orderTokens(await setup.recipient());
    const again = await order(setup, externalId, to);
    await setup.runToEnd(setup.engine(), [other]);
    await setup.engine().round();
    expect(await setup.merchant.transfer(again)).toMatchObject({
      status: "WAITING",
      awaitsApproval: true,
      reason: `The transfer may be paid by ${paid} already. It waits for approval.`,
    });
    expect(await paymentsTo(setup, to)).toEqual([UNITS]);
    // The operator decides that it is another one.
    await withTransaction(setup.database, (client) => approveTransfer(client, again));
    await setup.runToEnd(setup.engine(), [again]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS, UNITS]);
  });
});
