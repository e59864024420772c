// What a PostgreSQL data folder says about its server, and whether that is still true.

import { execFile } from "node:child_process";
import { link, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The postmaster of a data folder, as its postmaster.pid describes it. */
export type Postmaster = {
  readonly pid: number;
  readonly socketDir: string;
  readonly ready: boolean;
  /** The file as it was read, to notice that it has been replaced since. */
  readonly text: string;
};

/** Reads postmaster.pid; undefined when there is none, or when it is only half written. */
export async function readPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(pidFile(clusterDir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const [pid = "", , , , socketDir = "", , , status = ""] = text.split("\n");
  const number = Number(pid);
  if (!Number.isSafeInteger(number) || number <= 1) return undefined;
  return { pid: number, socketDir, ready: status.trim() === "ready", text };
}

/**
 * Whether this process is a PostgreSQL of this data folder. After a crash or a restart of the machine the number in
 * postmaster.pid can belong to anybody, and a server that was killed can remain as a zombie.
 */
export async function isPostmasterOf(clusterDir: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === "linux") {
    // A PostgreSQL server works inside its data folder. A zombie has no working folder any more.
    const [cwd, cluster] = await Promise.all([stat(`/proc/${pid}/cwd`).catch(() => undefined), stat(clusterDir)]);
    return cwd !== undefined && cwd.ino === cluster.ino && cwd.dev === cluster.dev;
  }
  const { stdout } = await run("ps", ["-o", "command=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.includes(clusterDir);
}

/** Whether a process of this number exists, whoever it belongs to. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Takes away a postmaster.pid whose number belongs to a process that is no PostgreSQL of this folder; PostgreSQL itself
 * would refuse to start until that process ends. Should another starter have replaced the file meanwhile, it is put back.
 */
export async function removeStalePostmaster(clusterDir: string, stale: Postmaster): Promise<void> {
  const file = pidFile(clusterDir);
  const aside = `${file}.stale-${process.pid}`;
  try {
    await rename(file, aside);
    if ((await readFile(aside, "utf8")) !== stale.text) await link(aside, file);
  } catch (error) {
    // Somebody else was quicker, either way; the next look at the folder tells.
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

function pidFile(clusterDir: string): string {
  return join(clusterDir, "postmaster.pid");
}
