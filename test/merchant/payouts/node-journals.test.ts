// Several nodes that pay from one wallet, each with a journal of its own: one that is away, one whose disk is full, one that was copied.

import { appendFile, cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BooksGuardOptions } from "../../../src/merchant/payouts/books-guard.ts";
import { haltWallet, readWallet } from "../../../src/merchant/payouts/wallet-store.ts";
import { saldoJson } from "../../setup/saldo-command.ts";
import { onServer } from "../../setup/test-servers.ts";
import { type EvmSetup, FINAL_AFTER } from "./evm-setup.ts";
import { testing } from "./lost-books.ts";

describe("nodes with a journal each", () => {
  const { setup: now, stopReason, resume, changeTimeline } = testing();
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "saldo-nodes-"));
  });
  afterAll(() => rm(root, { recursive: true }));

  /** A node: its journal is on a volume of its own. */
  const node = (host: string, more: Partial<BooksGuardOptions> = {}, setup: EvmSetup = now()) =>
    setup.engine({ guard: setup.guard({ folder: join(root, host), host, ...more }) });
  const order = async () => now().orderTokens(await now().recipient());
  const registered = async () =>
    (await now().database.pool.query<{ host: string }>("SELECT host FROM payout_journal ORDER BY host")).rows.map(
      ({ host }) => host,
    );
  // Everything that is open is mined, no journal is known, and the wallet signs.
  beforeEach(async () => {
    await now().anvil.mine(FINAL_AFTER);
    await onServer(
      now().opened.url,
      "DELETE FROM payout_journal; UPDATE wallet SET halted_at = NULL, halt_reason = NULL",
    );
    now().troubles.length = 0;
  });

  it("end a stop for a journal out of reach when it has been compared, and has nothing more", async () => {
    const setup = now();
    await order();
    await node("away").round();
    await node("here").round();
    await changeTimeline();
    await order();
    const here = node("here");
    await here.round();
    expect(await stopReason()).toContain("the journals of away were not compared");
    await here.round();
    expect(await setup.pooled()).toHaveLength(1);
    await node("away").round();
    await here.round();
    expect([await stopReason(), await setup.pooled()]).toMatchObject([null, { length: 2 }]);
    expect(setup.troubles.map(({ kind }) => kind)).toEqual(["books_changed", "journals_compared"]);
  });

  it("keep a stop that has another reason, or got one since", async () => {
    const setup = now();
    const wallet = { chain: "ethereum", address: setup.hot.address };
    const comeBack = async () => {
      for (const host of ["here", "away", "here"]) await node(host).round();
    };
    await comeBack();
    await changeTimeline();
    await node("here", { requiresStandby: false }).round();
    await comeBack();
    expect(await stopReason()).toMatch(/journals of away were not compared.*, and no synchronous standby was required/);
    await resume();
    await comeBack();
    await changeTimeline();
    await node("here").round();
    expect(await stopReason()).toContain("the journals of away were");
    const walletId = (await readWallet(setup.database.pool, wallet))?.walletId ?? "";
    expect(await haltWallet(setup.database.pool, walletId, "another one")).toBe(true);
    await comeBack();
    expect(await stopReason()).toMatch(/the journals of away.*; another one$/);
    await resume();
  });

  it("keep a stop when the journal that comes back has more than the books", async () => {
    const setup = now();
    for (const host of ["away", "here"]) await node(host).round();
    await changeTimeline();
    const here = node("here");
    await here.round();
    expect(await stopReason()).toContain("the journals of away were");
    const guard = setup.guard({ folder: join(root, "away"), host: "away" });
    const hash = `0x${"2".repeat(64)}`;
    const offer = { feeMost: "1", feePriority: "1" };
    const [transferId, nonce] = ["0199b3a0-0000-7000-8000-000000000001", 2];
    await guard.journal.add({ nonce, transferId, number: 1, kind: "payment", raw: "0x", hash, ...offer });
    await setup.engine({ guard }).round();
    await here.round();
    expect(await stopReason()).toMatch(/the journals of away.*; the books lack 1 transactions that away has signed/);
    await onServer(setup.opened.url, "UPDATE payout_lost_attempt SET resolved_at = now()");
    await resume();
  });

  it("go on without the one whose journal cannot be written, and it pays again when it can", async () => {
    const setup = now();
    let nowMs = 0;
    const policy = { leaseMs: 3_600_000 };
    const guard = setup.guard({ folder: join(root, "full"), host: "full", now: () => nowMs });
    const full = setup.engine({ guard, policy });
    await full.round();
    await order();
    const { folder } = guard.journal;
    await rename(folder, `${folder}-away`);
    await writeFile(folder, "no folder");
    await full.round();
    expect([await setup.pooled(), full.isJournalUnavailable]).toEqual([[], true]);
    nowMs = 59_999;
    await full.round();
    expect(setup.troubles.filter(({ kind }) => kind === "journal_failed")).toMatchObject([
      { chain: "ethereum", host: "full", reason: expect.stringContaining("EEXIST") },
    ]);
    expect(await stopReason()).toBeNull();
    // It has the lease for an hour, and has given it back.
    const other = setup.engine({ guard: setup.guard({ folder: join(root, "other"), host: "other" }), policy });
    await other.round();
    expect(await setup.pooled()).toHaveLength(1);
    await other.resign();
    await setup.anvil.mine(FINAL_AFTER);
    await rm(folder);
    await rename(`${folder}-away`, folder);
    nowMs = 120_000;
    await order();
    await full.round();
    expect([await setup.pooled(), full.isJournalUnavailable]).toMatchObject([{ length: 1 }, false]);
    await full.resign();
  });

  it("notice a volume that was copied, and each has a journal of its own from then on", async () => {
    const setup = now();
    let nowMs = 0;
    const original = node("original", { now: () => nowMs });
    await original.round();
    await cp(join(root, "original"), join(root, "copy"), { recursive: true });
    const copy = node("copy");
    await copy.round();
    // The first one has the name. The other one notices it with its next name.
    expect([await registered(), setup.troubles]).toEqual([["copy"], []]);
    nowMs = 600_000;
    await original.round();
    expect(setup.troubles).toMatchObject([{ kind: "journal_copied", host: "original", copiedBy: "copy" }]);
    expect(await registered()).toEqual(["copy", "original"]);
    // One that starts on an older copy notices it at once.
    await cp(join(root, "original"), join(root, "late"), { recursive: true });
    nowMs = 1_200_000;
    await original.round();
    await node("late").round();
    expect(setup.troubles.at(-1)).toMatchObject({ kind: "journal_copied", host: "late", copiedBy: "original" });
    expect(await registered()).toEqual(["copy", "late", "original"]);
    nowMs = 1_800_000;
    for (const each of [original, copy, node("original"), node("copy"), node("late")]) await each.round();
    expect(setup.troubles).toHaveLength(2);
  });

  it("are listed, and one that was removed is forgotten by an operator, which ends no stop", async () => {
    const setup = now();
    const settings = { DATABASE_URL: setup.opened.url };
    const forget = (host: string) => saldoJson(["payout", "journal", "forget", host, "--reason", "gone"], settings);
    for (const host of ["removed", "here"]) await node(host).round();
    await changeTimeline();
    const here = node("here");
    await here.round();
    const listed = (await saldoJson(["payout", "journal", "list"], settings))["journals"];
    expect(listed).toMatchObject([
      { chain: "ethereum", host: "here", isCompared: true },
      { chain: "ethereum", host: "removed", isCompared: false },
    ]);
    await expect(forget("removed")).rejects.toThrow("was used within the last 20 minutes");
    await expect(forget("unknown")).rejects.toThrow("No payout journal of this host is known");
    await onServer(setup.opened.url, "UPDATE payout_journal SET owned_at = now() - interval '21 minutes'");
    expect(await forget("removed")).toMatchObject({ host: "removed", journals: 1 });
    const { rows } = await setup.database.pool.query("SELECT action, subject, reason FROM operator_action");
    expect(rows.at(-1)).toEqual({ action: "payout journal forget", subject: "removed", reason: "gone" });
    expect(await registered()).toEqual(["here"]);
    await here.round();
    expect(await stopReason()).toContain("the journals of removed were not compared");
    await resume();
    // The next change does not wait for it.
    await changeTimeline();
    await node("here").round();
    expect(await stopReason()).toBeNull();
  });

  it("keep their journals' names over a change of the books that has lost newer ones", async () => {
    const setup = now();
    let nowMs = 0;
    const here = node("here", { now: () => nowMs });
    await here.round();
    const { rows } = await setup.database.pool.query<{ owner: string }>("SELECT owner FROM payout_journal");
    for (nowMs of [600_000, 1_200_000]) await here.round();
    await onServer(setup.opened.url, `UPDATE payout_journal SET owner = '${rows[0]?.owner ?? ""}'`);
    await changeTimeline();
    await node("here").round();
    expect([setup.troubles, await registered(), await stopReason()]).toEqual([[], ["here"], null]);
  });

  it("report an incomplete last line, which was not broadcast", async () => {
    const setup = now();
    const guard = setup.guard({ folder: join(root, "torn"), host: "torn" });
    await setup.engine({ guard }).round();
    await appendFile(join(guard.journal.folder, "signed-1-00000000-0000-4000-8000-000000000000.log"), "0123abcd {");
    await node("torn").round();
    expect(setup.troubles).toMatchObject([{ kind: "journal_torn", host: "torn", chain: "ethereum" }]);
    expect(await stopReason()).toBeNull();
  });
});
