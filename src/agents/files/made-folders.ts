// Folders that come into being with a file: they go with it, or an agent that was never there would leave traces.

import { rmdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "./config-file.ts";

/** The outermost folder that has to be made before a file can be; null where its folder is there. */
export async function folderToMake(path: string): Promise<string | null> {
  let missing: string | null = null;
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    const isMissing = await stat(folder).then(
      () => false,
      (error: unknown) => codeOf(error) === "ENOENT",
    );
    if (!isMissing) break;
    missing = folder;
  }
  return missing;
}

/** Removes the folders that were made for a file, from the innermost on, as far as they are empty by now. */
export async function removeMadeFolders(path: string, outermost: string | null): Promise<void> {
  if (outermost === null) return;
  for (let folder = dirname(path); folder.startsWith(outermost); folder = dirname(folder)) {
    const isGone = await rmdir(folder).then(
      () => true,
      () => false, // something is in it
    );
    if (!isGone) return;
  }
}
