// What an operator watches of a backup folder: how old its newest base backup is, when it was last verified, and the room on its disk.

import { statfs } from "node:fs/promises";
import type { ServerHistory as History } from "../history.ts";
import { listBackups, readIfReadable, sealedFile, syncFolder, writeSealed } from "./backup-folder.ts";
import type { BackupKey } from "./sealed-file.ts";
import { isOnWay, readWay } from "./timelines.ts";

export type FolderState = {
  /** Of when the newest base backup is from which the received log is restored. Null: none leads to it. */
  readonly baseAt: Date | null;
  /** When the folder was last verified; where it never was, of when its oldest base backup is. Null: it has none. */
  readonly verifiedAt: Date | null;
  /** Null: the disk has no size of its own. */
  readonly diskFreeShare: number | null;
};

const VERIFIED = "verified";

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
    verifiedAt: (await readVerified(root, keys)) ?? timeOf(backups.at(-1)?.facts.until),
    diskFreeShare: disk.blocks === 0 ? null : disk.bavail / disk.blocks,
  };
}

/** Records that the folder was verified. Errors: those of the disk. */
export async function writeVerified(root: string, keys: readonly BackupKey[], at: Date): Promise<void> {
  await writeSealed(sealedFile(root, VERIFIED), keys, Buffer.from(JSON.stringify({ at: at.toISOString() })));
  await syncFolder(root);
}

async function readVerified(root: string, keys: readonly BackupKey[]): Promise<Date | null> {
  const bytes = await readIfReadable(sealedFile(root, VERIFIED), keys);
  return timeOf(bytes === null ? undefined : (JSON.parse(bytes.toString()) as { at: string }).at);
}

function timeOf(text: string | undefined): Date | null {
  return text === undefined ? null : new Date(text);
}
