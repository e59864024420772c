// Memory and open handles of the gateways over time. A process that grows without end would be killed some day, and a test of
// minutes only sees the slope.

import { readdirSync, readFileSync } from "node:fs";

/** What a process is made of at a moment. */
export type Reading = { readonly atMs: number; readonly megabytes: number; readonly handles: number };

/** How a process grew over its longest life. */
export type Growth = {
  readonly minutes: number;
  /** How many of the last minutes the slopes are of. */
  readonly slopeMinutes: number;
  /** Of what collections leave, and of handles without those of the moment: the line through the lowest reading of each sixth of that time. */
  readonly megabytesPerHour: number;
  readonly handlesPerHour: number;
  /** Those readings, oldest first. */
  readonly lowMegabytes: readonly number[];
  readonly lowHandles: readonly number[];
  readonly highestMegabytes: number;
  readonly lastHandles: number;
};

/** What a process needs until its caches and compiled code are there; growth before that means nothing. */
const WARM_UP_MS = 60_000;
/** The slopes are of what is behind: caches of a service under load fill for half an hour. */
const SLOPE_MS = 90 * 60_000;
const LEAST_READINGS = 6;
/**
 * Between two collections of its old objects a process grows by a hundred megabytes and falls again, a few times an hour under little load.
 * A line through all readings shows at which of these moments it began and ended. Callers and faults open and close handles. So each part is as long as a few collections.
 */
const PARTS = 6;

export class GrowthMeter {
  readonly #lives = new Map<number, Reading[]>();

  /** Takes a reading of a process; none when it is gone. */
  read(pid: number, atMs = performance.now()): void {
    const reading = readProcess(pid, atMs);
    if (reading === null) return;
    const life = this.#lives.get(pid) ?? [];
    life.push(reading);
    this.#lives.set(pid, life);
  }

  /** The growth in the longest life behind its warm-up; null when no process lived long enough. */
  get longest(): Growth | null {
    const lives = [...this.#lives.values()];
    return growthOf(lives.reduce((longest, each) => (each.length > longest.length ? each : longest), []));
  }
}

/** The growth of one life; null when it was too short. */
export function growthOf(readings: readonly Reading[]): Growth | null {
  const life = readings.filter(({ atMs }) => atMs - (readings[0]?.atMs ?? 0) >= WARM_UP_MS);
  const [first, last] = [life[0], life.at(-1)];
  if (first === undefined || last === undefined || life.length < LEAST_READINGS) return null;
  const measured = life.filter(({ atMs }) => last.atMs - atMs <= SLOPE_MS);
  const [lowMemory, lowHandles] = [lowestOfParts(measured, megabytesOf), lowestOfParts(measured, handlesOf)];
  return {
    minutes: (last.atMs - first.atMs) / 60_000,
    slopeMinutes: (last.atMs - (measured[0] ?? first).atMs) / 60_000,
    megabytesPerHour: slopePerHour(lowMemory, megabytesOf),
    handlesPerHour: slopePerHour(lowHandles, handlesOf),
    lowMegabytes: lowMemory.map(megabytesOf),
    lowHandles: lowHandles.map(handlesOf),
    highestMegabytes: Math.max(...measured.map(megabytesOf)),
    lastHandles: last.handles,
  };
}

type Value = (reading: Reading) => number;
const megabytesOf: Value = ({ megabytes }) => megabytes;
const handlesOf: Value = ({ handles }) => handles;

function lowestOfParts(measured: readonly Reading[], value: Value): Reading[] {
  const each = measured.length / PARTS;
  return Array.from({ length: PARTS }, (_, part) =>
    measured.slice(Math.floor(part * each), Math.floor((part + 1) * each)),
  )
    .filter((readings) => readings.length > 0)
    .map((readings) => readings.reduce((low, reading) => (value(reading) < value(low) ? reading : low)));
}

function readProcess(pid: number, atMs: number): Reading | null {
  try {
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return { atMs, megabytes: Number(resident) / 1024, handles: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return null; // it has just been killed, which is what we do to them
  }
}

/** The line of least squares through the readings. */
function slopePerHour(life: readonly Reading[], value: Value): number {
  const mean = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const hours = life.map(({ atMs }) => atMs / 3_600_000);
  const values = life.map(value);
  const [meanHour, meanValue] = [mean(hours), mean(values)];
  const spread = hours.reduce((sum, hour) => sum + (hour - meanHour) ** 2, 0);
  const together = hours.reduce((sum, hour, index) => sum + (hour - meanHour) * ((values[index] ?? 0) - meanValue), 0);
  return spread === 0 ? 0 : together / spread;
}
