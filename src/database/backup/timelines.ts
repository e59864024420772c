// The timelines of one cluster that a backup folder holds, and the way of the books from a base backup to the end of one of them. Each
// restore makes a timeline, which leaves its parent at a position of the log. The segment with that position is the child's.

import type { ServerHistory } from "../history.ts";
import {
  type BaseBackup,
  historyFolder,
  listSegments,
  listTimelines,
  readIfReadable,
  type SealedFile,
  sealedFile,
} from "./backup-folder.ts";
import { type BackupKey, BackupUnreadable, readSealed } from "./sealed-file.ts";
import { parseLsn, SEGMENT_BYTES, segmentName, segmentStart, startOfSegment } from "./wal-position.ts";

const FORK = /^(\d+)\t([0-9A-F]+\/[0-9A-F]+)/;
const MADE = /^# saldo: timeline (\d+) is of (\S+)$/;

/** A part of a way: a timeline, from the position at which it left the one before. */
export type Stretch = { readonly timeline: number; readonly from: bigint };

const FIRST_WAY: readonly Stretch[] = [{ timeline: 1, from: 0n }];

/** The segments of a timeline that were received: the files of each by its name. */
export type Segments = ReadonlyMap<string, readonly SealedFile[]>;

export type Timeline = {
  readonly number: number;
  /** Its ancestors, the oldest first, and itself. Null: its history file is missing or cannot be read. */
  readonly way: readonly Stretch[] | null;
  /** When a restore made it. Null: it is the first one, or was made by an earlier version or elsewhere. */
  readonly madeAt: Date | null;
  /** What PostgreSQL reads of its ancestors. Null: as `way`, or it is the first one. */
  readonly history: Buffer | null;
  readonly segments: Segments;
  /** Whether something was received that happened on it. */
  readonly hasLog: boolean;
};

/** The line that a restore adds to a history file. PostgreSQL skips it. */
export function madeLine(timeline: number, at: Date): string {
  return `# saldo: timeline ${timeline} is of ${at.toISOString()}\n`;
}

/** Reads the timelines of a cluster, by their numbers. */
export async function readTimelines(
  root: string,
  system: string,
  keys: readonly BackupKey[],
): Promise<Map<number, Timeline>> {
  const found = new Map<number, Timeline>();
  for (const [number, file] of await listTimelines(root, system)) {
    const history = number === 1 ? null : await readIfReadable(file, keys);
    const way = number === 1 ? FIRST_WAY : wayIn(number, history);
    const segments = await listSegments(root, { system, timeline: number });
    const hasLog = await goesBeyond(way?.at(-1)?.from ?? 0n, segments, keys);
    found.set(number, { number, way, madeAt: madeAtIn(number, history), history, segments, hasLog });
  }
  return found;
}

/** The way of the books to the end of a timeline. Null: its history file is missing or cannot be read. */
export async function readWay(
  root: string,
  history: ServerHistory,
  keys: readonly BackupKey[],
): Promise<readonly Stretch[] | null> {
  const { timeline } = history;
  if (timeline === 1) return FIRST_WAY;
  return wayIn(timeline, await readIfReadable(sealedFile(root, historyFolder(history), "history"), keys));
}

/** Whether recovery from this base backup comes to the end of the way. */
export function isOnWay({ facts }: BaseBackup, way: readonly Stretch[]): boolean {
  const at = way.findIndex(({ timeline }) => timeline === facts.timeline);
  const next = way[at + 1];
  return at !== -1 && (next === undefined || parseLsn(facts.endLsn) <= next.from);
}

/** The files of the segments on a way. Of those with a position at which it changes its timeline, the child's. */
export function segmentsOn(way: readonly Stretch[], timelines: ReadonlyMap<number, Timeline>): Segments {
  const files = new Map<string, readonly SealedFile[]>();
  for (const { timeline } of way)
    for (const [name, candidates] of timelines.get(timeline)?.segments ?? [])
      if (timelineAt(way, startOfSegment(name)) === timeline) files.set(name, candidates);
  return files;
}

/** The first segment on the way behind a base backup that is missing or not whole, with more of the log behind it. Null: there is none. */
export function findHole(
  { facts }: BaseBackup,
  way: readonly Stretch[],
  { segments, end }: { segments: Segments; end: bigint },
): string | null {
  // The backup itself has the segment in which it ends, and the server began another one then.
  const first = segmentStart(parseLsn(facts.endLsn) - 1n) + BigInt(SEGMENT_BYTES);
  for (let at = first; at < end; at += BigInt(SEGMENT_BYTES)) {
    const name = segmentName(timelineAt(way, at), at);
    const isWhole = segments.get(name)?.some(({ path }) => path.endsWith(`${name}.sealed`)) === true;
    if (!isWhole) return name;
  }
  return null;
}

/** Where the last segment of a way begins. */
export function lastSegmentStart(segments: Segments): bigint {
  return [...segments.keys()].map(startOfSegment).reduce((last, each) => (each > last ? each : last), 0n);
}

/**
 * The longest of the files of a segment: a complete one, or what was received of it. Errors: BackupUnreadable, where none can be read, or a
 * complete one cannot and the others have less: what was confirmed behind them would be lost without a word.
 */
export async function readLongest(candidates: readonly SealedFile[], keys: readonly BackupKey[]): Promise<Buffer> {
  let longest: Buffer | null = null;
  let failure: unknown = null;
  let leastBytes = 0;
  for (const { path, name } of candidates) {
    const mayBeOpen = /\.(?:open|before)\.sealed$/.test(path);
    try {
      const bytes = Buffer.concat(await Array.fromAsync(readSealed(path, name, keys, { mayBeOpen })));
      if (longest === null || bytes.length > longest.length) longest = bytes;
    } catch (error) {
      if (!(error instanceof BackupUnreadable)) throw error;
      failure = error;
      if (!mayBeOpen) leastBytes = SEGMENT_BYTES;
    }
  }
  if (longest === null || longest.length < leastBytes) throw failure;
  return longest;
}

function timelineAt(way: readonly Stretch[], segment: bigint): number {
  return (way.findLast(({ from }) => segmentStart(from) <= segment) ?? way[0])?.timeline ?? 0;
}

function wayIn(number: number, history: Buffer | null): Stretch[] | null {
  if (history === null) return null;
  const way: Stretch[] = [];
  let from = 0n;
  for (const line of history.toString("utf8").split("\n")) {
    const [, timeline, to] = FORK.exec(line.trim()) ?? [];
    if (timeline === undefined || to === undefined) continue;
    way.push({ timeline: Number(timeline), from });
    from = parseLsn(to);
  }
  return way.length === 0 ? null : [...way, { timeline: number, from }];
}

function madeAtIn(number: number, history: Buffer | null): Date | null {
  for (const line of history?.toString("utf8").split("\n") ?? []) {
    const [, timeline, at = ""] = MADE.exec(line.trim()) ?? [];
    if (Number(timeline) === number) return new Date(at);
  }
  return null;
}

/** Whether what was received goes beyond a position. A segment that cannot be read is taken for a whole one: who restores it is refused. */
async function goesBeyond(position: bigint, segments: Segments, keys: readonly BackupKey[]): Promise<boolean> {
  const last = [...segments.keys()].toSorted().at(-1);
  if (last === undefined) return false;
  const start = startOfSegment(last);
  if (start > position) return true;
  const bytes = await readLongest(segments.get(last) ?? [], keys).catch((error: unknown) => {
    if (error instanceof BackupUnreadable) return null;
    throw error;
  });
  return start + BigInt(bytes?.length ?? SEGMENT_BYTES) > position;
}
