// The receiver of the log as the one synchronous standby of the embedded database: what was answered is in its folder, also when the
// machine of the database is lost with all its data in the middle of its work.

import { readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { answersIn, ask, BACKUP_SECRET, DEMO_KEY, Folders, urlIn, withServerIn } from "../setup/backups.ts";
import { postmasterPid, removeDataDir } from "../setup/own-server.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { onServer } from "../setup/test-servers.ts";

const CLIENTS = 8;
/** How many answers arrive before the machine is lost. */
const ANSWERS = 300;
const PATIENCE = { timeout: 30_000, interval: 100 };

describe("a receiver that commits wait for", () => {
  let dataDir: string;
  let root: string;
  let saldo: SaldoProcess;
  let settings: Record<string, string>;
  let key: string;
  const folders = new Folders();
  const answered = new Set<string>();

  beforeAll(async () => {
    dataDir = await folders.make();
    root = join(await folders.make(), "backups");
    settings = { ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir, SALDO_BACKUP_DIR: root, SALDO_BACKUP_SYNCHRONOUS: "1" };
    // Before the first start that serves, so without a key of the database's secrets.
    await saldoJson(["backup", "--to", root], { ...BACKUP_SECRET, SALDO_DATA_DIR: dataDir });
  });
  afterAll(async () => {
    await saldo.stop("SIGKILL");
    await folders.remove();
  });

  /** The status of a request, 0 where none arrived. The ids of answered ones are kept. */
  async function chat(): Promise<number> {
    try {
      const { status, requestId } = await ask(saldo.httpUrl, key);
      if (status === 200) answered.add(requestId);
      return status;
    } catch {
      return 0; // the machine was lost
    }
  }

  /** Whether the service misses the receiver. A busy machine alone makes it less than ready, too. */
  async function isMissing(): Promise<boolean> {
    const text = await (await fetch(`${saldo.metricsUrl}/metrics`)).text();
    return /^saldo_sync_standby_missing 1$/m.test(text);
  }

  const statusOf = async (path: string) => (await fetch(`${saldo.httpUrl}${path}`)).status;

  it("is refused on a server that another program has started without it", async () => {
    const server = await startEmbeddedPostgres({ dataDir });
    await expect(SaldoHere.start(settings)).rejects.toThrow(/commits do not wait for SALDO_BACKUP_DIR/);
    await server.stop({ evenWithClients: true });
  });

  it("confirms what is answered, and while it cannot, nothing is", async () => {
    saldo = await SaldoProcess.start(settings);
    const demo = saldo.announced(DEMO_KEY);
    key = demo;
    expect(await chat()).toBe(200);
    const { rows } = await onServer(
      urlIn(dataDir),
      "SELECT application_name AS name, sync_state AS state FROM pg_stat_replication",
    );
    expect(rows).toEqual([{ name: "saldo_backup", state: "sync" }]);
    // The disk of the backups is away, with something else in its place.
    await rename(root, `${root}-away`);
    await writeFile(root, "");
    await onServer(urlIn(dataDir), "SELECT pg_terminate_backend(pid) FROM pg_stat_replication");
    await expect.poll(isMissing, PATIENCE).toBe(true);
    expect(await statusOf("/readyz")).toBe(503);
    expect(await chat()).toBe(503);
    await expect
      .poll(() => saldo.log.some((line) => line["event"] === "database.standby.missing"), PATIENCE)
      .toBe(true);
    expect(await answersIn(dataDir)).toHaveLength(answered.size);
    await rm(root);
    await rename(`${root}-away`, root);
    await expect.poll(isMissing, PATIENCE).toBe(false);
    await expect.poll(() => statusOf("/readyz"), PATIENCE).toBe(200);
    await expect.poll(chat, PATIENCE).toBe(200);
  });

  it("has every answer when the machine is lost under load, and the key of the secrets", async () => {
    const account = (await onServer(urlIn(dataDir), "SELECT account_id AS id FROM usage_record LIMIT 1")).rows[0].id;
    const words = ["key", "create", "--account", account, "--name", "load", "--rate-limit", "0"];
    ({ key } = (await saldoJson(words, settings)) as { key: string });
    const ownKey = await readFile(join(dataDir, "secrets-key"), "utf8");
    let isLost = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isLost) if ((await chat()) === 0) return;
    });
    await expect.poll(() => answered.size, PATIENCE).toBeGreaterThan(ANSWERS);
    const postmaster = await postmasterPid(dataDir);
    process.kill(postmaster, "SIGKILL");
    await saldo.stop("SIGKILL");
    isLost = true;
    await Promise.all(clients);
    await removeDataDir(dataDir);

    const restored = await folders.make();
    // It fails where the audit of everything finds anything.
    await saldoJson(["restore", "--from", root, "--data-dir", restored], BACKUP_SECRET);
    const records = new Set(await withServerIn(restored, () => answersIn(restored)));
    expect([...answered].filter((id) => !records.has(id))).toEqual([]);
    expect(await readFile(join(restored, "secrets-key"), "utf8")).toBe(ownKey);
    expect((await stat(join(restored, "secrets-key"))).mode & 0o777).toBe(0o600);
  });
});
