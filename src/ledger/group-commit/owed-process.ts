// Whether the process that wrote a file of owed settlements still runs. Its number may belong to another program by now.

import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { isAlive } from "../../database/embedded/postmaster.ts";

/** The process of a file. `start`: when it began, as the system counts; "0": unknown; null: an earlier version wrote the file. */
export type OwedProcess = { readonly pid: number; readonly madeAtMs: number; readonly start: string | null };

/** When a process began, as the system counts: another process of the same number has another one. "0": the system does not show it. */
export function startOf(pid: number): string {
  try {
    // The name of the program is in brackets, and may contain anything. The 22nd field is the start.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ");
    return fields?.[19] ?? "0";
  } catch {
    return "0"; // not Linux, or no such process
  }
}

/** Whether a file's process still runs. `self`: the number of the process that asks. */
export function isOfTheLiving({ pid, madeAtMs, start }: OwedProcess, self?: number): boolean {
  // In a container each start has the same number, and after a restart of the machine any process may have it.
  if (pid === self || madeAtMs < Date.now() - uptime() * 1_000) return false;
  if (!isAlive(pid)) return false;
  const now = startOf(pid);
  return start === null || start === "0" || now === "0" || start === now;
}
