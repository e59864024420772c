// What a restore takes of a backup folder: the timeline whose books are wanted, the newest base backup from which the log leads there, and
// that log. After an earlier restore the books went on in another timeline: without its log, answers of that time would be lost.

import type { ServerHistory } from "../history.ts";
import { type BaseBackup, historyFolder, historyName, listBackups } from "./backup-folder.ts";
import type { LogFiles } from "./log-feeder.ts";
import { type BackupKey, BackupUnreadable } from "./sealed-file.ts";
import {
  findHole,
  isOnWay,
  lastSegmentStart,
  readTimelines,
  segmentsOn,
  type Stretch,
  type Timeline,
} from "./timelines.ts";

export type Wanted = {
  readonly root: string;
  readonly keys: readonly BackupKey[];
  /** The moment whose books are wanted. Null: the last one that there is. */
  readonly until: Date | null;
  /** The timeline that is wanted. Null: the one that was the newest at that moment. */
  readonly timeline: number | null;
};

export type RestorePlan = {
  readonly backup: BaseBackup;
  readonly timeline: number;
  readonly files: LogFiles;
  /** The first segment that is missing although the folder has more of the log behind it. */
  readonly hole: string | null;
  /** Base backups that cannot be read, with the reasons. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Timelines of the folder whose log is not in the restored books. */
  readonly notFollowed: readonly string[];
};

/** Chooses. Errors: BackupUnreadable, where nothing in the folder leads to the wanted timeline; there is no backup before the moment. */
export async function planRestore({ root, keys, until, timeline }: Wanted): Promise<RestorePlan> {
  const { backups, unreadable } = await listBackups(root, keys);
  const oldest = backups.at(-1);
  if (oldest === undefined) {
    if (unreadable.size > 0) throw new BackupUnreadable([...unreadable.values()].join(" "));
    throw new Error(`There is no backup in ${root}.`);
  }
  const early = backups.filter(({ facts }) => until === null || new Date(facts.until) <= until);
  const [newest] = early;
  if (newest === undefined) throw new Error(`The oldest backup in ${root} is of ${oldest.facts.until}.`);
  const { system } = newest.facts;
  const timelines = await readTimelines(root, system, keys);
  const based = new Set(early.filter(({ facts }) => facts.system === system).map(({ facts }) => facts.timeline));
  const wanted = timeline ?? newestOf(timelines, { based, until });
  const folder = historyFolder({ system, timeline: wanted });
  const way = timelines.get(wanted)?.way ?? null;
  if (way === null) {
    const what = timelines.has(wanted) ? "cannot be read" : "is missing";
    throw new BackupUnreadable(`The history of the timeline ${folder} ${what}. --timeline restores another one.`);
  }
  const backup = early.find((each) => each.facts.system === system && isOnWay(each, way));
  if (backup === undefined)
    throw new BackupUnreadable(`No base backup leads to the timeline ${folder}. --timeline restores another one.`);
  const segments = segmentsOn(way, timelines);
  const hole = findHole(backup, way, { segments, end: lastSegmentStart(segments) });
  if (hole !== null && until === null)
    throw new BackupUnreadable(
      `The segment ${hole} of the log is missing, and there is more of the log behind it. ` +
        "Give a moment before it by --until, or another timeline by --timeline.",
    );
  return {
    backup,
    timeline: wanted,
    files: { segments, histories: historiesOf(timelines, wanted) },
    hole,
    unreadable,
    notFollowed: notOn(way, timelines).map((other) => historyFolder({ system, timeline: other })),
  };
}

/** Whether a restore from the folder comes to the log that is received from here on. */
export async function hasBaseFor({
  root,
  keys,
  history: { system, timeline },
  from,
}: Pick<Wanted, "root" | "keys"> & { history: ServerHistory; from: bigint }): Promise<boolean> {
  const { backups } = await listBackups(root, keys);
  const timelines = await readTimelines(root, system, keys);
  const way = timelines.get(timeline)?.way ?? null;
  if (way === null) return false;
  const segments = segmentsOn(way, timelines);
  const ours = backups.filter((each) => each.facts.system === system && isOnWay(each, way));
  return ours.some((each) => findHole(each, way, { segments, end: from }) === null);
}

/**
 * Of the base backups of a cluster those from which the log leads to its newest timeline, in their order. Errors: BackupUnreadable, where there
 * is none: a restore would be refused.
 */
export async function leadingToNewest({
  root,
  keys,
  system,
  backups,
}: Pick<Wanted, "root" | "keys"> & { system: string; backups: readonly BaseBackup[] }): Promise<BaseBackup[]> {
  const timelines = await readTimelines(root, system, keys);
  const based = new Set(backups.map(({ facts }) => facts.timeline));
  const newest = newestOf(timelines, { based, until: null });
  const way = timelines.get(newest)?.way ?? null;
  const leading = way === null ? [] : backups.filter((each) => isOnWay(each, way));
  if (leading.length > 0) return leading;
  const folder = historyFolder({ system, timeline: newest });
  throw new BackupUnreadable(`No base backup leads to the newest timeline, ${folder}, so nothing was removed.`);
}

/** The newest timeline on which the books went on, of those that were there at the moment. */
function newestOf(
  timelines: ReadonlyMap<number, Timeline>,
  { based, until }: { based: ReadonlySet<number>; until: Date | null },
): number {
  const used = [...timelines.values()].filter(({ number, hasLog }) => hasLog || based.has(number));
  const there = used.filter(
    ({ number, madeAt }) => until === null || madeAt === null || madeAt <= until || based.has(number),
  );
  return Math.max(...there.map(({ number }) => number));
}

/**
 * The history of the wanted timeline is read. Those of the others only have to be there: PostgreSQL takes the first number that is free. One may be
 * under a key that was dropped since.
 */
function historiesOf(timelines: ReadonlyMap<number, Timeline>, wanted: number): Map<string, Buffer> {
  const numbers = [...timelines.keys()].filter((number) => number !== 1);
  return new Map(
    numbers.map((number) => [
      historyName(number),
      (number === wanted ? timelines.get(number)?.history : null) ?? Buffer.from("# used\n"),
    ]),
  );
}

function notOn(way: readonly Stretch[], timelines: ReadonlyMap<number, Timeline>): number[] {
  const followed = new Set(way.map(({ timeline }) => timeline));
  return [...timelines.values()]
    .filter(({ number, hasLog }) => hasLog && !followed.has(number))
    .map((each) => each.number);
}
