// Removes what a backup folder no longer needs: base backups beyond those that are kept, and the log from before the oldest of those.
// Positions of the log grow along every way, so a kept base backup needs no segment that ends before it begins. After a restore the newest
// base backups may be of books that no service continues, so those that lead to the newest timeline are kept beside them.

import { rename, rm } from "node:fs/promises";
import { type BaseBackup, listBackups, listSegments, listTimelines, syncFolder } from "./backup-folder.ts";
import { readBase } from "./read-base.ts";
import { leadingToNewest } from "./restore-plan.ts";
import { type BackupKey, BackupUnreadable } from "./sealed-file.ts";
import { parseLsn, SEGMENT_BYTES, startOfSegment } from "./wal-position.ts";

export type Pruned = {
  /** Names of base backups: those that are left, the newest first, and those that were removed. */
  readonly kept: readonly string[];
  readonly removed: readonly string[];
  /** How many segments of the log were removed. */
  readonly segments: number;
  /** Base backups that cannot be read, with the reasons. They stay, and do not count. */
  readonly unreadable: ReadonlyMap<string, string>;
};

/**
 * Keeps the newest base backups of each cluster, and as many that lead to its newest timeline. Errors: BackupUnreadable, and nothing is
 * removed: the newest ones cannot be read whole, or no base backup leads to the newest timeline.
 */
export async function pruneBackups(
  root: string,
  { keys, keep }: { keys: readonly BackupKey[]; keep: number },
): Promise<Pruned> {
  const { backups, unreadable } = await listBackups(root, keys);
  if (backups.length === 0) throw new BackupUnreadable(`There is no backup in ${root} that can be read.`);
  const clusters: Cluster[] = [];
  for (const [system, all] of Map.groupBy(backups, ({ facts }) => facts.system)) {
    const leading = await leadingToNewest({ root, keys, system, backups: all });
    for (const newest of new Set([leading[0], all[0]]))
      if (newest !== undefined) await requireSound(newest, { keys, unreadable });
    clusters.push({ all, kept: new Set([...all.slice(0, keep), ...leading.slice(0, keep)]) });
  }
  const kept: string[] = [];
  const removed: string[] = [];
  let segments = 0;
  for (const cluster of clusters) {
    const left = cluster.all.filter((each) => cluster.kept.has(each));
    kept.push(...left.map(({ name }) => name));
    for (const each of cluster.all.filter((one) => !cluster.kept.has(one))) {
      await removeBase(each);
      removed.push(each.name);
    }
    segments += await removeLogBefore(root, left);
  }
  return { kept, removed, segments, unreadable };
}

/** The base backups of a cluster, the newest first, and those that stay. */
type Cluster = { readonly all: readonly BaseBackup[]; readonly kept: ReadonlySet<BaseBackup> };

async function requireSound(
  newest: BaseBackup,
  { keys, unreadable }: { keys: readonly BackupKey[]; unreadable: ReadonlyMap<string, string> },
): Promise<void> {
  for (const [name, reason] of unreadable)
    if (name.startsWith(`${newest.facts.system}-`) && timeIn(name) > timeIn(newest.name))
      throw new BackupUnreadable(`The newest backup, ${name}, cannot be read, so nothing was removed. ${reason}`);
  try {
    // To its end: each part is compared with the manifest as it is read.
    for await (const part of readBase(newest, keys)) void part;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BackupUnreadable(`The newest backup, ${newest.name}, cannot be read, so nothing was removed. ${reason}`, {
      cause,
    });
  }
}

/** Where this is interrupted, what is left counts as a draft, which the next backup removes. */
async function removeBase({ path }: BaseBackup): Promise<void> {
  await rename(path, `${path}.draft`);
  await syncFolder(`${path}.draft/..`);
  await rm(`${path}.draft`, { recursive: true });
}

/** Removes the segments that end before all of the base backups begin. Gives how many. */
async function removeLogBefore(root: string, kept: readonly BaseBackup[]): Promise<number> {
  const system = kept[0]?.facts.system ?? "";
  const floor = kept.map(({ facts }) => parseLsn(facts.startLsn)).reduce((one, other) => (one < other ? one : other));
  let removed = 0;
  for (const timeline of (await listTimelines(root, system)).keys()) {
    for (const [name, files] of await listSegments(root, { system, timeline })) {
      if (startOfSegment(name) + BigInt(SEGMENT_BYTES) > floor) continue;
      for (const { path } of files) await rm(path);
      removed += 1;
    }
  }
  return removed;
}

/** The folder's name, which has the time. */
function timeIn(name: string): string {
  return name.slice(name.indexOf("/"));
}
