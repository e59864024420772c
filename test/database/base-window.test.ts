// A machine that is lost again while its receiver takes the first base backup of a folder: commits wait for the receiver, so nothing is
// answered until the backup is whole, and the folder of before has all that was.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clientConfig, withClient } from "../../src/database/connections.ts";
import {
  answersIn,
  ask,
  BACKUP_SECRET,
  chat,
  DEMO_KEY,
  Folders,
  receivedAll,
  urlIn,
  withServerIn,
} from "../setup/backups.ts";
import { freePorts } from "../setup/free-ports.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { postmasterPid, until } from "../setup/own-server.ts";
import { runSaldo, saldoJson } from "../setup/saldo-command.ts";
import { SaldoHere } from "../setup/saldo-here.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { environmentOf, SERVING_SETTINGS } from "../setup/test-environment.ts";
import { onServer } from "../setup/test-servers.ts";

const ENTRY = fileURLToPath(new URL("../../src/main.js", import.meta.url));
const [FIRST, LAST] = [2, 3];
/** Requests while the base backup is taken. */
const [TRIES, BETWEEN_MS] = [40, 50];
const STREAMING = "SELECT FROM pg_stat_replication WHERE application_name = 'saldo_backup' AND state = 'streaming'";
const SENDER = "SELECT pid FROM pg_stat_replication WHERE application_name = 'saldo backup'";

describe.runIf(IS_LONG)("a machine that is lost while its first base backup is taken", () => {
  const folders = new Folders();
  let [former, fresh, dir, key] = ["", "", "", ""];

  beforeAll(async () => {
    [former, fresh] = [await folders.make(), await folders.make()];
    const first = await folders.make();
    const saldo = await SaldoHere.start({ ...BACKUP_SECRET, SALDO_DATA_DIR: first, SALDO_BACKUP_DIR: former });
    key = saldo.announced(DEMO_KEY);
    await saldoJson(["backup", "--to", former], { ...BACKUP_SECRET, SALDO_DATA_DIR: first });
    await chat(saldo.httpUrl, key, FIRST);
    await until(() => receivedAll(first));
    await saldo.stop();
  });
  afterAll(() => folders.remove());

  /** Restores the books of before, with admissions open. */
  async function restoreFormer(): Promise<string> {
    const restored = await folders.make();
    await saldoJson(["restore", "--from", former, "--data-dir", restored], BACKUP_SECRET);
    await withServerIn(restored, async () => {
      await saldoJson(["admission", "start"], { ...BACKUP_SECRET, SALDO_DATA_DIR: restored });
      expect(await answersIn(restored)).toHaveLength(FIRST);
    });
    return restored;
  }

  const settings = () => ({
    ...BACKUP_SECRET,
    SALDO_DATA_DIR: dir,
    SALDO_BACKUP_DIR: fresh,
    SALDO_BACKUP_SYNCHRONOUS: "1",
  });

  /**
   * Starts the service, whose base backup stops in its middle, and kills all of it when it had time to answer. Returns what it answered, and
   * whether the receiver has begun to confirm.
   */
  async function loseWhileTaken(): Promise<{ readonly acknowledged: number; readonly isConfirmed: boolean }> {
    const [port = 0] = await freePorts(1);
    const env = environmentOf({ ...SERVING_SETTINGS, ...settings(), SALDO_HTTP_PORT: String(port) });
    const child = spawn(process.execPath, [ENTRY, "serve"], { env, stdio: "ignore" });
    const ended = once(child, "exit");
    const sender = await stoppedSender();
    let [acknowledged, isConfirmed] = [0, false];
    for (let time = 0; time < TRIES; time += 1) {
      isConfirmed ||= (await onServer(urlIn(dir), STREAMING)).rows.length > 0;
      const answer = await ask(`http://127.0.0.1:${port}`, key).catch(() => null);
      if (answer?.status === 200) acknowledged += 1;
      await sleep(BETWEEN_MS);
    }
    process.kill(await postmasterPid(dir), "SIGKILL");
    process.kill(sender, "SIGKILL");
    child.kill("SIGKILL");
    await ended;
    return { acknowledged, isConfirmed };
  }

  /** Stops the server's process that sends the base backup, as soon as it is there. */
  async function stoppedSender(): Promise<number> {
    await until(() =>
      onServer(urlIn(dir), "SELECT 1").then(
        () => true,
        () => false,
      ),
    );
    return withClient(clientConfig({ connectionString: urlIn(dir) }, "saldo test"), async (client) => {
      let pid = 0;
      await until(async () => {
        const { rows } = await client.query<{ pid: number }>(SENDER);
        pid = rows[0]?.pid ?? 0;
        return pid !== 0;
      });
      process.kill(pid, "SIGSTOP");
      return pid;
    });
  }

  it("has answered nothing by then, and the folder of before has everything", async () => {
    dir = await restoreFormer();
    expect(await loseWhileTaken()).toEqual({ acknowledged: 0, isConfirmed: false });
    const words = ["restore", "--from", fresh, "--data-dir", await folders.make()];
    expect(await runSaldo(words, BACKUP_SECRET)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("There is no backup"),
    });
  });

  it("has everything in the new folder once it has answered", async () => {
    // The folder of before has everything still.
    dir = await restoreFormer();
    const saldo = await SaldoProcess.start(settings());
    await until(async () => (await ask(saldo.httpUrl, key)).status === 200);
    await chat(saldo.httpUrl, key, LAST - 1);
    process.kill(await postmasterPid(dir), "SIGKILL");
    await saldo.stop("SIGKILL");
    const last = await folders.make();
    await saldoJson(["restore", "--from", fresh, "--data-dir", last], BACKUP_SECRET);
    expect(await withServerIn(last, () => answersIn(last))).toHaveLength(FIRST + LAST);
  });
});
