// Lost transfers that do not fit into the books of now: their nonce was taken for another transfer, or their name by another order.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inTransaction } from "../../../src/merchant/payouts/payout-transaction.ts";
import { findForeignNonces, resumeSigning } from "../../../src/merchant/payouts/resume-wallet.ts";
import { haltWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import { runSaldo, saldoJson } from "../../setup/saldo-command.ts";
import { AMOUNT, type EvmSetup, FINAL_AFTER, TOTAL, UNITS } from "./evm-setup.ts";
import { paymentsTo, rewriteJournal, testing } from "./lost-books.ts";
import { expectSoundBooks } from "./ordered.ts";

const { setup: now, stopReason, resume, lose, changeTimeline } = testing();
const HELD_BACK = "UPDATE transfer SET status = 'WAITING', awaits_approval = true, reason = 'held' WHERE id = $1";
const TO_BE_PAID = "UPDATE transfer SET status = 'PENDING', awaits_approval = false, reason = NULL WHERE id = $1";
let elsewhere: string;
beforeAll(async () => {
  elsewhere = await mkdtemp(join(tmpdir(), "saldo-elsewhere-"));
});
afterAll(() => rm(elsewhere, { recursive: true }));

function order(setup: EvmSetup, externalId: string, to: Hex, database = setup.database): Promise<string> {
  return setup.merchant.order({ currencyCode: "USDT", amount: AMOUNT, to, externalId }, database);
}

async function walletId(setup: EvmSetup): Promise<string> {
  const { rows } = await setup.database.pool.query<{ id: string }>("SELECT id FROM wallet WHERE chain = 'ethereum'");
  return rows[0]?.id ?? "";
}

describe("a lost transfer whose nonce was taken for another one", () => {
  /** The books go on without the journal, and take the nonce for `next`. The chain takes the lost transaction. */
  async function displace(setup: EvmSetup, { lost, next }: { lost: () => Promise<void>; next: () => Promise<string> }) {
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    await lost();
    // The network refuses what offers nothing, so the lost transaction stays the only one of its nonce.
    const chain = setup.chain(undefined, { maxFeeGwei: 0 });
    const engine = setup.engine({ chain, guard: setup.guard({ folder: elsewhere }) });
    const displaced = await next();
    await engine.round();
    await setup.anvil.mine(FINAL_AFTER);
    await engine.round();
    await engine.round();
    expect((await setup.merchant.history(displaced)).map(({ state }) => state)).toEqual(["displaced"]);
    await changeTimeline();
    await setup.engine().round();
    return displaced;
  }

  it("is made again as paid, and the other one is paid with another nonce", async () => {
    const setup = now();
    const [to, other, before] = [await setup.recipient(), await setup.recipient(), await setup.available()];
    let transferId = "";
    const displaced = await displace(setup, {
      lost: () =>
        lose(async (engine, database) => {
          transferId = await order(setup, "taken-1", to, database);
          await engine.round();
        }),
      next: () => setup.orderTokens(other),
    });
    await expect(resume()).rejects.toThrow(/which the books have lost: resume with --adopt/);
    const resumed = await resume({ adopts: true });
    expect(resumed).toEqual({ foreignNonces: 0, adoptedPayments: 1, isNew: true, remadeTransfers: [transferId] });
    const [paid] = await setup.anvil.tokenTransfersTo(setup.token, to);
    expect(await setup.merchant.transfer(transferId)).toMatchObject({
      status: "CONFIRMED",
      transactionHash: paid?.transactionHash,
    });
    await setup.runToEnd(setup.engine(), [displaced]);
    expect(await order(setup, "taken-1", to)).toBe(transferId);
    await setup.engine().round();
    expect([await paymentsTo(setup, to), await paymentsTo(setup, other)]).toEqual([[UNITS], [UNITS]]);
    expect(before - (await setup.available())).toBeCloseTo(3 * TOTAL, 6);
    await expectSoundBooks(setup.database);
  });

  it("is not taken for the payment of another one that orders the same", async () => {
    const setup = now();
    const to = await setup.recipient();
    let transferId = "";
    const displaced = await displace(setup, {
      lost: () =>
        lose(async (engine, database) => {
          transferId = await order(setup, "taken-2", to, database);
          await engine.round();
        }),
      next: () => order(setup, "taken-2-again", to),
    });
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, remadeTransfers: [transferId] });
    const [paid] = await setup.anvil.tokenTransfersTo(setup.token, to);
    expect(await setup.merchant.transfer(transferId)).toMatchObject({ transactionHash: paid?.transactionHash });
    // A second stop, before the other one has got its nonce.
    await haltWallet(setup.database.pool, await walletId(setup), "again");
    expect(await resume({ adopts: true })).toMatchObject({ foreignNonces: 0, adoptedPayments: 0 });
    await setup.runToEnd(setup.engine(), [displaced]);
    expect(await paymentsTo(setup, to)).toEqual([UNITS, UNITS]);
    await expectSoundBooks(setup.database);
  });

  it("is not made again where the network has reverted its transaction", async () => {
    const setup = now();
    const [to, other] = [await setup.recipient(), await setup.recipient()];
    await setup.anvil.spoil(setup.token, "refuse", to);
    const displaced = await displace(setup, {
      lost: () =>
        lose(async (engine, database) => {
          await order(setup, "taken-3", to, database);
          await engine.round();
        }),
      next: () => setup.orderTokens(other),
    });
    expect(await resume({ adopts: true })).toEqual({ foreignNonces: 0, adoptedPayments: 0, isNew: true });
    const again = await order(setup, "taken-3", to);
    expect(await setup.merchant.transfer(again)).toMatchObject({ status: "PENDING", awaitsApproval: false });
    await setup.runToEnd(setup.engine(), [displaced, again]);
    expect(await setup.merchant.transfer(again)).toMatchObject({ status: "REJECTED" });
    expect([await paymentsTo(setup, to), await paymentsTo(setup, other)]).toEqual([[], [UNITS]]);
    await expectSoundBooks(setup.database);
  });

  it("is open in the books, and confirmed by the transaction that no journal has", async () => {
    const setup = now();
    const [to, other, before] = [await setup.recipient(), await setup.recipient(), await setup.available()];
    let open = "";
    const displaced = await displace(setup, {
      lost: async () => {
        open = await setup.orderTokens(to);
        await setup.database.pool.query(HELD_BACK, [open]);
        await lose(async (engine, database) => {
          await database.pool.query(TO_BE_PAID, [open]);
          await engine.round();
        });
        await rewriteJournal(setup, (entry) => (entry["transferId"] === open ? null : entry));
      },
      next: () => setup.orderTokens(other),
    });
    await setup.database.pool.query(TO_BE_PAID, [open]);
    if ((await stopReason()) === null) await haltWallet(setup.database.pool, await walletId(setup), "looked at");
    await expect(resume()).rejects.toThrow(`pays transfer ${open}, which is open: resume with --adopt`);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1 });
    expect(await setup.merchant.statuses(open)).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
    await setup.runToEnd(setup.engine(), [displaced]);
    expect([await paymentsTo(setup, to), await paymentsTo(setup, other)]).toEqual([[UNITS], [UNITS]]);
    expect(before - (await setup.available())).toBeCloseTo(3 * TOTAL, 6);
    await expectSoundBooks(setup.database);
  });

  it("is made again where the other one was rejected meanwhile", async () => {
    const setup = now();
    const [to, other] = [await setup.recipient(), await setup.recipient()];
    let transferId = "";
    const displaced = await displace(setup, {
      lost: () =>
        lose(async (engine, database) => {
          transferId = await order(setup, "taken-5", to, database);
          await engine.round();
        }),
      next: () => setup.orderTokens(other),
    });
    const rejection = ["transfer", "reject", "--transfer", displaced, "--reason", "no"];
    await saldoJson(rejection, { DATABASE_URL: setup.opened.url });
    await expect(resume()).rejects.toThrow(/which the books have lost: resume with --adopt/);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, remadeTransfers: [transferId] });
    expect(await order(setup, "taken-5", to)).toBe(transferId);
    await setup.engine().round();
    expect([await paymentsTo(setup, to), await paymentsTo(setup, other)]).toEqual([[UNITS], []]);
    await expectSoundBooks(setup.database);
  });

  it("is not passed over where the nonce is used up while the chain is asked", async () => {
    const setup = now();
    const [to, other] = [await setup.recipient(), await setup.recipient()];
    const { pool } = setup.database;
    let transferId = "";
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    await lose(async (engine, database) => {
      transferId = await order(setup, "taken-6", to, database);
      await engine.round();
    });
    const chain = setup.chain(undefined, { maxFeeGwei: 0 });
    const displaced = await setup.orderTokens(other);
    await setup.engine({ chain, guard: setup.guard({ folder: elsewhere }) }).round();
    await changeTimeline();
    await setup.anvil.mine(1);
    await setup.engine().round();
    const found = await findForeignNonces(pool, setup.chain());
    await setup.anvil.mine(FINAL_AFTER);
    await setup.engine().round();
    expect((await setup.merchant.history(displaced)).map(({ state }) => state)).toEqual(["displaced"]);
    const stop = await pool.query("SELECT halted_at FROM wallet WHERE chain = 'ethereum'");
    const meant = { stoppedAt: stop.rows[0].halted_at, adopts: true };
    await expect(inTransaction(pool, (client) => resumeSigning(client, found, meant))).rejects.toThrow(/resume again/);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, remadeTransfers: [transferId] });
    await setup.runToEnd(setup.engine(), [displaced]);
    expect(await order(setup, "taken-6", to)).toBe(transferId);
    expect([await paymentsTo(setup, to), await paymentsTo(setup, other)]).toEqual([[UNITS], [UNITS]]);
    await expectSoundBooks(setup.database);
  });
});

