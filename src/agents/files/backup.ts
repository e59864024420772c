// Copies of files as they were, beside them.

import { copyFile, constants, rm, chmod } from "node:fs/promises";
import { UneditableFile } from "../editing/edits.ts";
import type { ConfigFile } from "./config-file.ts";

const MOST_IN_A_SECOND = 100;

/** Copies a file to a name of its own, which it gives; null where there is no file. Errors: UneditableFile. */
export async function backUp({ realPath, bytes }: ConfigFile, now: Date): Promise<string | null> {
  if (bytes === null) return null;
  const name = `${realPath}.bak-saldo-${now
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replaceAll(/[-:]/g, "")}`;
  for (let number = 0; number < MOST_IN_A_SECOND; number += 1) {
    const path = number === 0 ? name : `${name}-${number}`;
    try {
      await copyFile(realPath, path, constants.COPYFILE_EXCL);
      // It may hold a key of the user's.
      await chmod(path, 0o600);
      return path;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
      if (code !== "EEXIST") throw new UneditableFile(`cannot be copied first (${code})`, { cause: error });
    }
  }
  throw new UneditableFile("has too many copies beside it");
}

/** Removes a copy that is not needed. */
export async function forgetBackup(path: string | null): Promise<void> {
  if (path !== null) await rm(path, { force: true });
}
