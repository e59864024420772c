// Backup and restore of the embedded database: taken while the service serves, with its log received beside it.

import { randomBytes } from "node:crypto";
import { copyFile, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  BACKUP_SECRET,
  chat as chatAt,
  DEMO_KEY,
  Folders,
  receivedAll,
  urlIn,
  withServerIn,
} from "../setup/backups.ts";
import { until } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { onServer } from "../setup/test-servers.ts";

const MARKER = `marker-${randomBytes(8).toString("hex")}`;

describe("a backup of the embedded database", () => {
  let dataDir: string;
  let root: string;
  let saldo: SaldoHere;
  let url: string;
  let account: string;
  const folders = new Folders();
  let taken: Record<string, string>;
  /** Answered requests: before the backup, between it and the moment, and behind that. */
  const answered = { before: 3, between: 4, behind: 2 };
  let moment: string;

  beforeAll(async () => {
    dataDir = await folders.make();
    root = await folders.make();
    saldo = await SaldoHere.start({ ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root });
    url = urlIn(dataDir);
    await chat(answered.before);
    account = (await onServer(url, "SELECT account_id FROM usage_record LIMIT 1")).rows[0].account_id;
    await saldoJson(["key", "create", "--account", account, "--name", MARKER], { SALDO_DATA_DIR: dataDir });
    taken = await saldoJson(["backup", "--to", root], { ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir });
    await chat(answered.between);
    moment = (await onServer(url, "SELECT clock_timestamp() AS at")).rows[0].at.toISOString();
    await chat(answered.behind);
    await until(() => receivedAll(dataDir));
    await saldo.stop();
  });
  afterAll(async () => {
    await folders.remove();
  });

  const chat = (times: number) => chatAt(saldo.httpUrl, saldo.announced(DEMO_KEY), times);

  /** Every file of the backup. */
  async function files(): Promise<string[]> {
    const entries = await readdir(root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .toSorted();
  }

  const at = (dir: string) => ({ ...BACKUP_SECRET, SALDO_DATA_DIR: dir });

  async function recordsIn(dir: string): Promise<number> {
    return (await saldoJson(["usage", "list", "--account", account], at(dir)))["records"]?.length ?? 0;
  }

  /** Restores into a folder of its own, whose server runs while the look is taken. */
  async function restore(words: readonly string[], look: (dir: string) => Promise<void>) {
    const dir = await folders.make();
    const restored = await saldoJson(["restore", "--from", root, "--data-dir", dir, ...words], BACKUP_SECRET);
    await withServerIn(dir, () => look(dir));
    return restored;
  }

  it("has its place, its size and its moment, and nothing of the books in clear", async () => {
    expect(taken["path"]).toContain(root);
    expect(Number(taken["bytes"])).toBeGreaterThan(1_000_000);
    expect(new Date(String(taken["until"])).getTime()).toBeLessThanOrEqual(new Date(moment).getTime());
    const all = await files();
    expect(all.length).toBeGreaterThan(3);
    for (const file of all) expect((await readFile(file)).includes(MARKER), file).toBe(false);
  });

  it("is restored to a moment, with everything stopped", async () => {
    const restored = await restore(["--until", moment], async (dir) => {
      expect(await recordsIn(dir)).toBe(answered.before + answered.between);
      expect(await saldoJson(["admission", "status"], at(dir))).toMatchObject({ stopped: true });
      expect(await saldoJson(["payout", "status"], at(dir))).toMatchObject({ stops: [{ chain: "", address: "" }] });
      expect(await saldoJson(["recover", "report"], at(dir))).toMatchObject({ history: { timeline: 2 }, owed: [] });
      const { code, stderr } = await runSaldo(["restore", "--from", root], at(dir));
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("is not empty") });
    });
    const beyond = ["saldo recover report", "saldo payout status"];
    expect(restored).toEqual({ until: moment, timeline: 2, beyond });
  });

  it("has the key of its secrets, so that a restored folder is served again", async () => {
    let restored = "";
    await restore(["--until", moment], async (dir) => {
      restored = dir;
      await saldoJson(["admission", "start"], at(dir));
    });
    const own = await readFile(join(dataDir, "secrets-key"));
    expect(await readFile(join(restored, "secrets-key"))).toEqual(own);
    expect((await stat(join(restored, "secrets-key"))).mode & 0o777).toBe(0o600);
    for (const file of await files()) expect((await readFile(file)).includes(own.subarray(0, 32)), file).toBe(false);
    const formerUrl = saldo.httpUrl;
    saldo = await SaldoHere.start({ SALDO_DATA_DIR: restored });
    expect(saldo.httpUrl).not.toBe(formerUrl);
    await chat(1);
    await saldo.stop();
  });

  it("is refused without the key of its secrets, and not restored beside another one", async () => {
    const file = join(dataDir, "secrets-key");
    await rename(file, `${file}.away`);
    const backup = await runSaldo(["backup", "--to", root], at(dataDir));
    await rename(`${file}.away`, file);
    expect(backup).toMatchObject({ code: 1, stderr: expect.stringContaining("neither in SALDO_SECRETS_KEY nor in") });
    const dir = await folders.make();
    await writeFile(join(dir, "secrets-key"), "the key of another cluster\n");
    const restored = await runSaldo(["restore", "--from", root, "--data-dir", dir, "--until", moment], BACKUP_SECRET);
    expect(restored).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is not the key of the restored database"),
    });
    expect(await readdir(dir)).toEqual(["secrets-key"]);
  });

  it("is restored to the last moment that was received, on a timeline that no restore had before", async () => {
    const restored = await restore([], async (dir) => {
      expect(await recordsIn(dir)).toBe(answered.before + answered.between + answered.behind);
    });
    expect(restored).toMatchObject({ timeline: 4 });
  });

  it("is verified by a restore that leaves nothing", async () => {
    const before = await files();
    expect(await saldoJson(["backup", "verify", root], BACKUP_SECRET)).toEqual({ ok: true });
    // When it was verified, for the metric of its age.
    expect(await files()).toEqual([...before, join(root, "verified.sealed")].toSorted());
  });

  it.each([
    ["with a byte flipped", async (path: string, bytes: Buffer) => writeFile(path, flipped(bytes))],
    ["cut short", async (path: string, bytes: Buffer) => truncate(path, bytes.length - 100_000)],
    ["cut where a frame ends", async (path: string, bytes: Buffer) => truncate(path, lastFrameAt(bytes))],
  ])("is refused %s, and leaves the data folder empty", async (_what, damage) => {
    const path = join(String(taken["path"]), "base.tar.sealed");
    const bytes = await readFile(path);
    await damage(path, bytes);
    const dir = await folders.make();
    const { code, stderr } = await runSaldo(["restore", "--from", root, "--data-dir", dir], BACKUP_SECRET);
    await writeFile(path, bytes);
    expect(stderr).toMatch(/was changed since it was written, or a part of it is missing/);
    expect({ code, left: await readdir(dir) }).toEqual({ code: 1, left: [] });
  });

  it("is refused under another key", async () => {
    const other = { SALDO_BACKUP_KEY: "another key of a test that is long enough as well" };
    const { code, stderr } = await runSaldo(["restore", "--from", root, "--data-dir", await folders.make()], other);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining("another key") });
  });

  it("is not restored where no key opens its secrets, as from before the first key", async () => {
    const stored = ["", ".."].map((part) => join(String(taken["path"]), part, "secrets-key.sealed"));
    for (const file of stored) await rename(file, `${file}.away`);
    try {
      const dir = await folders.make();
      const words = ["restore", "--from", root, "--data-dir", dir, "--until", moment];
      const other = { ...BACKUP_SECRET, SALDO_SECRETS_KEY: "another key of a test that is long enough as well" };
      for (const settings of [BACKUP_SECRET, other]) {
        const { code, stderr } = await runSaldo(words, settings);
        expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/SALDO_SECRETS_KEY is not/) });
        expect(await readdir(dir)).toEqual([]);
      }
      await copyFile(join(dataDir, "secrets-key"), join(dir, "secrets-key"));
      expect(await runSaldo(words, BACKUP_SECRET)).toMatchObject({ code: 0 });
    } finally {
      for (const file of stored) await rename(`${file}.away`, file);
    }
  });
});

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const middle = Math.floor(copy.length / 2);
  copy[middle] = (copy[middle] ?? 0) ^ 1;
  return copy;
}

/** Where the last frame of an encrypted file begins. */
function lastFrameAt(bytes: Buffer): number {
  let at = 44;
  for (let next = at; next < bytes.length; next = at + 4 + (bytes.readUInt32BE(at) & 0x7fff_ffff) + 16) at = next;
  return at;
}
