// Books that were restored to before the first payment of a wallet have no row of it, and its address has sent all the same.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findCoin } from "../../../src/merchant/chains/currencies.ts";
import { inTransaction } from "../../../src/merchant/payouts/payout-transaction.ts";
import { findForeignNonces, resumeSigning } from "../../../src/merchant/payouts/resume-wallet.ts";
import { findStop } from "../../../src/operator/commands/payouts.ts";
import { onServer } from "../../setup/test-servers.ts";
import { EvmSetup, FINAL_AFTER, UNITS } from "./evm-setup.ts";
import { helpersOf } from "./lost-books.ts";

describe("an address that has sent before its wallet is in the books", () => {
  let setup: EvmSetup;
  let elsewhere: string;
  beforeEach(async () => {
    setup = await EvmSetup.open();
    elsewhere = await mkdtemp(join(tmpdir(), "saldo-elsewhere-"));
  });
  afterEach(async () => {
    await setup.close();
    await rm(elsewhere, { recursive: true });
  });
  const { lose, resume, stopReason } = helpersOf(() => setup);

  it("has a wallet that stops, and what it has paid is adopted instead of paid again", async () => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to);
    // The node that paid has its journal with it, and does not come back.
    await lose(
      async (engine) => {
        await engine.round();
        await setup.anvil.mine(FINAL_AFTER);
      },
      { folder: elsewhere },
    );
    const engine = setup.engine();
    await engine.round();
    const reason = "has sent 1 transactions that the books do not have";
    expect(await stopReason()).toContain(`${setup.hot.address} ${reason}`);
    expect(await stopReason()).toContain("saldo payout resume --chain ethereum");
    expect(setup.troubles).toMatchObject([{ kind: "books_changed" }]);
    await engine.round();
    expect(await setup.pooled()).toEqual([]);
    await expect(resume()).rejects.toThrow(`pays transfer ${transferId}, which is open: resume with --adopt`);
    expect(await resume({ adopts: true })).toEqual({ foreignNonces: 0, adoptedPayments: 1, isNew: true });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("does not pay before the chain has what waits for a block", async () => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to);
    await lose((engine) => engine.round(), { folder: elsewhere });
    const engine = setup.engine();
    await engine.round();
    expect(await stopReason()).toContain("has sent 1 transactions");
    await expect(resume({ adopts: true })).rejects.toThrow("a transaction of nonce 0 that waits for a block");
    await setup.anvil.mine(FINAL_AFTER);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1 });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("begins at a nonce that an operator names, where these books have never paid from it", async () => {
    const chain = setup.chain();
    const fee = await chain.suggestFee(null);
    if (fee === null) throw new Error("the fee is too high");
    for (let nonce = 0; nonce < 3; nonce += 1)
      await chain.broadcast((await chain.sign({ nonce, payment: null, fee })).raw);
    await setup.anvil.mine(FINAL_AFTER);
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to);
    const engine = setup.engine();
    await engine.round();
    await expect(resume({ firstNonce: 4 })).rejects.toThrow("must be 3 at most");
    expect(await resume({ firstNonce: 2 })).toEqual({ foreignNonces: 1, adoptedPayments: 0, isNew: true });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    await onServer(setup.opened.url, "UPDATE wallet SET halted_at = now(), halt_reason = 'test'");
    await expect(resume({ firstNonce: 4 })).rejects.toThrow("is only for a wallet that has never paid");
  });

  it("stays stopped while the chain has used more nonces than one order has read", async () => {
    const [to, before, chain] = [await setup.recipient(), await setup.available(), setup.chain()];
    const transferId = await setup.orderTokens(to);
    const fee = await chain.suggestFee(null);
    if (fee === null) throw new Error("the fee is too high");
    const payment = { coin: findCoin("USDT", "ethereum"), to, units: UNITS };
    // The last of them pays the open transfer.
    for (const [nonce, each] of [null, null, payment].entries())
      await chain.broadcast((await chain.sign({ nonce, payment: each, fee })).raw);
    await setup.anvil.mine(FINAL_AFTER);
    const engine = setup.engine();
    await engine.round();
    const { pool } = setup.database;
    const found = await findForeignNonces(pool, chain);
    const { stoppedAt = new Date(0) } = (await findStop(pool, { chains: [chain], name: chain.name })) ?? {};
    const first = { ...found, foreign: found.foreign.slice(0, 1) };
    const resumed = await inTransaction(pool, (client) => resumeSigning(client, first, { stoppedAt, adopts: true }));
    const reason =
      "the chain has used 3 nonces, and they are read up to 1: run saldo payout resume --chain ethereum again";
    expect(resumed).toEqual({ foreignNonces: 1, adoptedPayments: 0, isNew: true, nextStopReason: reason });
    expect(await stopReason()).toBe(reason);
    await engine.round();
    expect(await setup.merchant.history(transferId)).toEqual([]);
    await expect(resume()).rejects.toThrow(`pays transfer ${transferId}, which is open`);
    expect(await resume({ adopts: true })).toEqual({ foreignNonces: 1, adoptedPayments: 1, isNew: true });
    expect(await stopReason()).toBeNull();
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("takes no nonce that the chain has used, though its node does not show by whom, and reports that", async () => {
    const [to, chain, engine] = [await setup.recipient(), setup.chain(), setup.engine()];
    await setup.runToEnd(engine, [await setup.orderTokens(await setup.recipient())]);
    const before = await setup.available();
    const fee = await chain.suggestFee(null);
    if (fee === null) throw new Error("the fee is too high");
    await chain.broadcast((await chain.sign({ nonce: await chain.nextNonce(), payment: null, fee })).raw);
    await setup.anvil.mine(FINAL_AFTER);
    const transferId = await setup.orderTokens(to);
    const known = setup.troubles.length;
    await setup.engine({ chain: { ...chain, holderOf: () => Promise.resolve(null) } }).round();
    expect(await stopReason()).toBeNull();
    expect(await setup.merchant.history(transferId)).toEqual([]);
    const nonce = (await chain.nextNonce()) - 1;
    expect(setup.troubles.slice(known)).toEqual([{ kind: "holder_unknown", chain: "ethereum", nonce }]);
    await engine.round();
    expect(await stopReason()).toContain("which we have not signed");
    expect(await resume()).toMatchObject({ foreignNonces: 1 });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("waits with a payout whose nonce another transaction has used, and reports that the node does not show it", async () => {
    const [to, chain] = [await setup.recipient(), setup.chain()];
    const silent = { ...chain, holderOf: () => Promise.resolve(null) };
    await setup.runToEnd(setup.engine(), [await setup.orderTokens(await setup.recipient())]);
    const transferId = await setup.orderTokens(to);
    // The engine has chosen the nonce, and its transaction does not reach the network.
    await setup.engine({ chain: { ...chain, broadcast: () => Promise.resolve() } }).round();
    const nonce = await chain.nextNonce();
    const fee = await chain.suggestFee(null);
    if (fee === null) throw new Error("the fee is too high");
    await chain.broadcast((await chain.sign({ nonce, payment: null, fee })).raw);
    await setup.anvil.mine(FINAL_AFTER);
    const known = setup.troubles.length;
    await setup.engine({ chain: silent }).round();
    expect(setup.troubles.slice(known)).toContainEqual({ kind: "holder_unknown", chain: "ethereum", nonce });
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).not.toContain("final");
  });
});
