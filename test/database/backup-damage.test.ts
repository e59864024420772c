// What one incident leaves in a backup folder, such as a full disk, a killed command or a lost key: it must not keep the rest from being restored.

import { cp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readWholeSealed, backupKeys } from "../../src/database/backup/sealed-file.ts";
import { writeSealed } from "../../src/database/backup/backup-folder.ts";
import { BACKUP_SECRET, chat, DEMO_KEY, Folders, receivedAll, restore, urlIn } from "../setup/backups.ts";
import { until } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { onServer } from "../setup/test-servers.ts";

const OLD = BACKUP_SECRET.SALDO_BACKUP_KEY;
const NEW = "another key of a test that is long enough as well";

describe("a backup folder with damaged files", () => {
  let dataDir: string;
  let root: string;
  let saldo: SaldoHere;
  /** Names of base backups in the folder, the older first, and the folder of their history. */
  let [older, newer, history] = ["", "", ""];
  const folders = new Folders();

  beforeAll(async () => {
    [dataDir, root] = [await folders.make(), await folders.make()];
    saldo = await SaldoHere.start({ ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root });
    const taken = [];
    for (let time = 0; time < 2; time += 1) {
      taken.push(await saldoJson(["backup", "--to", root], { ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir }));
      await chat(saldo.httpUrl, saldo.announced(DEMO_KEY));
    }
    // A complete segment of the log has the last answer, and another one follows.
    await onServer(urlIn(dataDir), "SELECT pg_switch_wal()");
    await chat(saldo.httpUrl, saldo.announced(DEMO_KEY));
    await until(() => receivedAll(dataDir));
    await saldo.stop();
    [older = "", newer = ""] = taken.map(({ path = "" }) => path);
    history = join(newer, "..");
  });
  afterAll(async () => {
    await folders.remove();
  });

  const nameOf = (base: string) => `${basename(history)}/${basename(base)}`;

  it("is restored without the base backups that cannot be read, which it names", async () => {
    const about = join(older, "about.sealed");
    const bytes = await readFile(about);
    await writeFile(about, Buffer.from(bytes).fill(1, 60, 61));
    const half = join(history, "base-20990101T000000000Z");
    await cp(newer, half, { recursive: true });
    await rm(join(half, "base.tar.sealed"));
    // The disk was full when the last segment was received again.
    const wal = join(history, "wal");
    const last = (await readdir(wal)).find((name) => name.endsWith(".open.sealed")) ?? "";
    await rename(join(wal, last), join(wal, last.replace("open", "before")));
    await writeFile(join(wal, last), "");
    const restored = await restore(root, await folders.make());
    await writeFile(about, bytes);
    await rm(half, { recursive: true });
    expect(restored).toMatchObject({
      records: 3,
      unreadable: {
        [nameOf(older)]: expect.stringContaining("was changed since it was written"),
        [nameOf(half)]: expect.stringContaining("has no file base.tar.sealed"),
      },
    });
  });

  it("is refused where a complete segment is damaged, also beside what was received of it before", async () => {
    const wal = join(history, "wal");
    const complete = (await readdir(wal)).filter((name) => /^[0-9A-F]{24}\.sealed$/.test(name)).toSorted();
    const path = join(wal, complete.at(-1) ?? "");
    const before = path.replace(".sealed", ".before.sealed");
    const bytes = await readFile(path);
    await writeFile(before, bytes.subarray(0, Math.floor(bytes.length / 20)));
    const damaged = Buffer.from(bytes);
    damaged[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
    await writeFile(path, damaged);
    const dir = await folders.make();
    const refused = await runSaldo(["restore", "--from", root, "--data-dir", dir], BACKUP_SECRET);
    await writeFile(path, bytes);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("was changed since it was written") });
    expect(refused.stderr).toContain(basename(path, ".sealed"));
    // With the complete one, what was received before does no harm.
    expect(await restore(root, await folders.make())).toMatchObject({ records: 3 });
    await rm(before);
  });

  it("is verified only where its key opens the books, and none is taken with a key that does not", async () => {
    const parts = [
      { path: join(newer, "secrets-key.sealed"), name: `${nameOf(newer)}/secrets-key` },
      { path: join(history, "secrets-key.sealed"), name: `${basename(history)}/secrets-key` },
    ];
    for (const each of parts) {
      await rename(each.path, `${each.path}.away`);
      await writeSealed(each, backupKeys([OLD]), Buffer.from("the key of another cluster, long enough"));
    }
    const verified = await runSaldo(["backup", "verify", root, "--json"], BACKUP_SECRET);
    for (const { path } of parts) await rename(`${path}.away`, path);
    expect(verified).toMatchObject({ code: 1, stderr: expect.stringContaining("SALDO_SECRETS_KEY is not") });
    const own = join(dataDir, "secrets-key");
    await rename(own, `${own}.away`);
    await writeFile(own, "the key of another cluster, long enough\n");
    const before = await readdir(history);
    const taken = await runSaldo(["backup", "--to", root], { ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir });
    await rename(`${own}.away`, own);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("SALDO_SECRETS_KEY is not") });
    expect(await readdir(history)).toEqual(before);
  });

  it("goes on under another key, and a new base backup is restored with that one alone", async () => {
    const settings = { SALDO_BACKUP_KEY: NEW };
    saldo = await SaldoHere.start({ ...settings, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root });
    const both = { SALDO_BACKUP_KEY: `${NEW},${OLD}`, SALDO_DATA_DIR: dataDir };
    const { path = "" } = await saldoJson(["backup", "--to", root], both);
    await chat(saldo.httpUrl, saldo.announced(DEMO_KEY));
    await until(() => receivedAll(dataDir));
    expect(saldo.log.filter((line) => line["event"] === "backup.log.failed")).toEqual([]);
    await saldo.stop();
    const restored = await restore(root, await folders.make(), { settings });
    expect(restored).toMatchObject({
      records: 4,
      unreadable: { [nameOf(newer)]: expect.stringContaining("another key") },
    });
    const stored = { path: join(path, "..", "secrets-key.sealed"), name: `${basename(history)}/secrets-key` };
    const own = await readFile(join(dataDir, "secrets-key"), "utf8");
    expect((await readWholeSealed(stored.path, stored.name, backupKeys([NEW]))).toString()).toBe(own.trim());
  });
});
