// Transfers on a real node whose fees rise beyond what may be offered, and fall again: nothing stays behind for ever.

import { toHex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { PayoutEngine, PayoutPolicy } from "../../../src/merchant/payouts/payout-engine.ts";
import { inTransaction } from "../../../src/merchant/payouts/payout-transaction.ts";
import { haltWallet, readWallet, resumeWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import { RpcProxy } from "../../chains/rpc-proxy.ts";
import { EvmSetup } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

const GWEI = 10n ** 9n;
/** Twice the base fee of a busy block is above it, so the first attempt offers all that is allowed. */
const [CAP_GWEI, BUSY, QUIET] = [100, 80n * GWEI, GWEI];

describe("a transfer on a node with high fees", () => {
  let setup: EvmSetup;
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterAll(() => setup.close());

  async function mineAt(baseFee: bigint): Promise<void> {
    await setup.anvil.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(baseFee)]);
    await setup.anvil.mine();
  }
  const engine = (policy: Partial<PayoutPolicy> = {}, rpcUrl = setup.anvil.url): PayoutEngine =>
    setup.engine({ chain: setup.chain(rpcUrl, { maxFeeGwei: CAP_GWEI }), policy });

  it("that the network refuses has its nonce filled for what is usual then", async () => {
    const [to, before] = [await setup.recipient(), await setup.available()];
    const transferId = await setup.orderTokens(to);
    await mineAt(BUSY);
    const proxy = await RpcProxy.before(setup.anvil.url);
    try {
      proxy.once("eth_sendRawTransaction", "lose call");
      await engine({}, proxy.url).round();
      expect(await setup.pooled()).toEqual([]);
      await mineAt(QUIET);
      await engine({ giveUpAfterMs: 0 }).round();
      await setup.runToEnd(engine(), [transferId]);
    } finally {
      await proxy.close();
    }
    expect(await setup.merchant.statuses(transferId)).toEqual(["PENDING", "REJECTED"]);
    expect(await setup.merchant.history(transferId)).toMatchObject([
      { state: "filled", attempts: [{ kind: "payment" }, { kind: "filler", state: "final" }] },
    ]);
    expect(await setup.available()).toBe(before);
    expect(await setup.anvil.tokenTransfersTo(setup.token, to)).toEqual([]);
    await expectSoundBooks(setup.database);
  });

  it.each(["may offer no more", "may not sign"] as const)(
    "that the node has lost is sent again though its wallet %s",
    async (why) => {
      const [to, before] = [await setup.recipient(), await setup.available()];
      const transferId = await setup.orderTokens(to);
      await mineAt(BUSY);
      await engine().round();
      const [hash] = await setup.pooled();
      await setup.anvil.rpc("anvil_dropTransaction", [hash]);
      await mineAt(QUIET);
      const { pool } = setup.database;
      const wallet = await readWallet(pool, { chain: "ethereum", address: setup.hot.address });
      if (wallet === undefined) throw new Error("there is no wallet");
      if (why === "may not sign") await haltWallet(pool, wallet.walletId, "a test");
      const impatient = engine({ stuckAfterMs: 0 });
      setup.troubles.length = 0;
      await impatient.round();
      expect(await setup.pooled()).toEqual([hash]);
      const told = { kind: "fee_too_high", chain: "ethereum", nonce: wallet.nextNonce - 1 };
      expect(setup.troubles).toEqual(why === "may not sign" ? [] : [told]);
      await setup.runToEnd(impatient, [transferId]);
      await setup.expectPaidOnce(transferId, to, before);
      await inTransaction(pool, (client) => resumeWallet(client, wallet.walletId));
    },
  );
});
