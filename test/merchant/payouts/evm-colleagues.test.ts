// Two engines on one wallet of a real node, of which one pauses in the middle of a round while the other goes on: what
// the slower one has read is old by then, and nothing that it does next may rest on that.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PayoutChain } from "../../../src/merchant/chains/payout-chain.ts";
import { stopSigning } from "../../../src/merchant/payouts/foreign-transaction.ts";
import { resumeSigning } from "../../../src/merchant/payouts/resume-wallet.ts";
import { inTransaction } from "../../../src/merchant/payouts/payout-transaction.ts";
import { haltWallet, lockWallet, readWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import { moveTransfer } from "../../../src/merchant/transfers/transfer-states.ts";
import { RpcProxy } from "../../chains/rpc-proxy.ts";
import { EvmSetup, FINAL_AFTER, TOTAL } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

/** A chain that lets something happen before one of its questions is asked, once, when it is asked so many times. */
function interrupted(
  chain: PayoutChain,
  { question, times, by }: { question: "nextNonce" | "head"; times: number; by: () => Promise<void> },
): PayoutChain {
  let asked = 0;
  const ask = chain[question] as () => Promise<never>;
  return {
    ...chain,
    [question]: async () => {
      asked += 1;
      if (asked === times) await by();
      return ask();
    },
  };
}

describe("an engine that pauses while another one works", () => {
  let setup: EvmSetup;
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterAll(() => setup.close());

  const walletId = async (): Promise<string> => {
    const chain = setup.chain();
    const wallet = await readWallet(setup.database.pool, { chain: chain.name, address: chain.wallet });
    return wallet?.walletId ?? "";
  };
  /** The other engine outbids what is stuck, and that becomes final. */
  const outbid = async (): Promise<void> => {
    await setup.engine({ policy: { stuckAfterMs: 0 } }).round();
    await setup.anvil.mine(FINAL_AFTER);
  };

  it("before it asks for the nonce does not take what its colleague sent for a stranger's", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    await setup.engine().round();
    // The first time it asks, it watches the wallet.
    const chain = interrupted(setup.chain(), { question: "nextNonce", times: 2, by: outbid });
    const engine = setup.engine({ chain });
    await engine.round();
    expect(setup.troubles).toEqual([]);
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["confirmed"]);
  });

  it("after it asked for the nonce asks its own record who the stranger is", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    await setup.engine().round();
    const [first] = await setup.pooled();
    await setup.anvil.mine();
    // What had used up the nonce is undone, and another attempt uses it.
    const undoAndOutbid = async (): Promise<void> => {
      await setup.anvil.rpc("anvil_reorg", [1, []]);
      await setup.anvil.rpc("anvil_dropTransaction", [first]);
      await outbid();
    };
    const chain = interrupted(setup.chain(), { question: "head", times: 2, by: undoAndOutbid });
    const engine = setup.engine({ chain });
    await engine.round();
    expect(setup.troubles).toEqual([]);
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["broadcast"]);
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
    expect((await setup.merchant.transfer(transferId)).transactionHash).not.toBe(first);
  });

  it("displaces nothing that was signed again meanwhile, nor by what we signed ourselves", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    const engine = setup.engine();
    await engine.round();
    const [payout] = await setup.merchant.history(transferId);
    const [own] = payout?.attempts ?? [];
    if (payout === undefined || own === undefined) throw new Error("nothing was signed");
    const { payoutId, nonce } = payout;
    const stop = async (hash: string, attempts: number): Promise<boolean> =>
      stopSigning(setup.database.pool, await walletId(), { nonce, hash, displaced: { payoutId, attempts } });
    expect(await stop(own.hash, 1)).toBe(false);
    expect(await stop("0xstranger", 0)).toBe(false);
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["broadcast"]);
    // Nor is a nonce of ours written down as another one's.
    const foreign = [{ nonce: nonce + 1, hash: own.hash, transaction: null, displaced: null }];
    const resume = {
      walletId: await walletId(),
      address: setup.hot.address,
      chain: "ethereum",
      tokens: {},
      foreign,
      used: 0,
      waiting: 0,
      firstNonce: null,
    };
    const { pool } = setup.database;
    await haltWallet(pool, resume.walletId, "a test");
    const { haltedAt } = await inTransaction(pool, (client) => lockWallet(client, resume.walletId));
    if (haltedAt === null) throw new Error("the wallet has not stopped");
    const meant = { stoppedAt: haltedAt, adopts: false };
    await expect(inTransaction(pool, (client) => resumeSigning(client, resume, meant))).rejects.toThrow(
      "signed ourselves",
    );
    const none = { ...resume, foreign: [] };
    expect(await inTransaction(pool, (client) => resumeSigning(client, none, meant))).toMatchObject({ isNew: true });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("lets nothing wait for coins that is being sent", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    const proxy = await RpcProxy.before(setup.anvil.url);
    try {
      const chain = setup.chain();
      const colleague = setup.engine({ chain: setup.chain(proxy.url) });
      proxy.once("eth_sendRawTransaction", "lose answer");
      proxy.once("eth_getTransactionReceipt", "lose call");
      // It sees an empty wallet; then that is refilled, and the other one sends, and gets no answer to what it sent.
      let isFirst = true;
      const balance: PayoutChain["balance"] = async (coin) => {
        if (coin.currencyCode !== "USDT" || !isFirst) return chain.balance(coin);
        isFirst = false;
        await colleague.round();
        return 0n;
      };
      const engine = setup.engine({ chain: { ...chain, balance } });
      await engine.round();
      expect(await setup.merchant.history(transferId)).toMatchObject([{ state: "signed" }]);
      expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING"]);
      await setup.runToEnd(engine, [transferId]);
      await setup.expectPaidOnce(transferId, to, before);
    } finally {
      await proxy.close();
    }
  });

  it("ends what waits although it is being sent", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    await setup.engine({ chain: { ...setup.chain(), suggestFee: () => Promise.resolve(null) } }).round();
    expect(await setup.merchant.history(transferId)).toMatchObject([{ state: "chosen" }]);
    await inTransaction(setup.database.pool, (client) =>
      moveTransfer(client, { transferId, from: ["PENDING"], to: "WAITING", reason: "a test" }),
    );
    await setup.runToEnd(setup.engine(), [transferId]);
    expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "WAITING", "SUBMITTED", "CONFIRMED"]);
    expect(before - (await setup.available())).toBeCloseTo(TOTAL, 6);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toHaveLength(1);
  });

  it("ends its round when it has lost the wallet to the other one", async () => {
    const recipients = [await setup.recipient(), await setup.recipient()];
    const transferIds = [];
    for (const to of recipients) transferIds.push(await setup.orderTokens(to));
    const colleague = setup.engine({ policy: { leaseMs: 60_000, maxInFlight: 1 } });
    // The other one takes the wallet over, and the first of the two, while it asks what the wallet has.
    const chain = setup.chain();
    let isFirst = true;
    const balance: PayoutChain["balance"] = async (coin) => {
      const had = await chain.balance(coin);
      if (isFirst) await colleague.round();
      isFirst = false;
      return had;
    };
    await setup.engine({ chain: { ...chain, balance } }).round();
    const counts = await Promise.all(transferIds.map(async (id) => (await setup.merchant.history(id)).length));
    expect(counts).toEqual([1, 0]);
    await setup.runToEnd(colleague, transferIds);
    await colleague.resign();
    await expectSoundBooks(setup.database);
  });
});
