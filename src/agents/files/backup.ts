// Copies of files as they were, beside them.

import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UneditableFile } from "../editing/edits.ts";
import { codeOf, type ConfigFile, writeNewFile } from "./config-file.ts";

const MOST_IN_A_SECOND = 100;
const BEHIND = ".bak-saldo-";

/** Writes what was read of a file under a name of its own, which it gives; null where there is no file. Only its owner may
 * read it, as it may hold a key. Errors: UneditableFile. */
export async function backUp({ realPath, bytes }: ConfigFile, now: Date): Promise<string | null> {
  if (bytes === null) return null;
  const name = `${realPath}${BEHIND}${now
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:]/g, "")}`;
  for (let number = 0; number < MOST_IN_A_SECOND; number += 1) {
    const path = number === 0 ? name : `${name}-${number}`;
    try {
      await writeNewFile(path, bytes);
      return path;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") {
        throw new UneditableFile(`cannot be copied first (${codeOf(error)})`, { cause: error });
      }
    }
  }
  throw new UneditableFile("has too many copies beside it");
}

/** Removes a copy that is not needed. */
export async function forgetBackup(path: string | null): Promise<void> {
  if (path !== null) await rm(path, { force: true });
}

/** The copies of a file that are still there. */
export async function backupsOf(realPath: string): Promise<string[]> {
  const names = await readdir(dirname(realPath)).catch((): string[] => []);
  return names
    .filter((name) => name.startsWith(basename(realPath) + BEHIND))
    .toSorted()
    .map((name) => join(dirname(realPath), name));
}
