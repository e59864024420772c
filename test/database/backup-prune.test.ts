// `saldo backup prune`: what a kept base backup needs stays, and nothing is removed where the newest one cannot be read.

import { mkdir, readdir, readFile, rename, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFolderState } from "../../src/database/backup/folder-state.ts";
import { backupKeys } from "../../src/database/backup/sealed-file.ts";
import { ask, BACKUP_SECRET, chat, DEMO_KEY, Folders, receivedAll, restore } from "../setup/backups.ts";
import { until } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";

const BASES = 3;
const [KILLED, RUNNING] = ["base-20260101T000000000Z.draft", "base-20260102T000000000Z.draft"];

describe("pruning a backup folder", () => {
  let [dataDir, root] = ["", ""];
  let saldo: SaldoHere;
  let key: string;
  const taken: string[] = [];
  /** When each of them was taken. */
  const moments: string[] = [];
  const folders = new Folders();

  beforeAll(async () => {
    [dataDir, root] = [await folders.make(), await folders.make()];
    saldo = await SaldoHere.start({ ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root });
    key = saldo.announced(DEMO_KEY);
    await until(() => saldo.log.some((line) => line["event"] === "backup.base.taken"));
    await leaveDrafts();
    for (let base = 0; base < BASES; base += 1) {
      await chat(saldo.httpUrl, key);
      const { path = "" } = await saldoJson(["backup", "--to", root], { ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir });
      taken.push(path);
      moments.push(new Date().toISOString());
    }
    await chat(saldo.httpUrl, key);
    await until(() => receivedAll(dataDir));
    await saldo.stop();
  });
  afterAll(async () => {
    await folders.remove();
  });

  /** What two backups have left that were killed, of this history and of a former one, and what a third one is writing. */
  async function leaveDrafts(): Promise<void> {
    const [history = ""] = await readdir(root);
    const hoursAgo = new Date(Date.now() - 2 * 3_600_000);
    for (const [name, at] of [
      [join(history, KILLED), hoursAgo],
      [join("7001-1", KILLED), hoursAgo],
      [join(history, RUNNING), new Date()],
    ] as const) {
      const draft = join(root, name);
      await mkdir(draft, { recursive: true });
      await writeFile(join(draft, "base.tar.sealed"), "a part of a base backup");
      for (const each of [join(draft, "base.tar.sealed"), draft]) await utimes(each, at, at);
    }
  }

  /** Of the folder, into which the log of a timeline is received. */
  const state = (timeline: number) => {
    const [system = ""] = nameOf(taken[0] ?? "").split("-");
    return readFolderState(root, { system, timeline }, backupKeys([BACKUP_SECRET.SALDO_BACKUP_KEY]));
  };

  it("begins behind backups that have removed what killed ones had left, and nothing that is being written", async () => {
    expect((await files()).filter((name) => name.endsWith(".draft")).map((name) => basename(name))).toEqual([RUNNING]);
  });

  const files = async () => (await readdir(root, { recursive: true })).toSorted();
  const nameOf = (path: string) => path.split("/").slice(-2).join("/");

  it("is refused where the newest base backup cannot be read, and removes nothing", async () => {
    const newest = taken.at(-1) ?? "";
    const before = await files();
    for (const part of ["about.sealed", "base.tar.sealed"]) {
      const bytes = await readFile(join(newest, part));
      const damaged = Buffer.from(bytes);
      damaged[bytes.length - 20] = (damaged[bytes.length - 20] ?? 0) ^ 1;
      await writeFile(join(newest, part), damaged);
      const outcome = await runSaldo(["backup", "prune", root, "--keep", "1"], BACKUP_SECRET);
      await writeFile(join(newest, part), bytes);
      expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(`${nameOf(newest)}, cannot be read`) });
    }
    expect(await files()).toEqual(before);
  });

  it("removes the oldest base backups and their log, and the oldest that is kept is restored to the end", async () => {
    const segments = async () => (await files()).filter((name) => /wal\/[0-9A-F]{24}/.test(name)).length;
    const before = await segments();
    const first = await state(1);
    expect(first.verifiedAt?.getTime()).toBeLessThan(Date.parse(moments[0] ?? ""));
    const [, older = "", newer = ""] = taken;
    const pruned = await saldoJson(["backup", "prune", root, "--keep", "2"], BACKUP_SECRET);
    expect(pruned).toMatchObject({ kept: [nameOf(newer), nameOf(older)], unreadable: {} });
    expect(pruned["removed"]).toHaveLength(BASES + 1 - 2);
    expect(Number(pruned["segments"])).toBeGreaterThan(0);
    // It was never verified, and is no younger for having lost its first base backups.
    expect(await state(1)).toMatchObject({ verifiedAt: first.verifiedAt, baseAt: first.baseAt });
    expect(await segments()).toBe(before - Number(pruned["segments"]));
    // The oldest that was kept, alone.
    await rename(newer, `${newer}.away`);
    const { records } = await restore(root, await folders.make());
    await rename(`${newer}.away`, newer);
    expect(records).toBe(BASES + 1);
  });

  it("keeps what leads to the books that went on from an older base backup", async () => {
    const [, older = "", newer = ""] = taken;
    const second = await folders.make();
    await restore(root, second, { words: ["--until", moments[1] ?? ""] });
    saldo = await SaldoHere.start({ ...BACKUP_SECRET, SALDO_DATA_DIR: second, SALDO_BACKUP_DIR: root });
    await saldoJson(["admission", "start"], { SALDO_DATA_DIR: second });
    await until(async () => (await ask(saldo.httpUrl, key)).status === 200);
    await until(() => receivedAll(second));
    await saldo.stop();
    // The newest one is of books that no service continues. The restore before made timeline 2.
    expect((await state(3)).baseAt?.getTime()).toBeLessThan(Date.parse(moments[1] ?? ""));
    expect((await state(1)).baseAt?.getTime()).toBeGreaterThan(Date.parse(moments[1] ?? ""));
    const pruned = await saldoJson(["backup", "prune", root, "--keep", "1"], BACKUP_SECRET);
    expect(pruned).toMatchObject({ kept: [nameOf(newer), nameOf(older)], removed: [] });
    expect(await restore(root, await folders.make())).toMatchObject({ records: 2 + 1 });
    const about = join(older, "base.tar.sealed");
    const bytes = await readFile(about);
    await writeFile(about, Buffer.from(bytes).fill(1, 60, 61));
    const refused = await runSaldo(["backup", "prune", root, "--keep", "1"], BACKUP_SECRET);
    await writeFile(about, bytes);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${nameOf(older)}, cannot be read`) });
  });
});
