// `saldo backup prune`: what a kept base backup needs stays, and nothing is removed where the newest one cannot be read.

import { readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { makeDataDir, removeDataDir, until } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { onServer } from "../setup/test-servers.ts";

const KEY = /gw_[A-Za-z0-9]{49}/;
const HELLO = JSON.stringify({ model: "demo/small", messages: [{ role: "user", content: "Hello!" }] });
const SECRET = { SALDO_BACKUP_KEY: "a key of a test that is long enough for what it encrypts" };
const BASES = 3;

describe("pruning a backup folder", () => {
  let [dataDir, root] = ["", ""];
  let saldo: SaldoHere;
  const taken: string[] = [];
  const made: string[] = [];

  beforeAll(async () => {
    [dataDir, root] = [await folder(), await folder()];
    saldo = await SaldoHere.start({ ...SECRET, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root });
    await until(() => saldo.log.some((line) => line["event"] === "backup.base.taken"));
    for (let base = 0; base < BASES; base += 1) {
      await chat();
      const { path = "" } = await saldoJson(["backup", "--to", root], { ...SECRET, SALDO_DATA_DIR: dataDir });
      taken.push(path);
    }
    await chat();
    await until(receivedAll);
    await saldo.stop();
  });
  afterAll(async () => {
    for (const each of made) await removeDataDir(each);
  });

  async function folder(): Promise<string> {
    const path = await makeDataDir();
    made.push(path);
    return path;
  }

  const urlOf = (dir: string) =>
    `postgres://postgres@localhost/postgres?host=${encodeURIComponent(join(dir, "socket"))}`;

  async function chat(): Promise<void> {
    const response = await fetch(`${saldo.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${saldo.announced(KEY)}`, "content-type": "application/json" },
      body: HELLO,
    });
    await response.arrayBuffer();
    expect(response.status).toBe(200);
  }

  async function receivedAll(): Promise<boolean> {
    const text =
      "SELECT flush_lsn >= pg_current_wal_flush_lsn() AS all FROM pg_stat_replication WHERE application_name = 'saldo_backup'";
    return (await onServer(urlOf(dataDir), text)).rows[0]?.all === true;
  }

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
      const outcome = await runSaldo(["backup", "prune", root, "--keep", "1"], SECRET);
      await writeFile(join(newest, part), bytes);
      expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining(`${nameOf(newest)}, cannot be read`) });
    }
    expect(await files()).toEqual(before);
  });

  it("removes the oldest base backups and their log, and the oldest that is kept is restored to the end", async () => {
    const segments = async () => (await files()).filter((name) => /wal\/[0-9A-F]{24}/.test(name)).length;
    const before = await segments();
    const [, older = "", newer = ""] = taken;
    const pruned = await saldoJson(["backup", "prune", root, "--keep", "2"], SECRET);
    expect(pruned).toMatchObject({ kept: [nameOf(newer), nameOf(older)], unreadable: {} });
    expect(pruned["removed"]).toHaveLength(BASES + 1 - 2);
    expect(Number(pruned["segments"])).toBeGreaterThan(0);
    expect(await segments()).toBe(before - Number(pruned["segments"]));
    // The oldest that was kept, alone.
    await rename(newer, `${newer}.away`);
    const dir = await folder();
    await saldoJson(["restore", "--from", root, "--data-dir", dir], SECRET);
    await rename(`${newer}.away`, newer);
    const server = await startEmbeddedPostgres({ dataDir: dir });
    const { rows } = await onServer(urlOf(dir), "SELECT count(*)::int AS records FROM usage_record");
    await server.stop({ evenWithClients: true });
    expect(rows).toEqual([{ records: BASES + 1 }]);
  });
});
