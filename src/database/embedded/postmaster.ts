// The facts about its server in a PostgreSQL data folder, and whether they are still true.

import { execFile } from "node:child_process";
import { link, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorCode } from "../system-error.ts";

const run = promisify(execFile);

/** The name of the socket in its folder; the number is a port that nothing listens on. */
export const SOCKET_NAME = ".s.PGSQL.5432";

/** The postmaster of a data folder, as its postmaster.pid describes it. */
export type Postmaster = {
  readonly pid: number;
  readonly socketDir: string;
  /** Whether it takes connections; it does not while it starts or stops. */
  readonly serving: boolean;
  /** Whether it takes writes: it is no standby and recovers no backup. */
  readonly isPrimary: boolean;
};

/** Reads postmaster.pid; undefined when there is none, or when it is only half written. */
export async function readPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const [pid = "", , , , socketDir = "", , , status = ""] = (await readLock(pidFile(clusterDir))).split("\n");
  const number = pidIn(pid);
  if (number === undefined) return undefined;
  const isPrimary = status.trim() === "ready";
  return { pid: number, socketDir, serving: isPrimary || status.trim() === "standby", isPrimary };
}

/**
 * Whether this process is a PostgreSQL of this data folder. After a crash or a restart of the machine the number in
 * postmaster.pid can belong to any process, and a server that was killed can remain as a zombie.
 */
export async function isPostmasterOf(clusterDir: string, pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === "linux") {
    // A PostgreSQL server works inside its data folder. A zombie has no working folder any more.
    const [cwd, cluster] = await Promise.all([
      stat(`/proc/${pid}/cwd`).catch(() => undefined),
      stat(clusterDir).catch(() => undefined),
    ]);
    return cwd !== undefined && cwd.ino === cluster?.ino && cwd.dev === cluster.dev;
  }
  const { stdout } = await run("ps", ["-o", "command=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.includes(clusterDir);
}

/** Whether a process of this number exists, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/**
 * Takes away the locks of a server that is gone when their number now belongs to a process that is no PostgreSQL of this
 * folder: PostgreSQL itself would refuse to start until that process ends. Locks of a number without a process are left
 * alone, because PostgreSQL checks more before it removes them.
 */
export async function removeMisleadingLocks(clusterDir: string, socketDir: string): Promise<void> {
  for (const file of [pidFile(clusterDir), join(socketDir, `${SOCKET_NAME}.lock`)]) {
    const text = await readLock(file);
    const pid = pidIn(text.split("\n")[0] ?? "");
    if (pid !== undefined && isAlive(pid) && !(await isPostmasterOf(clusterDir, pid)))
      await removeUnchanged(file, text);
  }
}

// Should another starter have replaced the file since it was read, it is put back.
async function removeUnchanged(file: string, text: string): Promise<void> {
  const aside = `${file}.stale-${process.pid}`;
  try {
    await rename(file, aside);
    if ((await readLock(aside)) !== text) await link(aside, file);
  } catch (error) {
    // Another process was quicker; the next check of the folder shows how.
    if (errorCode(error) !== "ENOENT" && errorCode(error) !== "EEXIST") throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function readLock(file: string): Promise<string> {
  return readFile(file, "utf8").catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  });
}

function pidIn(line: string): number | undefined {
  const pid = Number(line);
  return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
}

function pidFile(clusterDir: string): string {
  return join(clusterDir, "postmaster.pid");
}
