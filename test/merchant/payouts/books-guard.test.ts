// Books that lack what the network has, and the journals of nodes, which have it.

import { appendFile, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { BooksGuard } from "../../../src/merchant/payouts/books-guard.ts";
import { findCoin } from "../../../src/merchant/chains/currencies.ts";
import { saldoJson } from "../../setup/saldo-command.ts";
import { EvmSetup, FINAL_AFTER, UNITS } from "./evm-setup.ts";
import { helpersOf, paymentsTo, testing } from "./lost-books.ts";
import { expectSoundBooks } from "./ordered.ts";

describe("books that lack what a journal has", () => {
  const { setup: now, stopReason, resume, lose, changeTimeline } = testing();

  const paidBefore = async (): Promise<void> => {
    const to = await now().recipient();
    await now().runToEnd(now().engine(), [await now().orderTokens(to)]);
  };

  it("stop the wallet, which goes on with the very transactions that the network has", async () => {
    const setup = now();
    await paidBefore();
    const [one, other] = [await setup.recipient(), await setup.recipient()];
    const transferIds = [await setup.orderTokens(one), await setup.orderTokens(other)];
    await lose((engine) => engine.round());
    const signed = await setup.pooled();
    expect(signed).toHaveLength(2);

    await changeTimeline();
    await setup.engine().round();
    expect(await stopReason()).toMatch(/^the books lack 2 transactions that .* has signed, nonces 1, 2/);
    expect(setup.troubles).toMatchObject([{ kind: "books_changed" }]);
    const report = await saldoJson(["recover", "report"], { DATABASE_URL: setup.opened.url });
    expect(report["payouts"]).toMatchObject([
      { nonce: 1, transferId: transferIds[0], hash: signed[0] },
      { nonce: 2, transferId: transferIds[1], hash: signed[1] },
    ]);
    await expect(resume()).rejects.toThrow(`nonce 1 is signed for transfer ${transferIds[0]}, and 1 more nonces`);
    await setup.engine().round();
    expect(await setup.pooled()).toEqual(signed);

    expect(await resume({ adopts: true })).toEqual({ foreignNonces: 0, adoptedPayments: 2, isNew: true });
    const engine = setup.engine();
    await setup.runToEnd(engine, transferIds);
    const hashes = await Promise.all(
      transferIds.map(async (id) => (await setup.merchant.transfer(id)).transactionHash),
    );
    expect(hashes).toEqual(signed);
    expect([await paymentsTo(setup, one), await paymentsTo(setup, other)]).toEqual([[UNITS], [UNITS]]);
    expect(await stopReason()).toBeNull();
    await expectSoundBooks(setup.database);
  });

  it("of a payment that is final already is adopted from the chain", async () => {
    const setup = now();
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to);
    await lose(async (engine) => {
      await engine.round();
      await setup.anvil.mine(FINAL_AFTER);
      await engine.round();
    });
    await changeTimeline();
    const engine = setup.engine();
    await engine.round();
    await expect(resume()).rejects.toThrow(/is open: resume with --adopt/);
    expect(await resume({ adopts: true })).toMatchObject({ adoptedPayments: 1 });
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  it("of another attempt of a nonce that they have take it back as well", async () => {
    const setup = now();
    const to = await setup.recipient();
    const before = await setup.available();
    const transferId = await setup.orderTokens(to);
    await setup.engine().round();
    const [first] = await setup.pooled();
    await lose(() => setup.engine({ policy: { stuckAfterMs: NEVER_MS } }).round());
    const guardOfLost = setup.guard();
    const earlier = await journaled(guardOfLost);
    const fee = { most: BigInt(earlier.feeMost) * 2n, priority: BigInt(earlier.feePriority) * 2n };
    const payment = { coin: findCoin("USDT", "ethereum"), to, units: UNITS };
    const raised = await setup.chain().sign({ nonce: earlier.nonce, payment, fee });
    await lose(async () => {
      await guardOfLost.journal.add({
        ...earlier,
        ...raised,
        number: 2,
        feeMost: String(fee.most),
        feePriority: String(fee.priority),
      });
    });
    await changeTimeline();
    const engine = setup.engine();
    await engine.round();
    await expect(resume()).rejects.toThrow(`is signed for transfer ${transferId}: resume with --adopt`);
    await resume({ adopts: true });
    const [payout] = await setup.merchant.history(transferId);
    expect(payout?.attempts.map(({ hash }) => hash)).toEqual([first, raised.hash]);
    await setup.runToEnd(engine, [transferId]);
    await setup.expectPaidOnce(transferId, to, before);
  });

  const NEVER_MS = 3_600_000;
  const journaled = async (guard: BooksGuard) => {
    const last = (await guard.journal.read()).entries.toSorted((a, b) => a.nonce - b.nonce).at(-1);
    if (last === undefined) throw new Error("the journal is empty");
    return last;
  };

  it("and no wallet let it begin at the first nonce that a journal has", async () => {
    const setup = await EvmSetup.open();
    const { lose: loseOf, resume: resumeOf, stopReason: reasonOf } = helpersOf(() => setup);
    try {
      const to = await setup.recipient();
      const before = await setup.available();
      const transferId = await setup.orderTokens(to);
      await loseOf(async (engine) => {
        await engine.round();
        await setup.anvil.mine(FINAL_AFTER);
      });
      const engine = setup.engine();
      await engine.round();
      expect(await reasonOf()).toMatch(/the books lack 1 transactions/);
      expect(await resumeOf({ adopts: true })).toMatchObject({ adoptedPayments: 1 });
      await setup.runToEnd(engine, [transferId]);
      await setup.expectPaidOnce(transferId, to, before);
    } finally {
      await setup.close();
    }
  });
});

describe("a payout node's journal", () => {
  const { setup: now, stopReason, resume } = testing();

  it("has what goes out before the network has it", async () => {
    const setup = now();
    const to = await setup.recipient();
    const transferId = await setup.orderTokens(to);
    const guard = setup.guard();
    const chain = setup.chain();
    const seen: string[][] = [];
    const broadcast: typeof chain.broadcast = async (raw) => {
      seen.push((await guard.journal.read()).entries.filter((entry) => entry.raw === raw).map(({ kind }) => kind));
      return chain.broadcast(raw);
    };
    await setup.runToEnd(setup.engine({ chain: { ...chain, broadcast }, guard }), [transferId]);
    expect(seen).toEqual([["payment"]]);
  });

  it("that cannot be written keeps a transaction from the network", async () => {
    const setup = now();
    const transferId = await setup.orderTokens(await setup.recipient());
    const guard = setup.guard();
    vi.spyOn(guard.journal, "add").mockRejectedValueOnce(new Error("no space left on device"));
    const engine = setup.engine({ guard });
    await engine.round();
    expect(await setup.pooled()).toEqual([]);
    expect(setup.troubles.at(-1)).toMatchObject({ kind: "payout_failed" });
    await setup.runToEnd(engine, [transferId]);
    expect((await setup.merchant.history(transferId))[0]?.attempts).toHaveLength(1);
  });

  it("that cannot be read stops the wallet", async () => {
    const setup = now();
    await setup.orderTokens(await setup.recipient());
    const guard = setup.guard();
    const names = (await readdir(guard.journal.folder)).filter((name) => name.startsWith("signed-"));
    const path = join(guard.journal.folder, names[0] ?? "none");
    await appendFile(path, "broken\nbroken\n");
    await setup.engine({ guard }).round();
    expect(await stopReason()).toMatch(
      /^the journal of signed transactions on .* cannot be read: .* has a broken line/,
    );
    expect(await setup.pooled()).toEqual([]);
    await rm(path);
    const engine = setup.engine();
    await engine.round();
    await resume();
    await engine.round();
    expect(await setup.pooled()).toHaveLength(1);
  });
});
