// One run at a time changes the files of an agent. Without it two runs that plan at the same moment each forget what the other
// remembers. The lock is a file with the number of its process; one whose process is gone counts for nothing.

import { mkdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { UneditableFile } from "../editing/edits.ts";
import { codeOf, writeNewFile } from "./config-file.ts";

const WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 20;

/**
 * Does some work while no other run changes the files of this agent. Where no lock can be made the work is done without one:
 * then nothing can be remembered either, and it refuses. Errors: UneditableFile when another run takes too long.
 */
export async function withAgentLock<Result>(
  folder: string,
  agentId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const path = join(folder, `lock-${agentId}`);
  const isLocked = await takeLock(folder, path);
  try {
    return await work();
  } finally {
    if (isLocked) {
      await rm(path, { force: true });
      await rmdir(folder).catch(() => undefined); // it stays while it holds anything
    }
  }
}

async function takeLock(folder: string, path: string): Promise<boolean> {
  const until = performance.now() + WITHIN_MS;
  while (performance.now() < until) {
    // The run that had the lock removes the folder where nothing is in it, perhaps in between.
    const isMade = await mkdir(folder, { recursive: true, mode: 0o700 }).then(
      () => true,
      () => false,
    );
    if (!isMade) return false;
    try {
      await writeNewFile(path, Buffer.from(String(process.pid)));
      return true;
    } catch (error) {
      if (codeOf(error) !== "EEXIST" && codeOf(error) !== "ENOENT") return false;
    }
    if (!(await isLeft(path)) || !(await removeLeft(path))) await setTimeout(LOOK_AGAIN_MS);
  }
  throw new UneditableFile("is being changed by another run of saldo-agents");
}

/**
 * Removes the lock of a process that is gone. One run at a time does so and looks again first: otherwise two that have found it
 * remove it one after the other, and the second removes the new lock of the first. False: another run is about to.
 */
async function removeLeft(path: string): Promise<boolean> {
  const takeover = `${path}.takeover`;
  try {
    await writeNewFile(takeover, Buffer.from(String(process.pid)));
  } catch (error) {
    if (codeOf(error) === "EEXIST" && (await isLeft(takeover))) await rm(takeover, { force: true });
    return false;
  }
  try {
    if (await isLeft(path)) await rm(path, { force: true });
  } finally {
    await rm(takeover, { force: true });
  }
  return true;
}

/** Whether the process that made the lock is gone. A lock without a number is just being made. */
async function isLeft(path: string): Promise<boolean> {
  const pid = Number(await readFile(path, "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}
