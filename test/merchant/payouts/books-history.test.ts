// Books that continue another history than the one in which a wallet has paid: after a failover, a restore or an upgrade.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { describe, expect, it, vi } from "vitest";
import { onServer } from "../../setup/test-servers.ts";
import { FINAL_AFTER, UNITS } from "./evm-setup.ts";
import { paymentsTo, testing } from "./lost-books.ts";

describe("books that continue another history", () => {
  const { setup: now, stopReason, resume, lose, changeTimeline } = testing();
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

  it("stop the wallet where pg_restore made them again on the same server, and a journal is out of reach", async () => {
    const setup = now();
    const elsewhere = await mkdtemp(join(tmpdir(), "saldo-elsewhere-"));
    await setup.engine({ guard: setup.guard({ folder: elsewhere }) }).round();
    await order();
    await lose(async (engine, copy) => {
      await engine.round();
      const { rows } = await copy.pool.query("SELECT halt_reason FROM wallet");
      expect(rows[0]).toMatchObject({ halt_reason: expect.stringContaining("were not compared with them") });
    });
    expect(await setup.pooled()).toEqual([]);
    await onServer(setup.opened.url, "DELETE FROM payout_journal");
    await setup.engine().round();
    expect([await setup.pooled(), await stopReason()]).toMatchObject([{ length: 1 }, null]);
    await setup.anvil.mine(FINAL_AFTER);
    await rm(elsewhere, { recursive: true });
  });

  it.each([
    ["before histories were kept", "system_identifier = NULL, timeline = NULL, books = NULL"],
    ["before the numbers of the database were kept", "books = NULL"],
  ])("are compared once, after a term, where a wallet is of a version %s", async (_version, former) => {
    const setup = now();
    await setup.engine().round();
    await onServer(setup.opened.url, `UPDATE wallet SET ${former}; UPDATE payout_journal SET books = NULL`);
    await order();
    let nowMs = 0;
    const guard = setup.guard({ termMs: 60_000, now: () => nowMs, requiresStandby: false });
    const engine = setup.engine({ guard });
    await engine.round();
    nowMs = 59_999;
    await engine.round();
    expect([await setup.pooled(), await stopReason()]).toEqual([[], null]);
    nowMs = 60_000;
    await engine.round();
    expect([await setup.pooled(), await stopReason()]).toMatchObject([{ length: 1 }, null]);
    await setup.anvil.mine(FINAL_AFTER);
  });

  it("stop a wallet without a history while a journal is out of reach", async () => {
    const setup = now();
    const elsewhere = await mkdtemp(join(tmpdir(), "saldo-elsewhere-"));
    await setup.engine({ guard: setup.guard({ folder: elsewhere }) }).round();
    await changeTimeline();
    await onServer(setup.opened.url, "UPDATE wallet SET system_identifier = NULL, timeline = NULL, books = NULL");
    await order();
    await setup.engine().round();
    expect(await stopReason()).toMatch(/and the journals of .* were not compared with them/);
    expect(await setup.pooled()).toEqual([]);
    await resume();
    await setup.engine().round();
    expect(await setup.pooled()).toHaveLength(1);
    await setup.anvil.mine(FINAL_AFTER);
    await rm(elsewhere, { recursive: true });
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
    vi.spyOn(guard.journal, "read").mockResolvedValue({ entries: [], finalNonce: 9_000, torn: [] });
    await setup.engine({ guard }).round();
    expect(await stopReason()).toMatch(/^the books end before nonce 9000, which .* knows as final/);
    await expect(resume()).rejects.toThrow("nonce 9000 was final by a journal");
    await onServer(setup.opened.url, "UPDATE payout_journal SET final_nonce = NULL");
    await resume();
  });
});
