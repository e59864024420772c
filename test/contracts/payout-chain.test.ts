// What every chain that payouts go out on promises. The sandbox moves by a clock of the test; the evm one is a real node that
// mines on request, with a token of our own.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEvmChain } from "../../src/merchant/chains/evm/evm-chain.ts";
import {
  type ChainPayment,
  type FeeOffer,
  type PayoutChain,
  replacingFee,
  type SeenTransaction,
  type SignedTransaction,
} from "../../src/merchant/chains/payout-chain.ts";
import { BLOCK_MS, createSandboxChain } from "../../src/merchant/chains/sandbox/sandbox-chain.ts";
import { findCoin } from "../../src/merchant/chains/currencies.ts";
import { Anvil } from "../chains/anvil.ts";
import { createTestDatabase } from "../setup/test-database.ts";

type Setup = {
  readonly chain: PayoutChain;
  /** Payments that simply succeed: the chain's own coin, and a token. */
  readonly payments: readonly ChainPayment[];
  /** Payments that are mined and do not pay. */
  readonly failing: readonly ChainPayment[];
  /** Lets so many blocks pass. */
  mine(blocks?: number): Promise<void>;
  close(): Promise<void>;
};

const FINAL_AFTER = 3;

async function openSandbox(): Promise<Setup> {
  const opened = await createTestDatabase();
  let now = Date.UTC(2026, 10, 21);
  const usdt = findCoin("USDT", "bsc");
  const to = "0x52908400098527886E0F7030069857D2E4169EE7";
  return {
    chain: createSandboxChain(opened.database, { now: () => now }),
    payments: [
      { coin: findCoin("BTC"), to: "bc1q", units: 150_000_000n },
      { coin: usdt, to, units: 10n ** 18n },
    ],
    failing: [{ coin: usdt, to, units: 1_000_400_000_000_000_000n }],
    mine: (blocks = 1) => {
      now += BLOCK_MS * blocks;
      return Promise.resolve();
    },
    close: () => opened.drop(),
  };
}

async function openEvm(): Promise<Setup> {
  const anvil = await Anvil.start();
  const token = await anvil.deployToken();
  const hot = await anvil.wallet();
  const { address: to } = await anvil.wallet(0n);
  const { address: refused } = await anvil.wallet(0n);
  const { address: ignored } = await anvil.wallet(0n);
  await anvil.giveTokens(token, hot.address, 1_000_000_000n);
  await anvil.spoil(token, "refuse", refused);
  await anvil.spoil(token, "ignore", ignored);
  const usdt = findCoin("USDT");
  return {
    chain: createEvmChain({
      network: "ethereum",
      rpcUrl: anvil.url,
      chainId: 31_337,
      privateKey: hot.privateKey,
      tokens: { USDT: token },
      finality: FINAL_AFTER,
      maxFeeGwei: 500,
      timeoutMs: 10_000,
    }),
    payments: [
      { coin: findCoin("ETH"), to, units: 5n },
      { coin: usdt, to, units: 7n },
    ],
    failing: [
      { coin: usdt, to: refused, units: 1n },
      { coin: usdt, to: ignored, units: 1n },
    ],
    mine: (blocks) => anvil.mine(blocks),
    close: () => anvil.stop(),
  };
}

