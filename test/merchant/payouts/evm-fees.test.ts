// Transfers on a real node whose fees rise beyond what may be offered, and fall again: nothing stays behind for ever.

import { toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PayoutEngine, PayoutPolicy } from "../../../src/merchant/payouts/payout-engine.ts";
import { inTransaction } from "../../../src/merchant/payouts/payout-transaction.ts";
import { haltWallet, readWallet, resumeWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import { RpcProxy } from "../../chains/rpc-proxy.ts";
import { EvmWorld } from "./evm-world.ts";
import { expectSoundBooks } from "./ordered.ts";

const GWEI = 10n ** 9n;
/** Twice the base fee of a busy block is above it, so the first attempt offers all that is allowed. */
const [CAP_GWEI, BUSY, QUIET] = [100, 80n * GWEI, GWEI];

describe("a transfer on a node with high fees", () => {
  let world: EvmWorld;
  beforeAll(async () => {
    world = await EvmWorld.open();
  });
  afterAll(() => world.close());

  async function mineAt(baseFee: bigint): Promise<void> {
    await world.anvil.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(baseFee)]);
    await world.anvil.mine();
  }
  const engine = (policy: Partial<PayoutPolicy> = {}, rpcUrl = world.anvil.url): PayoutEngine =>
    world.engine({ chain: world.chain(rpcUrl, { maxFeeGwei: CAP_GWEI }), policy });

  it("that the network refuses has its nonce filled for what is usual then", async () => {
    const [to, before] = [await world.recipient(), await world.available()];
    const transferId = await world.orderTokens(to);
    await mineAt(BUSY);
    const proxy = await RpcProxy.before(world.anvil.url);
    try {
      proxy.once("eth_sendRawTransaction", "lose call");
      await engine({}, proxy.url).round();
      expect(await world.pooled()).toEqual([]);
      await mineAt(QUIET);
      await engine({ giveUpAfterMs: 0 }).round();
      await world.runToEnd(engine(), [transferId]);
    } finally {
      await proxy.close();
    }
    expect(await world.merchant.statuses(transferId)).toEqual(["PENDING", "REJECTED"]);
    expect(await world.merchant.history(transferId)).toMatchObject([
      { state: "filled", attempts: [{ kind: "payment" }, { kind: "filler", state: "final" }] },
    ]);
    expect(await world.available()).toBe(before);
    expect(await world.anvil.tokenTransfersTo(world.token, to)).toEqual([]);
    await expectSoundBooks(world.database);
  });

  it.each(["may offer no more", "may not sign"] as const)(
    "that the node has lost is sent again though its wallet %s",
    async (why) => {
      const [to, before] = [await world.recipient(), await world.available()];
      const transferId = await world.orderTokens(to);
      await mineAt(BUSY);
      await engine().round();
      const [hash] = await world.pooled();
      await world.anvil.rpc("anvil_dropTransaction", [hash]);
      await mineAt(QUIET);
      const { pool } = world.database;
      const wallet = await readWallet(pool, { chain: "ethereum", address: world.hot.address });
      if (wallet === undefined) throw new Error("there is no wallet");
      if (why === "may not sign") await haltWallet(pool, wallet.walletId, "a test");
      const impatient = engine({ stuckAfterMs: 0 });
      world.troubles.length = 0;
      await impatient.round();
      expect(await world.pooled()).toEqual([hash]);
      const told = { kind: "fee_too_high", chain: "ethereum", nonce: wallet.nextNonce - 1 };
      expect(world.troubles).toEqual(why === "may not sign" ? [] : [told]);
      await world.runToEnd(impatient, [transferId]);
      await world.expectPaidOnce(transferId, to, before);
      await inTransaction(pool, (client) => resumeWallet(client, wallet.walletId));
    },
  );
});
