// The files of a backup folder. Each history of the books has a folder of its own, so backups and logs of different histories are never mixed:
//
//   verified.sealed                           when the folder was last verified
//   first-base.sealed                         of when the first base backup was, which may be removed since
//   SYSTEM-TIMELINE/history.sealed            the history file of the timeline, where it is not the first
//   SYSTEM-TIMELINE/secrets-key.sealed        the master key that is beside the cluster, as it was last
//   SYSTEM-TIMELINE/base-TIME/{about,base.tar,manifest}.sealed
//   SYSTEM-TIMELINE/wal/SEGMENT.sealed        and SEGMENT.open.sealed while it is received, SEGMENT.before.sealed while again

import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { ServerHistory as History } from "../history.ts";
import { errorCode } from "../system-error.ts";
import { type BackupKey, BackupUnreadable, readWholeSealed, SealedWriter } from "./sealed-file.ts";

const SEALED = ".sealed";
const HISTORY_FOLDER = /^(\d+)-(\d+)$/;
const BASE_FOLDER = /^base-\d{8}T\d{6}\d*Z$/;

/** What is known of a base backup, apart from its contents. Times are ISO 8601. */
export type BackupFacts = History & {
  readonly format: 1;
  readonly saldo: string;
  readonly postgres: string;
  readonly startLsn: string;
  readonly endLsn: string;
  /** Everything that was committed before is in it. */
  readonly until: string;
  /** Nothing that was committed later is in it. */
  readonly endedAt: string;
};

/** A base backup in its folder. */
export type BaseBackup = { readonly facts: BackupFacts; readonly path: string; readonly name: string };

/** A file of a backup: its place, and the name that it is encrypted for. */
export type SealedFile = { readonly path: string; readonly name: string };

/** The name of the folder of a history. */
export function historyFolder({ system, timeline }: History): string {
  return `${system}-${timeline}`;
}

/** A file of a history's folder. */
export function sealedFile(root: string, ...parts: readonly string[]): SealedFile {
  return { path: `${join(root, ...parts)}${SEALED}`, name: parts.join("/") };
}

/** The folders of histories, by their names. */
export async function listHistoryFolders(root: string): Promise<string[]> {
  return (await namesIn(root)).filter((name) => HISTORY_FOLDER.test(name));
}

/** The timelines of this system, by their numbers: the file with the history of each. */
export async function listTimelines(root: string, system: string): Promise<Map<number, SealedFile>> {
  const found = new Map<number, SealedFile>();
  for (const folder of await namesIn(root)) {
    const [, of, timeline] = HISTORY_FOLDER.exec(folder) ?? [];
    if (of !== system) continue;
    found.set(Number(timeline), sealedFile(root, folder, "history"));
  }
  return found;
}

/** The name of a timeline's history file. */
export function historyName(timeline: number): string {
  return `${timeline.toString(16).toUpperCase().padStart(8, "0")}.history`;
}

/** Base backups, the newest first, and why each of the others in the folder cannot be read: it was changed, removed in part, or has another key. */
export type Backups = { readonly backups: readonly BaseBackup[]; readonly unreadable: ReadonlyMap<string, string> };

/** The complete base backups. */
export async function listBackups(root: string, keys: readonly BackupKey[]): Promise<Backups> {
  const backups: BaseBackup[] = [];
  const unreadable = new Map<string, string>();
  for (const folder of await listHistoryFolders(root)) {
    for (const base of (await namesIn(join(root, folder))).filter((name) => BASE_FOLDER.test(name))) {
      const name = `${folder}/${base}`;
      try {
        backups.push({ facts: await readFacts(root, folder, { base, keys }), path: join(root, folder, base), name });
      } catch (error) {
        if (!(error instanceof BackupUnreadable)) throw error;
        unreadable.set(name, error.message);
      }
    }
  }
  return { backups: backups.toSorted((one, other) => other.facts.until.localeCompare(one.facts.until)), unreadable };
}

