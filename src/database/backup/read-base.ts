// Reads a base backup whole, and compares it with the server's manifest.

import { type BaseBackup, sealedFile } from "./backup-folder.ts";
import { FilesSeen, readManifest } from "./manifest.ts";
import { type BackupKey, readSealed, readWholeSealed } from "./sealed-file.ts";
import { readTar, type TarPart } from "./tar-reader.ts";

/** The parts of its archive. Errors: BackupUnreadable; behind the last part, a file is another than the manifest describes. */
export async function* readBase({ path, name }: BaseBackup, keys: readonly BackupKey[]): AsyncGenerator<TarPart> {
  const files = new FilesSeen();
  for await (const part of readTar(readSealed(sealedFile(path, "base.tar").path, `${name}/base.tar`, keys)))
    yield files.note(part);
  const manifest = await readWholeSealed(sealedFile(path, "manifest").path, `${name}/manifest`, keys);
  files.requireAllOf(readManifest(manifest));
}
