// CPU time and peak memory of processes with all their children, read from /proc (Linux only).

import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** A process with everything below it. `without` is the root of a subtree that is metered elsewhere. */
export type ProcessGroup = { readonly root: number; readonly without?: number | undefined };

export type Metered = { readonly cpuSeconds: number; readonly peakMb: number };

// Clock ticks per second in /proc/<pid>/stat. Linux has shown 100 to user space on every architecture for decades.
const TICKS_PER_SECOND = 100;

/** Starts metering and returns the function that ends it and returns the group's usage meanwhile. */
export function meterProcesses(group: ProcessGroup): () => Metered {
  for (const pid of members(group)) forgetPeak(pid);
  const before = cpuSeconds(group);
  return () => ({ cpuSeconds: cpuSeconds(group) - before, peakMb: peakMb(group) });
}

/** The pid of a process's parent; null when there is no such process. */
export function parentOf(pid: number): number | null {
  return readStat(pid)?.parent ?? null;
}

type ProcessStat = { readonly parent: number; readonly ticks: number };

function members(group: ProcessGroup): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const stat = readStat(pid);
    if (stat === null) continue;
    const siblings = children.get(stat.parent);
    if (siblings === undefined) children.set(stat.parent, [pid]);
    else siblings.push(pid);
  }
  const found: number[] = [];
  const open = [group.root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    if (pid === group.without) continue;
    found.push(pid);
    open.push(...(children.get(pid) ?? []));
  }
  return found;
}

function cpuSeconds(group: ProcessGroup): number {
  return members(group).reduce((ticks, pid) => ticks + (readStat(pid)?.ticks ?? 0), 0) / TICKS_PER_SECOND;
}

// The name in brackets may hold spaces and brackets, so fields are counted from the last bracket. Children that have
// ended and been waited for are in their parent's numbers, so that a backend which ends meanwhile is not lost. For a
// group with `without` such a child would count for the wrong side; the database is never restarted during a run.
function readStat(pid: number): ProcessStat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null; // It ended between the listing and the reading.
  }
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { parent: Number(fields[1]), ticks };
}

function peakMb(group: ProcessGroup): number {
  return members(group).reduce((sum, pid) => sum + readPeakMb(pid), 0);
}

function readPeakMb(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
    return kilobytes === undefined ? 0 : Number(kilobytes) / 1024;
  } catch {
    return 0;
  }
}

// Without the right to do this (another user's process) the peak is that since its start: too high, never too low.
function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // See above.
  }
}
