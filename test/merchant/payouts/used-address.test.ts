// Books that were restored to before the first payment of a wallet have no row of it, and its address has sent all the same.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { onServer } from "../../setup/test-servers.ts";
import { EvmSetup, FINAL_AFTER } from "./evm-setup.ts";
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
});
