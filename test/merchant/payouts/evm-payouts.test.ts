// Transfers on a real node under what networks do: lost answers, dropped and replaced transactions, reorganizations, another
// user of the key. Whatever happens, the chain has one transfer to the recipient, the merchant one debit, and both agree.

import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemAccounts } from "../../../src/ledger/system-accounts.ts";
import { findCoin } from "../../../src/merchant/chains/currencies.ts";
import { WAITS_FOR_FUNDS } from "../../../src/merchant/payouts/choose-transfers.ts";
import { findStop, resumeWallet } from "../../../src/operator/commands/payouts.ts";
import { REVERTED } from "../../../src/merchant/payouts/settle-payout.ts";
import { RpcProxy } from "../../chains/rpc-proxy.ts";
import { AMOUNT, EvmSetup, FINAL_AFTER, TOTAL, UNITS } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

/** More than an engine looks at of one currency, when it may take one. */
const CROWD = 101;

describe("a transfer on a real node", () => {
  let setup: EvmSetup;
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterAll(() => setup.close());

  /** Ends the stop that there is. */
  const resume = async ({ adopts = false } = {}) => {
    const wallet = { chains: [setup.chain()], name: setup.chain().name };
    const stop = await findStop(setup.database.pool, wallet);
    const meant = { ...wallet, stoppedAt: stop?.stoppedAt ?? new Date(0), reason: "it was us", adopts };
    return resumeWallet({ database: setup.database, operator: "test" }, meant);
  };

  it("is paid, final after enough blocks, and what the network took is posted", async () => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to, AMOUNT);
    await setup.runToEnd(setup.engine(), [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    const { transactionHash } = await setup.merchant.transfer(transferId);
    const { gasUsed, effectiveGasPrice } = await setup.anvil.rpc<{ gasUsed: Hex; effectiveGasPrice: Hex }>(
      "eth_getTransactionReceipt",
      [transactionHash],
    );
    const { rows } = await setup.database.pool.query("SELECT asset, debit, amount FROM posting WHERE reference = $1", [
      `network_fee:${transactionHash}`,
    ]);
    expect(rows).toEqual([
      {
        asset: "ETH/18",
        debit: systemAccounts.networkFees,
        amount: String(BigInt(gasUsed) * BigInt(effectiveGasPrice)),
      },
    ]);
  });

  it("of the native coin is paid", async () => {
    const to = await setup.recipient();
    const transferId = await setup.merchant.order({ currencyCode: "ETH", amount: "0.25", to });
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await setup.anvil.balanceOf(to)).toBe(250_000_000_000_000_000n);
    expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
    await expectSoundBooks(setup.database);
  });

  it.each(["refuse", "ignore"] as const)(
    "that the token would %s is rejected, and the funds are back once",
    async (how) => {
      const to = await setup.recipient();
      await setup.anvil.spoil(setup.token, how, to);
      const before = await setup.available();
      const transferId = await setup.orderTokens(to, AMOUNT);
      const engine = setup.engine();
      await setup.runToEnd(engine, [transferId]);
      await engine.round();
      expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "SUBMITTED", "REJECTED"]);
      expect((await setup.merchant.transfer(transferId)).reason).toBe(REVERTED);
      expect(await setup.available()).toBe(before);
      expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toEqual([]);
      await expectSoundBooks(setup.database);
    },
  );

  it("whose node accepts it without an answer is found by its hash", async () => {
    const proxy = await RpcProxy.before(setup.anvil.url);
    try {
      const to = await setup.recipient();
      const before = await setup.available();
      const transferId = await setup.orderTokens(to, AMOUNT);
      proxy.once("eth_sendRawTransaction", "lose answer");
      const engine = setup.engine({ chain: setup.chain(proxy.url) });
      await engine.round();
      expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "SUBMITTED"]);
      await setup.runToEnd(engine, [transferId]);
      expect(proxy.calls.get("eth_sendRawTransaction")).toBe(1);
      await setup.expectPaidOnce(transferId, to, before);
    } finally {
      await proxy.close();
    }
  });

  it("whose node is silent at every step gets through all the same", async () => {
    const proxy = await RpcProxy.before(setup.anvil.url);
    try {
      const to = await setup.recipient();
      const before = await setup.available();
      const transferId = await setup.orderTokens(to, AMOUNT);
      const steps = [
        "eth_chainId",
        "eth_call",
        "eth_getTransactionCount",
        "eth_maxPriorityFeePerGas",
        "eth_getBalance",
        "eth_sendRawTransaction",
        "eth_getTransactionReceipt",
        "eth_blockNumber",
        "eth_getBlockByNumber",
      ];
      for (const method of steps) for (const fault of ["lose call", "lose answer"] as const) proxy.once(method, fault);
      const engine = setup.engine({ chain: setup.chain(proxy.url) });
      // A round that fails is tried again, as workers do.
      await setup.runToEnd({ round: () => engine.round().catch(() => undefined) }, [transferId]);
      expect(proxy.calls.get("eth_sendRawTransaction")).toBeGreaterThan(1);
      await setup.expectPaidOnce(transferId, to, before);
    } finally {
      await proxy.close();
    }
  });

  it("that the node drops is sent again, the same bytes", async () => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to, AMOUNT);
    const engine = setup.engine();
    await engine.round();
    const [hash] = await setup.pooled();
    await setup.anvil.rpc("anvil_dropTransaction", [hash]);
    expect(await setup.pooled()).toEqual([]);
    await engine.round();
    expect(await setup.pooled()).toEqual([hash]);
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    expect((await setup.merchant.history(transferId)).flatMap(({ attempts }) => attempts)).toHaveLength(1);
  });

  it("that is stuck is replaced with the same nonce and a higher fee, and one of the two is paid", async () => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to, AMOUNT);
    await setup.engine().round();
    const [first] = await setup.pooled();
    await setup.engine({ policy: { stuckAfterMs: 0 } }).round();
    const [second] = await setup.pooled();
    expect(second).not.toBe(first);
    await setup.runToEnd(setup.engine(), [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    const [payout] = await setup.merchant.history(transferId);
    expect(payout?.attempts.map(({ hash }) => hash)).toEqual([first, second]);
    expect((await setup.merchant.transfer(transferId)).transactionHash).toBe(second);
  });

  it.each([1, 3, 12])("whose block is replaced in a reorganization of %i is mined again, once", async (depth) => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to, AMOUNT);
    const engine = setup.engine();
    await engine.round();
    await setup.anvil.mine(depth);
    await engine.round();
    expect((await setup.merchant.transfer(transferId)).confirmations).toBe(depth);
    const [mined] = (await setup.merchant.history(transferId)).flatMap(({ attempts }) => attempts);
    await setup.anvil.rpc("anvil_reorg", [depth, []]);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toEqual([]);
    await engine.round();
    expect((await setup.merchant.transfer(transferId)).confirmations).toBe(0);
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    const [final] = (await setup.merchant.history(transferId)).flatMap(({ attempts }) => attempts);
    expect(final?.hash).toBe(mined?.hash);
    expect(final?.blockHash).not.toBe(mined?.blockHash);
  });

  it("goes out once though two engines race, which know nothing of each other", async () => {
    const recipients = await Promise.all(Array.from({ length: 4 }, () => setup.recipient()));
    const before = await setup.available();
    const transferIds = await Promise.all(recipients.map((to) => setup.orderTokens(to, AMOUNT)));
    const engines = [setup.engine(), setup.engine({ policy: { stuckAfterMs: 0 } })];
    await setup.runToEnd(
      { round: async () => void (await Promise.all(engines.map((each) => each.round()))) },
      transferIds,
    );
    for (const [at, to] of recipients.entries()) {
      const { transactionHash } = await setup.merchant.transfer(transferIds[at] ?? "");
      expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toEqual([{ transactionHash, value: UNITS }]);
    }
    expect(before - (await setup.available())).toBeCloseTo(4 * TOTAL, 6);
    await expectSoundBooks(setup.database);
    expect(setup.troubles.filter(({ kind }) => kind === "foreign_nonce")).toEqual([]);
  });

  it("waits while the wallet has too little, lets others go first, and goes on when it is refilled", async () => {
    const to = await setup.recipient();
    const small = await setup.recipient();
    const left = await setup.chain().balance({ currencyCode: "USDT", network: "ethereum", decimals: 6 });
    const transferId = await setup.orderTokens(to, "2000");
    const other = await setup.orderTokens(small, AMOUNT);
    expect(left).toBeLessThan(2_000_000_000n);
    const engine = setup.engine();
    await engine.round();
    expect(await setup.merchant.transfer(transferId)).toMatchObject({ status: "WAITING", reason: WAITS_FOR_FUNDS });
    expect(await setup.merchant.statuses(other)).toEqual(["PENDING", "SUBMITTED"]);
    await engine.round();
    expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "WAITING"]);
    await setup.anvil.giveTokens(setup.token, setup.hot.address, 2_000_000_000n);
    await setup.runToEnd(engine, [transferId, other]);
    expect(await setup.merchant.statuses(transferId)).toEqual([
      "PENDING",
      "WAITING",
      "PENDING",
      "SUBMITTED",
      "CONFIRMED",
    ]);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toHaveLength(1);
    await expectSoundBooks(setup.database);
  });

  it("whose nonce a foreign transaction uses stops the wallet, and is paid by another nonce when that is final", async () => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to, AMOUNT);
    const engine = setup.engine();
    await engine.round();
    const [ours] = await setup.pooled();
    await setup.anvil.rpc("anvil_dropTransaction", [ours]);
    const chain = setup.chain();
    const thief = await chain.sign({
      nonce: await chain.nextNonce(),
      payment: null,
      fee: { most: 10n ** 10n, priority: 10n ** 9n },
    });
    await chain.broadcast(thief.raw);
    await setup.anvil.mine();
    await engine.round();
    expect(setup.troubles.at(-1)).toMatchObject({ kind: "foreign_nonce", hash: thief.hash });
    // Not final yet: it may still be ours that comes through.
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["broadcast"]);
    await setup.anvil.mine(FINAL_AFTER);
    await engine.round();
    await engine.round();
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["displaced"]);
    expect(await setup.pooled()).toEqual([]);
    expect((await setup.merchant.transfer(transferId)).status).toBe("SUBMITTED");

    expect(await resume()).toMatchObject({ foreignNonces: 0, isNew: true });
    expect(await resume()).toMatchObject({ foreignNonces: 0, isNew: false });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["displaced", "confirmed"]);
  });

  it("stops when the key was used elsewhere meanwhile, and leaves no gap when it goes on", async () => {
    const chain = setup.chain();
    const foreign = await chain.sign({
      nonce: await chain.nextNonce(),
      payment: null,
      fee: { most: 10n ** 10n, priority: 10n ** 9n },
    });
    await chain.broadcast(foreign.raw);
    await setup.anvil.mine();
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to, AMOUNT);
    const engine = setup.engine();
    await engine.round();
    expect(setup.troubles.at(-1)).toMatchObject({ kind: "foreign_nonce", hash: foreign.hash });
    expect(await setup.merchant.history(transferId)).toEqual([]);
    await expect(resume()).rejects.toThrow("not final");
    await setup.anvil.mine(FINAL_AFTER);
    expect(await resume()).toMatchObject({ foreignNonces: 1, isNew: true });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  /** Pays as a payout did that the books have lost. */
  async function payUnrecorded(to: Hex): Promise<void> {
    const chain = setup.chain();
    const payment = { coin: findCoin("USDT", "ethereum"), to, units: UNITS };
    const fee = { most: 90_000_000_000n, priority: 3_000_000_000n };
    const { raw } = await chain.sign({ nonce: await chain.nextNonce(), payment, fee });
    await chain.broadcast(raw);
    await setup.anvil.mine(FINAL_AFTER);
  }

  it("that the chain has as paid and restored books as open is adopted, and never paid again", async () => {
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to, AMOUNT);
    await payUnrecorded(to);
    const engine = setup.engine();
    await engine.round();
    await expect(resume()).rejects.toThrow(/is open: resume with --adopt/);
    await engine.round();
    expect(await resume({ adopts: true })).toEqual({ foreignNonces: 0, adoptedPayments: 1, isNew: true });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("that was paid by another transaction of its nonce than the books have is adopted", async () => {
    const proxy = await RpcProxy.before(setup.anvil.url);
    try {
      const to = await setup.recipient();
      const before = await setup.available();
      const transferId = await setup.orderTokens(to, AMOUNT);
      proxy.once("eth_sendRawTransaction", "lose call");
      const engine = setup.engine({ chain: setup.chain(proxy.url) });
      await engine.round();
      await payUnrecorded(to);
      await engine.round();
      expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["displaced"]);
      await expect(resume()).rejects.toThrow(/is open: resume with --adopt/);
      expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1, isNew: true });
      await setup.runToEnd(engine, [transferId]);
      await setup.expectPaidOnce(transferId, to, before);
    } finally {
      await proxy.close();
    }
  });

  it("of one coin goes out though a crowd waits for another", async () => {
    const to = await setup.recipient();
    for (let each = 0; each <= CROWD; each += 1) await setup.orderTokens(to, "1");
    const transferId = await setup.merchant.order({ currencyCode: "ETH", amount: "0.25", to });
    const chain = setup.chain();
    const balance: typeof chain.balance = (coin) =>
      coin.currencyCode === "USDT" ? Promise.resolve(0n) : chain.balance(coin);
    await setup.engine({ chain: { ...chain, balance }, policy: { maxInFlight: 1 } }).round();
    expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "SUBMITTED"]);
  });
});
