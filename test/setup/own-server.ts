// Embedded servers of a test's own, for tests that kill or misconfigure one, and the folders they live in.

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { statfsSync } from "node:fs";
import { chmod, cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { EmbeddedPostgres } from "../../src/database/embedded/embedded-postgres.ts";
import { isAlive, isPostmasterOf, readPostmaster } from "../../src/database/embedded/postmaster.ts";

/** A folder in memory: a server there need not wait for a disk, which takes most of the time of a database of a test's own. */
const IN_MEMORY = "/dev/shm";
/** Room for all clusters of a run with their write-ahead logs. Containers often have 64 MiB. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3;
const DATA_DIRS = hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir();

const POLL_MS = 5;
const WAIT_DEADLINE_MS = 30_000;

/** Makes a data folder: empty, or with a copy of another one's cluster, which takes less time than making one. */
export async function makeDataDir(copyOf?: string): Promise<string> {
  const folder = await mkdtemp(join(DATA_DIRS, `saldo-test-${process.pid}-`));
  await chmod(folder, 0o711);
  if (copyOf !== undefined) await cp(join(copyOf, "postgres"), join(folder, "postgres"), { recursive: true });
  return folder;
}

/** Stops the server that may still run in a data folder, and removes the folder. */
export async function removeDataDir(dataDir: string): Promise<void> {
  const cluster = join(dataDir, "postgres");
  const postmaster = await readPostmaster(cluster);
  if (postmaster !== undefined && (await isPostmasterOf(cluster, postmaster.pid))) {
    process.kill(postmaster.pid, "SIGQUIT");
    await until(async () => !(await isPostmasterOf(cluster, postmaster.pid)));
  }
  await rm(dataDir, { recursive: true, force: true });
}

/** Removes the data folders, with their servers, of test runs that were killed before they could. */
export async function removeAbandonedDataDirs(): Promise<void> {
  for (const name of await readdir(DATA_DIRS)) {
    const pid = /^saldo-test-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await removeDataDir(join(DATA_DIRS, name));
  }
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= LEAST_FREE_BYTES;
  } catch {
    return false;
  }
}

/** The process id of the server in a data folder. */
export async function postmasterPid(dataDir: string): Promise<number> {
  const postmaster = await readPostmaster(join(dataDir, "postgres"));
  if (postmaster === undefined) throw new Error(`no server in ${dataDir}`);
  return postmaster.pid;
}

/** Waits until something has become true. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_DEADLINE_MS;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error("what the test waits for did not happen");
    await sleep(POLL_MS);
  }
}

/** The superuser's URL of an embedded server. */
export function urlOf({ host, user, database }: EmbeddedPostgres): string {
  return `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}

/** Another process that starts or adopts the server of a data folder and keeps it until it is stopped. */
export type Starter = { readonly child: ChildProcess; readonly ownedByUs: Promise<boolean>; stop(): Promise<void> };

/** Runs such a process. */
export function spawnStarter(dataDir: string): Starter {
  const script = new URL("starter.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, dataDir], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<void>((done) => child.once("exit", () => done()));
  const ownedByUs = new Promise<boolean>((done, fail) => {
    createInterface(child.stdout).once("line", (line) => done(line === "started"));
    void exited.then(() => fail(new Error("the starter ended before its server was up")));
  });
  // A test that kills the starter early never asks.
  ownedByUs.catch(() => undefined);
  return {
    child,
    ownedByUs,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
