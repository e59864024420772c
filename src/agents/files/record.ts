// The records of saldo-agents, by which a change can be undone: for each change of a file its content before
// and after, and the settings it replaced. Every change has a file of its own, written before the change and removed once a
// later one is complete: two runs at the same moment do not lose each other's, and a run that is killed in between leaves both. It holds no
// key but where a setting it replaced held one; only the user may read it.

import { readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { type Path, UneditableFile, type Value } from "../editing/edits.ts";
import { codeOf, type ConfigFile, digestOf, writePrivateFile } from "./config-file.ts";

/** The replaced and the added values of a file. */
export type Memory = {
  /** Settings and entries that had another value before, or none. */
  readonly replaced: readonly { readonly path: Path; readonly value?: Value }[];
  /** Items of lists that ours took the place of, by their lists and their places in them. */
  readonly items: readonly { readonly path: Path; readonly index: number; readonly value: Value }[];
  /** Maps and lists that were not there before. */
  readonly made: readonly Path[];
};

/** One change of one file. */
export type FileRecord = Memory & {
  /** The file, behind links. */
  readonly file: string;
  /** How many changes of the file were recorded before it. */
  readonly number: number;
  /** The digest of what was written. */
  readonly written: string;
  /** What gives the file back as it was while it is untouched: a copy of it, or that there was none. Null: the user has
   * edited it between two changes of ours, and no copy is the whole truth. */
  readonly original: { readonly backup: string; readonly digest: string } | "none" | null;
  /** The outermost folder that was made for the file; null: its folder was there. */
  readonly madeFolder: string | null;
  /** The gateways that this change and those before it wrote into the file. */
  readonly baseUrls: readonly string[];
};

/** A record, and the file that it is in. */
export type KnownRecord = FileRecord & { readonly recordPath: string };

/** The records cannot be read: undoing would lose their content. */
export class UnreadableRecords extends Error {}

const VERSION = 1;
const NAME = /^change-[0-9a-f]+\.json$/;

/** Reads what is remembered. Errors: UnreadableRecords. */
export async function readRecords(folder: string): Promise<KnownRecord[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    // Nothing can be remembered below a file, either.
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw new UnreadableRecords(`${folder} cannot be read (${codeOf(error)}).`, { cause: error });
  });
  const records = await Promise.all(
    names.filter((name) => NAME.test(name)).map((name) => readRecord(join(folder, name))),
  );
  return records.flat();
}

/** The record of a file: of the change that it shows, else of the last one. */
export function recordOf(records: readonly KnownRecord[], { realPath, bytes }: ConfigFile): KnownRecord | undefined {
  const about = recordsOf(records, realPath).toSorted((one, other) => other.number - one.number);
  const digest = bytes === null ? null : digestOf(bytes);
  return about.find(({ written }) => written === digest) ?? about[0];
}

/** Everything that is remembered of a file. */
export function recordsOf(records: readonly KnownRecord[], realPath: string): KnownRecord[] {
  return records.filter(({ file }) => file === realPath);
}

/** Remembers a change, and gives the file that it is in. Errors: UneditableFile, of the folder. */
export async function remember(folder: string, record: FileRecord): Promise<string> {
  const path = join(folder, `change-${randomBytes(8).toString("hex")}.json`);
  try {
    await writePrivateFile(path, Buffer.from(`${JSON.stringify({ version: VERSION, ...record }, null, 2)}\n`));
    return path;
  } catch (error) {
    const reason = `cannot be written (${codeOf(error)}), and what is not remembered could not be taken back`;
    throw new UneditableFile(reason, { cause: error });
  }
}

/** Forgets changes. Errors: UneditableFile, of the folder. */
export async function forget(folder: string, recordPaths: readonly string[]): Promise<void> {
  try {
    for (const path of recordPaths) await rm(path, { force: true });
  } catch (error) {
    throw new UneditableFile(`cannot be written (${codeOf(error)})`, { cause: error });
  }
  await rmdir(folder).catch(() => undefined); // it stays while it holds anything
}

async function readRecord(path: string): Promise<KnownRecord[]> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return []; // another run has just forgotten it
    throw new UnreadableRecords(`${path} cannot be read (${codeOf(error)}).`, { cause: error });
  }
  try {
    const { version, ...record } = JSON.parse(text) as { version: unknown } & FileRecord;
    const lists = [record.replaced, record.items, record.made, record.baseUrls];
    if (version === VERSION && typeof record.file === "string" && lists.every(Array.isArray)) {
      return [{ ...record, recordPath: path }];
    }
  } catch {
    // Reported below: what is wrong with it does not matter to its reader.
  }
  throw new UnreadableRecords(`${path} is damaged. Move it away to go on; reset then removes entries without it.`);
}