/** Errors: BackupUnreadable. */
async function readFacts(
  root: string,
  folder: string,
  { base, keys }: { base: string; keys: readonly BackupKey[] },
): Promise<BackupFacts> {
  const files = new Set(await namesIn(join(root, folder, base)));
  for (const part of ["about", "base.tar", "manifest"])
    if (!files.has(`${part}${SEALED}`)) throw new BackupUnreadable(`${folder}/${base} has no file ${part}${SEALED}.`);
  const about = sealedFile(root, folder, base, "about");
  const facts: BackupFacts = JSON.parse((await readWholeSealed(about.path, about.name, keys)).toString());
  if (historyFolder(facts) !== folder) throw new BackupUnreadable(`${about.name} is of another backup.`);
  return facts;
}

/** The segments that were received of a history, complete or not: the files of each by its name. */
export async function listSegments(root: string, history: History): Promise<Map<string, SealedFile[]>> {
  const folder = historyFolder(history);
  const found = new Map<string, SealedFile[]>();
  for (const file of await namesIn(join(root, folder, "wal"))) {
    if (!file.endsWith(SEALED)) continue;
    const name = file.slice(0, -SEALED.length);
    const [segment = ""] = name.split(".");
    // Complete or not, they are encrypted for the name of the segment.
    const sealed = { path: join(root, folder, "wal", file), name: `${folder}/wal/${segment}` };
    found.set(segment, [...(found.get(segment) ?? []), sealed]);
  }
  return found;
}

let drafts = 0;

/** Writes a small encrypted file, whole. One that is there is replaced. */
export async function writeSealed(
  { path, name }: SealedFile,
  keys: readonly BackupKey[],
  bytes: Buffer,
): Promise<void> {
  // A backup and the receiver may write the same file at once.
  drafts += 1;
  const draft = `${path}.${process.pid}-${drafts}.draft`;
  await rm(draft, { force: true });
  try {
    const writer = await SealedWriter.create(draft, name, keys);
    await writer.write(bytes);
    await writer.end();
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Stores the master key that is beside the cluster, beside the log of its history, where the first key does not open the same one there. */
export async function writeSecretsKey(
  root: string,
  history: History,
  { keys, key }: { keys: readonly BackupKey[]; key: string },
): Promise<void> {
  const folder = historyFolder(history);
  const file = sealedFile(root, folder, "secrets-key");
  if ((await readIfReadable(file, keys.slice(0, 1)))?.toString() === key) return;
  await writeSealed(file, keys, Buffer.from(key));
  await syncFolder(join(root, folder));
}

/** The master key that was beside the cluster: as it was last, or with a base backup of a version that stored it there. Null: none. */
export async function readSecretsKey(
  root: string,
  { facts, path, name }: BaseBackup,
  keys: readonly BackupKey[],
): Promise<string | null> {
  const ofBase = { path: sealedFile(path, "secrets-key").path, name: `${name}/secrets-key` };
  const beside = sealedFile(root, historyFolder(facts), "secrets-key");
  const found =
    (await readIfReadable(beside, keys)) ?? (await readIfThere(ofBase, keys)) ?? (await readIfThere(beside, keys));
  return found?.toString() ?? null;
}

/**
 * Stores the history of a timeline, where the first key does not open one. One that a former key opens is kept: a restore has added when it
 * was. `read`: from the server.
 */
export async function writeHistory(
  root: string,
  history: History,
  { keys, read }: { keys: readonly BackupKey[]; read: () => Promise<Buffer> },
): Promise<void> {
  const file = sealedFile(root, historyFolder(history), "history");
  if ((await readIfReadable(file, keys.slice(0, 1))) !== null) return;
  await writeSealed(file, keys, (await readIfReadable(file, keys)) ?? (await read()));
}

/** Null: there is none, or it was changed or has another key. */
export async function readIfReadable(file: SealedFile, keys: readonly BackupKey[]): Promise<Buffer | null> {
  return readIfThere(file, keys).catch((error: unknown) => {
    if (error instanceof BackupUnreadable) return null;
    throw error;
  });
}

async function readIfThere({ path, name }: SealedFile, keys: readonly BackupKey[]): Promise<Buffer | null> {
  const isThere = (await namesIn(join(path, ".."))).includes(basename(path));
  return isThere ? readWholeSealed(path, name, keys) : null;
}

/** Makes a folder, and keeps its name through a power cut. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await syncFolder(join(path, ".."));
}

/** Keeps the names in a folder through a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function namesIn(path: string): Promise<string[]> {
  return readdir(path).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  });
}