describe.each([
  ["sandbox", openSandbox],
  ["evm", openEvm],
])("the %s chain", (_name, open) => {
  let setup: Setup;
  let chain: PayoutChain;
  let payment: ChainPayment;
  beforeAll(async () => {
    setup = await open();
    ({ chain } = setup);
    const [first] = setup.payments;
    if (first === undefined) throw new Error("a chain has a payment to try");
    payment = first;
  });
  afterAll(() => setup.close());

  const suggest = async (replaced: FeeOffer | null = null): Promise<FeeOffer> => {
    const fee = await chain.suggestFee(replaced);
    if (fee === null) throw new Error("the chain suggests no fee");
    return fee;
  };
  const sign = async (nonce: number, what: ChainPayment | null = payment): Promise<SignedTransaction> =>
    chain.sign({ nonce, payment: what, fee: await suggest() });
  const find = async ({ hash }: SignedTransaction, what: ChainPayment | null = payment): Promise<SeenTransaction> =>
    chain.find({ hash, payment: what }, await chain.head());
  const sendAgain = async ({ raw }: SignedTransaction): Promise<void> => {
    // The network may report that it has it already, or not.
    await chain.broadcast(raw).catch(() => undefined);
  };

  it("fits what is configured, and has what it is asked to pay", async () => {
    await chain.check();
    for (const { coin, units } of setup.payments) {
      expect(chain.currencies).toContain(coin.currencyCode);
      expect(await chain.balance(coin)).toBeGreaterThan(units);
    }
    expect(chain.wallet).not.toBe("");
  });

  it("signs the same bytes for the same order, and sends nothing", async () => {
    const nonce = await chain.nextNonce();
    const fee = await suggest();
    const signed = await chain.sign({ nonce, payment, fee });
    expect(await chain.sign({ nonce, payment, fee })).toEqual(signed);
    await setup.mine();
    expect(await find(signed)).toEqual({ status: "unknown" });
    expect(await chain.nextNonce()).toBe(nonce);
    expect(await chain.holderOf(nonce, await chain.head())).toBeNull();
  });

  it("mines each kind of payment, counts what confirms it, and makes it final", async () => {
    for (const each of setup.payments) {
      const nonce = await chain.nextNonce();
      const signed = await sign(nonce, each);
      await chain.broadcast(signed.raw);
      expect(await find(signed, each)).toEqual({ status: "pending" });
      expect(await chain.nextNonce()).toBe(nonce);
      await setup.mine();
      const mined = await find(signed, each);
      expect(mined).toMatchObject({ status: "mined", confirmations: 1, isFinal: false, succeeded: true });
      expect(await chain.nextNonce()).toBe(nonce + 1);
      expect(await chain.holderOf(nonce, await chain.head())).toMatchObject({ hash: signed.hash, isFinal: false });
      await setup.mine(FINAL_AFTER - 1);
      const { block } = mined as { block: object };
      expect(await find(signed, each)).toMatchObject({
        block,
        confirmations: FINAL_AFTER,
        isFinal: true,
        succeeded: true,
      });
      expect(await chain.holderOf(nonce, await chain.head())).toMatchObject({ hash: signed.hash, isFinal: true });
    }
  });

  it("takes the same bytes again without harm, before and after they are mined", async () => {
    const nonce = await chain.nextNonce();
    const signed = await sign(nonce);
    await chain.broadcast(signed.raw);
    await sendAgain(signed);
    await setup.mine();
    await sendAgain(signed);
    await setup.mine(2);
    expect(await find(signed)).toMatchObject({ status: "mined", confirmations: 3 });
    expect(await chain.nextNonce()).toBe(nonce + 1);
  });

  it("mines one of two transactions with the same nonce, the one that offers more, and reports which", async () => {
    const nonce = await chain.nextNonce();
    const fee = await suggest();
    const first = await chain.sign({ nonce, payment, fee });
    const second = await chain.sign({ nonce, payment, fee: await suggest(fee) });
    await chain.broadcast(first.raw);
    await chain.broadcast(second.raw);
    await setup.mine();
    await sendAgain(first);
    await setup.mine(FINAL_AFTER);
    expect(await find(first)).toEqual({ status: "unknown" });
    expect(await find(second)).toMatchObject({ status: "mined", isFinal: true, succeeded: true });
    expect(await chain.holderOf(nonce, await chain.head())).toMatchObject({ hash: second.hash, isFinal: true });
    expect(await chain.nextNonce()).toBe(nonce + 1);
  });

  it("never mines bytes whose nonce is used up", async () => {
    const nonce = await chain.nextNonce();
    const first = await sign(nonce);
    await chain.broadcast(first.raw);
    await setup.mine();
    const late = await chain.sign({ nonce, payment, fee: await suggest(await suggest()) });
    await sendAgain(late);
    await setup.mine(2);
    expect(await find(late)).toEqual({ status: "unknown" });
    expect(await chain.holderOf(nonce, await chain.head())).toMatchObject({ hash: first.hash });
  });

  it("lets a later nonce wait for the earlier one", async () => {
    const nonce = await chain.nextNonce();
    const later = await sign(nonce + 1);
    await chain.broadcast(later.raw);
    await setup.mine(2);
    expect(await find(later)).toEqual({ status: "pending" });
    const earlier = await sign(nonce);
    await chain.broadcast(earlier.raw);
    await setup.mine();
    expect(await find(earlier)).toMatchObject({ status: "mined" });
    expect(await find(later)).toMatchObject({ status: "mined" });
    expect(await chain.nextNonce()).toBe(nonce + 2);
  });

  it("fills a nonce with a transaction that moves nothing", async () => {
    const nonce = await chain.nextNonce();
    const before = await Promise.all(setup.payments.slice(1).map(({ coin }) => chain.balance(coin)));
    const filler = await sign(nonce, null);
    await chain.broadcast(filler.raw);
    await setup.mine();
    expect(await find(filler, null)).toMatchObject({ status: "mined", succeeded: true });
    expect(await chain.nextNonce()).toBe(nonce + 1);
    expect(await Promise.all(setup.payments.slice(1).map(({ coin }) => chain.balance(coin)))).toEqual(before);
  });

  it("reports of a mined transaction that did not pay that it did not", async () => {
    for (const failing of setup.failing) {
      const nonce = await chain.nextNonce();
      const signed = await sign(nonce, failing);
      await chain.broadcast(signed.raw);
      await setup.mine(FINAL_AFTER);
      expect(await find(signed, failing)).toMatchObject({ status: "mined", isFinal: true, succeeded: false });
      expect(await chain.nextNonce()).toBe(nonce + 1);
    }
  });

  it("offers at least an eighth more for a replacement", async () => {
    const fee = { most: 2_000_000_001n, priority: 1_000_000_001n };
    const raised = await suggest(fee);
    expect(raised.most * 8n).toBeGreaterThanOrEqual(fee.most * 9n);
    expect(raised.priority * 8n).toBeGreaterThanOrEqual(fee.priority * 9n);
    expect(raised.most).toBeGreaterThanOrEqual(raised.priority);
    expect(replacingFee({ most: 0n, priority: 0n }, { most: 0n, priority: 0n })).toEqual({ most: 2n, priority: 2n });
  });
});
