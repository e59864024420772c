// Transfers on a real node whose answers are not true: heights that it does not have, blocks that do not follow each other,
// receipts that another node does not know, and a chain that takes a final payment back.

import { type Hex, toHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { withTransaction } from "../../../src/database/transactions.ts";
import type { PayoutEngine, PayoutPolicy } from "../../../src/merchant/payouts/payout-engine.ts";
import { findStop, resumeWallet, acceptShortPayout } from "../../../src/operator/commands/payouts.ts";
import { RpcProxy } from "../../chains/rpc-proxy.ts";
import { EvmSetup, TOTAL, UNITS } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

const FINAL_AFTER = 4;
const LEAP = 1_000;

type Block = { number: Hex; hash: Hex; parentHash: Hex };

describe("a transfer whose node lies", () => {
  let setup: EvmSetup;
  let proxy: RpcProxy;
  beforeAll(async () => {
    setup = await EvmSetup.open();
    proxy = await RpcProxy.before(setup.anvil.url);
  });
  afterEach(() => {
    for (const method of ["eth_blockNumber", "eth_getBlockByNumber", "eth_getTransactionReceipt"])
      proxy.lie(method, null);
    setup.troubles.length = 0;
  });
  afterAll(async () => {
    await proxy.close();
    await setup.close();
  });

  const engineBehind = (
    policy: Partial<PayoutPolicy> = {},
    second?: { rpcUrl: string; above: Readonly<Record<string, string>> },
  ): PayoutEngine => {
    const more = { finality: FINAL_AFTER, ...(second === undefined ? {} : { second }) };
    return setup.engine({ chain: setup.chain(proxy.url, more), policy });
  };
  const height = async (): Promise<number> => Number(await setup.anvil.rpc<Hex>("eth_blockNumber"));
  const stop = () => findStop(setup.database.pool, { chains: [setup.chain()], name: "ethereum" });
  const resume = async (): Promise<void> => {
    const stoppedAt = (await stop())?.stoppedAt ?? new Date(0);
    const order = { chains: [setup.chain()], name: "ethereum", stoppedAt, reason: "looked at" };
    await resumeWallet({ database: setup.database, operator: "test" }, order);
  };
  const kinds = (): string[] => [...new Set(setup.troubles.map(({ kind }) => kind))];
  const status = async (transferId: string): Promise<string> => (await setup.merchant.transfer(transferId)).status;

  /** Orders a payment, lets the honest node mine it once. */
  const mined = async (engine: PayoutEngine, to: Hex): Promise<string> => {
    const transferId = await setup.orderTokens(to);
    await engine.round();
    await setup.anvil.mine();
    await engine.round();
    expect(await status(transferId)).toBe("SUBMITTED");
    return transferId;
  };

  it("by a height that the chain cannot have reached is not listened to at all", async () => {
    const headPace = { blocksAtOnce: 64, msPerBlock: 60_000 };
    const engine = engineBehind({ headPace });
    const transferId = await mined(engine, await setup.recipient());
    proxy.lie("eth_blockNumber", (result) => toHex(BigInt(result as Hex) + BigInt(LEAP)));
    // Even blocks that fit: a node that makes up a height makes up blocks, too.
    proxy.lie("eth_getBlockByNumber", (result, [number]) => result ?? { ...fakeBlock(BigInt(number as Hex)) });
    await engine.round();
    expect(await status(transferId)).toBe("SUBMITTED");
    const at = await height();
    expect(setup.troubles).toEqual([{ kind: "head_leap", chain: "ethereum", from: at, to: at + LEAP }]);
    proxy.lie("eth_blockNumber", null);
    proxy.lie("eth_getBlockByNumber", null);
    await setup.runToEnd(engine, [transferId]);
  });

  it("by a height that it does not have is not final, however plausible that is, until the blocks are there", async () => {
    const engine = engineBehind();
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await mined(engine, to);
    proxy.lie("eth_blockNumber", (result) => toHex(BigInt(result as Hex) + 100n));
    await engine.round();
    expect(await status(transferId)).toBe("SUBMITTED");
    expect(setup.troubles.at(-1)).toMatchObject({
      kind: "finality_doubted",
      doubt: expect.stringContaining("does not exist"),
    });
    proxy.lie("eth_blockNumber", null);
    await setup.runToEnd(engine, [transferId]);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toHaveLength(1);
    expect(before - (await setup.available())).toBeCloseTo(TOTAL, 6);
    await expectSoundBooks(setup.database);
  });

  it("by blocks that do not descend from the payment's is not final", async () => {
    const engine = engineBehind();
    const transferId = await mined(engine, await setup.recipient());
    const above = await height();
    await setup.anvil.mine(FINAL_AFTER);
    proxy.lie("eth_getBlockByNumber", (result, [number]) =>
      number === toHex(above + 2) ? { ...(result as Block), parentHash: `0x${"ab".repeat(32)}` } : result,
    );
    await engine.round();
    expect(await status(transferId)).toBe("SUBMITTED");
    expect(setup.troubles.at(-1)).toMatchObject({ doubt: `block ${above + 2} does not follow block ${above + 1}` });
    proxy.lie("eth_getBlockByNumber", null);
    await setup.runToEnd(engine, [transferId]);
  });

  it("is final above a sum only where the second node agrees, and below it by the first alone", async () => {
    const large = engineBehind({}, { rpcUrl: proxy.url, above: { USDT: "4" } });
    // The first node is the honest one here, the second one lags and later contradicts.
    const chain = setup.chain(setup.anvil.url, {
      finality: FINAL_AFTER,
      second: { rpcUrl: proxy.url, above: { USDT: "4" } },
    });
    const engine = setup.engine({ chain });
    const transferId = await mined(engine, await setup.recipient());
    await setup.anvil.mine(FINAL_AFTER);
    proxy.lie("eth_blockNumber", (result) => toHex(BigInt(result as Hex) - BigInt(FINAL_AFTER)));
    await engine.round();
    expect([await status(transferId), kinds()]).toEqual(["SUBMITTED", []]);
    proxy.lie("eth_blockNumber", null);
    proxy.lie("eth_getTransactionReceipt", (result) => ({ ...(result as object), status: "0x0" }));
    await engine.round();
    expect([await status(transferId), kinds()]).toEqual(["SUBMITTED", ["finality_doubted"]]);
    proxy.lie("eth_getTransactionReceipt", null);
    await large.round();
    expect(await status(transferId)).toBe("CONFIRMED");

    const small = await setup.orderTokens(await setup.recipient(), "3");
    await engine.round();
    await setup.anvil.mine(FINAL_AFTER + 1);
    proxy.lie("eth_getTransactionReceipt", () => null);
    await engine.round();
    expect(await status(small)).toBe("CONFIRMED");
  });

  it("of a token that keeps a part is neither paid nor given back until an operator decides", async () => {
    const engine = engineBehind();
    const to = await setup.recipient();
    await setup.anvil.spoil(setup.token, "tax", to);
    const before = await setup.available();
    const transferId = await mined(engine, to);
    await setup.anvil.mine(FINAL_AFTER);
    await engine.round();
    await engine.round();
    expect([await status(transferId), kinds()]).toEqual(["SUBMITTED", ["payment_short"]]);
    expect((await stop())?.stopReason).toContain(`delivered less than the amount of transfer ${transferId}`);
    expect((await setup.merchant.balance("USDT")).held).toBe("6.5");
    const by = { database: setup.database, operator: "test" };
    const order = { transferId, reason: "the merchant knows" };
    expect([await acceptShortPayout(by, order), await acceptShortPayout(by, order)]).toEqual([true, false]);
    // The account that ordered it reads of it, once.
    const told = await setup.database.pool.query<{ action: string; actor: string }>(
      "SELECT action, actor FROM account_activity WHERE subject = $1",
      [transferId],
    );
    expect(told.rows).toEqual([{ action: "transfer.short_accepted", actor: "operator" }]);
    await engine.round();
    await resume();
    await engine.round();
    expect([await status(transferId), await stop()]).toEqual(["CONFIRMED", null]);
    expect(before - (await setup.available())).toBeCloseTo(TOTAL, 6);
    await expectSoundBooks(setup.database);
    await expect(acceptShortPayout(by, order)).rejects.toThrow();
  });

  it("and that was final and vanishes stops the wallet, is sent again under its own nonce, and is paid once", async () => {
    const engine = engineBehind();
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await mined(engine, to);
    await setup.runToEnd(engine, [transferId]);
    expect(await status(transferId)).toBe("CONFIRMED");
    await setup.anvil.rpc("anvil_reorg", [FINAL_AFTER + 1, []]);
    for (const hash of await setup.pooled()) await setup.anvil.rpc("anvil_dropTransaction", [hash]);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toEqual([]);
    // What comes next waits behind the gap, and a round has something to do.
    const next = await setup.orderTokens(await setup.recipient());
    await engine.round();
    const { hash, nonce } = (await setup.merchant.history(transferId)).flatMap(({ attempts, nonce: at }) =>
      attempts.map((attempt) => ({ hash: attempt.hash, nonce: at })),
    )[0] ?? { hash: "", nonce: -1 };
    expect(setup.troubles.at(-1)).toEqual({ kind: "payment_vanished", chain: "ethereum", nonce, hash });
    expect((await stop())?.stopReason).toContain(`transaction ${hash} of nonce ${nonce} was final`);
    // The gap is filled by the payment itself, and nothing else is signed.
    expect(await setup.pooled()).toEqual([hash]);
    expect((await setup.merchant.history(next)).length).toBe(0);
    await expectSoundBooks(setup.database);
    await setup.anvil.mine(FINAL_AFTER + 1);
    await engine.round();
    expect((await setup.merchant.history(transferId)).map(({ state }) => state)).toEqual(["confirmed"]);
    expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "SUBMITTED", "CONFIRMED"]);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toEqual([{ transactionHash: hash, value: UNITS }]);
    await resume();
    await setup.runToEnd(engine, [next]);
    expect(before - (await setup.available())).toBeCloseTo(2 * TOTAL, 6);
    expect(await stop()).toBeNull();
    await expectSoundBooks(setup.database);
  });

  it("and whose final payment is looked at again is left alone while it is there, or the node lags", async () => {
    const engine = engineBehind();
    const transferId = await mined(engine, await setup.recipient());
    await setup.runToEnd(engine, [transferId]);
    const due = async (): Promise<void> => {
      await withTransaction(setup.database, (client) =>
        client.query("UPDATE payout SET recheck_at = clock_timestamp() WHERE recheck_at IS NOT NULL"),
      );
    };
    await due();
    await engine.round();
    const behind = (await height()) - 50;
    proxy.lie("eth_getBlockByNumber", (result, [number]) => (Number(number) > behind ? null : result));
    await due();
    await engine.round();
    expect([kinds(), await stop(), await status(transferId)]).toEqual([[], null, "CONFIRMED"]);
  });
});

function fakeBlock(number: bigint): Block {
  const hash = (of: bigint): Hex => toHex(of, { size: 32 });
  return { number: toHex(number), hash: hash(number), parentHash: hash(number - 1n) };
}
