// Books that lack what the network has, as after a restore: the engine pays on a copy of the database that is dropped then, so that
// the former books go on without these payments. The nodes' journals have them.

import { appendFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../../src/database/database.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { BooksGuard } from "../../../src/merchant/payouts/books-guard.ts";
import { PayoutEngine } from "../../../src/merchant/payouts/payout-engine.ts";
import { findStop, resumeWallet } from "../../../src/operator/commands/payouts.ts";
import { saldoJson } from "../../setup/saldo-command.ts";
import { onServer, urlOfDatabase } from "../../setup/test-servers.ts";
import { EvmSetup, FINAL_AFTER, PATIENT, UNITS } from "./evm-setup.ts";
import { expectSoundBooks } from "./ordered.ts";

/** What a run on a copy of the books needs. */
type Lost = (engine: PayoutEngine) => Promise<void>;

function testing(): { setup: () => EvmSetup } & ReturnType<typeof helpersOf> {
  let setup: EvmSetup;
  beforeAll(async () => {
    setup = await EvmSetup.open();
  });
  afterAll(() => setup.close());
  return { setup: () => setup, ...helpersOf(() => setup) };
}

function helpersOf(setup: () => EvmSetup) {
  const wallet = () => ({ chains: [setup().chain()], name: setup().chain().name });
  return {
    stopReason: async () => (await findStop(setup().database.pool, wallet()))?.stopReason ?? null,
    resume: async ({ adopts = false } = {}) => {
      const stop = await findStop(setup().database.pool, wallet());
      const meant = { ...wallet(), stoppedAt: stop?.stoppedAt ?? new Date(0), reason: "looked at", adopts };
      return resumeWallet({ database: setup().database, operator: "test" }, meant);
    },
    /** Lets an engine work, and the books forget it. */
    lose: async (work: Lost): Promise<void> => {
      const { url } = setup().opened;
      const copy = `saldo_lost_${uuidv7().replaceAll("-", "")}`;
      const source = new URL(url).pathname.slice(1);
      // A database is copied while it has no connection; our pool connects again.
      const [server, copyUrl] = [urlOfDatabase(url, "postgres"), urlOfDatabase(url, copy)];
      await onServer(
        server,
        `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${source}'`,
      );
      await onServer(server, `CREATE DATABASE ${copy} TEMPLATE ${source} STRATEGY file_copy`);
      const database = await openDatabase({ url: copyUrl, dataDir: "" });
      try {
        const { pool } = database;
        const guard = new BooksGuard({ pool, journal: setup().guard().journal, requiresStandby: true, termMs: 0 });
        const serves = { environment: "production", network: "ethereum" } as const;
        await work(
          new PayoutEngine({ pool, chain: setup().chain(), serves, policy: PATIENT, report: () => {}, guard }),
        );
      } finally {
        await database.close();
        await onServer(server, `DROP DATABASE ${copy} WITH (FORCE)`);
      }
    },
    /** What the wallet and the journals were last compared with is a former timeline now. */
    changeTimeline: () =>
      onServer(
        setup().opened.url,
        "UPDATE wallet SET timeline = timeline - 1; UPDATE payout_journal SET timeline = timeline - 1",
      ),
  };
}

const paymentsTo = async (setup: EvmSetup, to: Hex) =>
  (await setup.anvil.tokenTransfersTo(setup.token, to)).map(({ value }) => value);

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
    await lose(async () => {
      const raised = { ...(await journaled(guardOfLost)), number: 2, hash: `0x${"1".repeat(64)}` };
      await guardOfLost.journal.add(raised);
    });
    await changeTimeline();
    const engine = setup.engine();
    await engine.round();
    await expect(resume()).rejects.toThrow(`is signed for transfer ${transferId}: resume with --adopt`);
    await resume({ adopts: true });
    const [payout] = await setup.merchant.history(transferId);
    expect(payout?.attempts.map(({ hash }) => hash)).toEqual([first, `0x${"1".repeat(64)}`]);
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

describe("books that continue another history", () => {
  const { setup: now, stopReason, resume, changeTimeline } = testing();
  const order = async (): Promise<Hex> => {
    const to = await now().recipient();
    await now().orderTokens(to);
    return to;
  };

  it("are followed where every journal agrees and a synchronous standby is required, after a term", async () => {
    const setup = now();
    const before = await order();
    await setup.engine().round();
    await changeTimeline();
    const to = await order();
    let nowMs = 0;
    const engine = setup.engine({ guard: setup.guard({ termMs: 60_000, now: () => nowMs }) });
    await engine.round();
    nowMs = 59_999;
    await engine.round();
    expect(await setup.pooled()).toHaveLength(1);
    nowMs = 60_000;
    await engine.round();
    expect([await setup.pooled(), await stopReason()]).toMatchObject([{ length: 2 }, null]);
    await setup.anvil.mine(FINAL_AFTER);
    expect([await paymentsTo(setup, before), await paymentsTo(setup, to)]).toEqual([[UNITS], [UNITS]]);
  });

  it("stop the wallet where no synchronous standby is required, until an operator resumes it", async () => {
    const setup = now();
    await setup.engine().round();
    await changeTimeline();
    await order();
    const engine = setup.engine({ guard: setup.guard({ requiresStandby: false }) });
    await engine.round();
    expect(await stopReason()).toMatch(/no synchronous standby was required/);
    expect(await setup.pooled()).toEqual([]);
    await resume();
    await engine.round();
    expect([await setup.pooled(), await stopReason()]).toMatchObject([{ length: 1 }, null]);
    await setup.anvil.mine(FINAL_AFTER);
  });

  it("stop the wallet while a journal is out of reach", async () => {
    const setup = now();
    const elsewhere = await mkdtemp(join(tmpdir(), "saldo-elsewhere-"));
    await setup.engine({ guard: setup.guard({ folder: elsewhere }) }).round();
    await setup.engine().round();
    await changeTimeline();
    await order();
    const engine = setup.engine();
    await engine.round();
    expect(await stopReason()).toMatch(/and the journals of .* were not compared with them/);
    expect(await setup.pooled()).toEqual([]);
    await resume();
    await engine.round();
    expect(await setup.pooled()).toHaveLength(1);
    await setup.anvil.mine(FINAL_AFTER);
    await rm(elsewhere, { recursive: true });
  });

  it("stop the wallet where a journal has final nonces beyond their end, until the chain's node has them", async () => {
    const setup = now();
    const guard = setup.guard();
    const [used] = (await guard.journal.read()).entries;
    if (used === undefined) throw new Error("the journal is empty");
    vi.spyOn(guard.journal, "read").mockResolvedValue({ entries: [], finalNonce: 9_000, lowest: 0 });
    await setup.engine({ guard }).round();
    expect(await stopReason()).toMatch(/^the books end before nonce 9000, which .* knows as final/);
    await expect(resume()).rejects.toThrow("nonce 9000 was final by a journal");
    await onServer(setup.opened.url, "UPDATE payout_journal SET final_nonce = NULL");
    await resume();
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
