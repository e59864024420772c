// A user's configuration file: read with all that must survive, and replaced in one step. The new content is written to a new
// file beside it that takes its name; a run that is killed on the way leaves the old file or the new one.

import { createHash, randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UneditableFile } from "../editing/edits.ts";

/** A file as it was found. */
export type ConfigFile = {
  /** The path that was read. */
  readonly path: string;
  /** Its real path, behind links. */
  readonly realPath: string;
  /** Null: there is none. */
  readonly bytes: Buffer | null;
};

const MAX_BYTES = 16 * 1024 * 1024;
const PRIVATE = 0o600;
const PERMISSIONS = 0o7777;

/** Reads a file, or finds that there is none. Errors: UneditableFile. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  try {
    const realPath = await realpath(path);
    const found = await stat(realPath);
    if (found.isDirectory()) throw new UneditableFile("is a directory");
    if (!found.isFile()) throw new UneditableFile("is not a plain file");
    if (found.size > MAX_BYTES) throw new UneditableFile("is too large to be a configuration");
    return { path, realPath, bytes: await readFile(realPath) };
  } catch (error) {
    if (error instanceof UneditableFile) throw error;
    if (codeOf(error) !== "ENOENT") throw new UneditableFile(`cannot be read (${codeOf(error)})`, { cause: error });
    const isLink = await lstat(path)
      .then(() => true)
      .catch(() => false);
    if (isLink) throw new UneditableFile("is a link to a file that is not there", { cause: error });
    return { path, realPath: path, bytes: null };
  }
}

/** Replaces a file, or makes it, unless it changed since it was read. Errors: UneditableFile. */
export async function replaceConfigFile(file: ConfigFile, bytes: Buffer): Promise<void> {
  try {
    await mkdir(dirname(file.realPath), { recursive: true, mode: 0o700 });
    const old = file.bytes === null ? null : await stat(file.realPath);
    // The new file takes one of the names; the others would keep the old content.
    if (old !== null && old.nlink > 1)
      throw new UneditableFile("has a second name (a hard link) that would not change");
    await writeBeside(file.realPath, { bytes, mode: old === null ? PRIVATE : old.mode & PERMISSIONS, owner: old }, () =>
      refuseChanged(file),
    );
  } catch (error) {
    if (error instanceof UneditableFile) throw error;
    throw new UneditableFile(`cannot be written (${codeOf(error)})`, { cause: error });
  }
}

/** Removes a file unless it changed since it was read. Errors: UneditableFile. */
export async function removeConfigFile(file: ConfigFile): Promise<void> {
  await refuseChanged(file);
  try {
    await rm(file.realPath);
  } catch (error) {
    throw new UneditableFile(`cannot be removed (${codeOf(error)})`, { cause: error });
  }
}

/** Writes a file that only its owner may read, in one step. */
export async function writePrivateFile(path: string, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeBeside(path, { bytes, mode: PRIVATE, owner: null }, async () => {});
}

/** Writes a file that is not there yet and that only its owner may read. Errors: those of the system, EEXIST among them. */
export async function writeNewFile(path: string, bytes: Buffer): Promise<void> {
  const handle = await open(path, "wx", PRIVATE);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

/** The name of a content: two files with the same are the same. */
export function digestOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

async function refuseChanged({ path, bytes }: ConfigFile): Promise<void> {
  const now = await readConfigFile(path);
  const isSame = bytes === null ? now.bytes === null : now.bytes?.equals(bytes) === true;
  if (!isSame) throw new UneditableFile("was changed by another program meanwhile");
}

type NewFile = {
  readonly bytes: Buffer;
  readonly mode: number;
  readonly owner: { readonly uid: number; readonly gid: number } | null;
};

async function writeBeside(path: string, { bytes, mode, owner }: NewFile, check: () => Promise<void>): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await writeNewFile(temporary, bytes);
    const made = await stat(temporary);
    const isAnothers = owner !== null && (owner.uid !== made.uid || owner.gid !== made.gid);
    if (isAnothers) await chown(temporary, owner.uid, owner.gid);
    if (mode !== PRIVATE) await chmod(temporary, mode);
    await check();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The system's code of an error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
}