describe("a lost transfer whose externalId another order has by now", () => {
  /** Loses the order, and lets its merchant order something else by its name. */
  async function reuse(setup: EvmSetup, externalId: string, { isMined = true } = {}) {
    const [to, other] = [await setup.recipient(), await setup.recipient()];
    let lost = "";
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    await lose(async (engine, database) => {
      lost = await order(setup, externalId, to, database);
      await engine.round();
      if (isMined) await setup.anvil.mine(FINAL_AFTER);
      await engine.round();
    });
    await changeTimeline();
    await setup.engine().round();
    const taken = await order(setup, externalId, other);
    return { to, other, lost, taken };
  }

  it("is shown while it is lost, and does not keep the other one from being canceled", async () => {
    const setup = now();
    const { lost, taken } = await reuse(setup, "name-1");
    const env = { DATABASE_URL: setup.opened.url };
    const report = await saldoJson(["recover", "report"], env);
    expect(report["takenNames"]).toMatchObject([{ transferId: lost, externalId: "name-1", takenBy: taken }]);
    const { stdout } = await runSaldo(["recover", "report"], env);
    expect(stdout).toMatch(new RegExp(`another order has.*\n(?:.*\n)*.*${lost}.*name-1.*${taken}`));
    const status = await saldoJson(["payout", "status"], env);
    const reason = `the externalId "name-1" of the lost transfer ${lost} is that of transfer ${taken} now`;
    expect(status["wallets"]).toContainEqual(
      expect.objectContaining({ chain: "ethereum", haltReason: expect.stringContaining(reason) }),
    );
    setup.troubles.length = 0;
    await setup.engine().round();
    expect(setup.troubles).toMatchObject([{ kind: "lost_name_taken", transferId: lost, takenBy: taken }]);
    await saldoJson(["transfer", "reject", "--transfer", taken, "--reason", "no"], env);
    expect(await setup.merchant.transfer(taken)).toMatchObject({ status: "REJECTED" });
    await resume({ adopts: true });
    await setup.runToEnd(setup.engine(), [lost]);
  });

  it.each([true, false])("is made again under another name, and both are paid once (mined: %s)", async (isMined) => {
    const setup = now();
    const before = await setup.available();
    const { to, other, lost, taken } = await reuse(setup, `name-${isMined}`, { isMined });
    await expect(resume()).rejects.toThrow(/resume with --adopt/);
    expect(await resume({ adopts: true })).toEqual({
      foreignNonces: 0,
      adoptedPayments: 1,
      isNew: true,
      remadeTransfers: [lost],
      renamed: [{ transferId: lost, orderedAs: `name-${isMined}`, externalId: `lost-${lost}`, takenBy: taken }],
    });
    await setup.runToEnd(setup.engine(), [lost, taken]);
    expect(await setup.merchant.transfer(lost)).toMatchObject({ status: "CONFIRMED", externalId: `lost-${lost}` });
    expect([await paymentsTo(setup, to), await paymentsTo(setup, other)]).toEqual([[UNITS], [UNITS]]);
    expect(before - (await setup.available())).toBeCloseTo(3 * TOTAL, 6);
    expect(await saldoJson(["recover", "report"], { DATABASE_URL: setup.opened.url })).toMatchObject({
      takenNames: [],
    });
    const { rows } = await setup.database.pool.query(
      "SELECT facts FROM operator_action WHERE action = 'payout resume' ORDER BY id DESC LIMIT 1",
    );
    expect(rows[0].facts).toMatchObject({ renamed: `${lost} as lost-${lost}` });
    await expectSoundBooks(setup.database);
  });

  it("takes a name that is free where its merchant has taken that one, too", async () => {
    const setup = now();
    const { lost } = await reuse(setup, "name-2");
    await order(setup, `lost-${lost}`, await setup.recipient());
    const { renamed } = await resume({ adopts: true });
    expect(renamed).toMatchObject([{ transferId: lost, orderedAs: "name-2" }]);
    expect(renamed?.[0]?.externalId).toMatch(new RegExp(`^lost-${lost}-[0-9a-f-]{36}$`));
    await setup.runToEnd(setup.engine(), [lost]);
  });
});
