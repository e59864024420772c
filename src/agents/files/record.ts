// What saldo-agents remembers of what it changed, so that it can be taken back: for each file its content before and after,
// and the settings it replaced. It holds no key but where a setting it replaced held one; only the user may read it.

import { readFile } from "node:fs/promises";
import type { Path, Value } from "../editing/edits.ts";
import { writePrivateFile } from "./config-file.ts";

/** One file that was changed. */
export type FileRecord = {
  /** The digest of what was written last. */
  readonly written: string;
  /** What gives the file back as it was while it is untouched: a copy of it, or that there was none. Null: the user has
   * edited it between two changes of ours, and no copy is the whole truth. */
  readonly original: { readonly backup: string } | "none" | null;
  /** Settings that had another value before, or none. */
  readonly replaced: readonly { readonly path: Path; readonly value?: Value }[];
  /** Maps and lists that were not there before. */
  readonly made: readonly Path[];
};

/** All that is remembered: the gateways that were written into files, and the files by their real path. */
export type Records = { readonly baseUrls: readonly string[]; readonly files: Readonly<Record<string, FileRecord>> };

/** What is remembered cannot be read: taking back would lose what it says. */
export class UnreadableRecords extends Error {}

/** Reads what is remembered. Errors: UnreadableRecords. */
export async function readRecords(path: string): Promise<Records> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { baseUrls: [], files: {} };
    throw new UnreadableRecords(`${path} cannot be read.`, { cause: error });
  }
  try {
    const { version, baseUrls, files } = JSON.parse(text) as { version: unknown } & Records;
    if (version === VERSION && Array.isArray(baseUrls) && typeof files === "object") return { baseUrls, files };
  } catch {
    // Said below: what is wrong with it does not matter to its reader.
  }
  throw new UnreadableRecords(`${path} is damaged. Move it away to go on; reset then removes entries without it.`);
}

/** Remembers. */
export async function writeRecords(path: string, records: Records): Promise<void> {
  await writePrivateFile(path, Buffer.from(`${JSON.stringify({ version: VERSION, ...records }, null, 2)}\n`));
}

const VERSION = 1;
