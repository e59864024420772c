// What an operator watches of a backup folder: how old its newest base backup is, when it was last verified, and the room on its disk.

import { statfs } from "node:fs/promises";
import type { ServerHistory as History } from "../history.ts";
import { listBackups, readIfReadable, sealedFile, syncFolder, writeSealed } from "./backup-folder.ts";
import type { BackupKey } from "./sealed-file.ts";
import { isOnWay, readWay } from "./timelines.ts";

export type FolderState = {
  /** Of when the newest base backup is from which the received log is restored. Null: none leads to it. */
  readonly baseAt: Date | null;
  /** When the folder was last verified; where it never was, of when its first base backup was. Null: it never had one. */
  readonly verifiedAt: Date | null;
  /** Null: the disk has no size of its own. */
  readonly diskFreeShare: number | null;
};

const VERIFIED = "verified";
const FIRST_BASE = "first-base";

/** Reads the state of a folder into which the log of a history is received. Errors: those of the disk. */
export async function readFolderState(
  root: string,
  history: History,
  keys: readonly BackupKey[],
): Promise<FolderState> {
  const disk = await statfs(root);
  const { backups } = await listBackups(root, keys);
  const way = await readWay(root, history, keys);
  const ours = backups.filter((each) => each.facts.system === history.system);
  const newest = way === null ? undefined : ours.find((each) => isOnWay(each, way));
  return {
    baseAt: newest === undefined ? null : new Date(newest.facts.until),
    verifiedAt:
      (await readTime(root, VERIFIED, keys)) ??
      (await readTime(root, FIRST_BASE, keys)) ??
      timeOf(backups.at(-1)?.facts.until),
    diskFreeShare: disk.blocks === 0 ? null : disk.bavail / disk.blocks,
  };
}

/** Records that the folder was verified. Errors: those of the disk. */
export function writeVerified(root: string, keys: readonly BackupKey[], at: Date): Promise<void> {
  return writeTime(root, VERIFIED, { keys, at });
}

/**
 * Records of when the first base backup is, once: pruning removes that backup, and a folder that is never verified would look as young as the
 * oldest one that is left. `at`: of the one that was just taken. Errors: those of the disk.
 */
export async function writeFirstBase(root: string, keys: readonly BackupKey[], at: Date): Promise<void> {
  if ((await readTime(root, FIRST_BASE, keys)) !== null) return;
  // A folder of an earlier version has none recorded.
  const { backups } = await listBackups(root, keys);
  await writeTime(root, FIRST_BASE, { keys, at: timeOf(backups.at(-1)?.facts.until) ?? at });
}

async function writeTime(
  root: string,
  name: string,
  { keys, at }: { keys: readonly BackupKey[]; at: Date },
): Promise<void> {
  await writeSealed(sealedFile(root, name), keys, Buffer.from(JSON.stringify({ at: at.toISOString() })));
  await syncFolder(root);
}

async function readTime(root: string, name: string, keys: readonly BackupKey[]): Promise<Date | null> {
  const bytes = await readIfReadable(sealedFile(root, name), keys);
  return timeOf(bytes === null ? undefined : (JSON.parse(bytes.toString()) as { at: string }).at);
}

function timeOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}
