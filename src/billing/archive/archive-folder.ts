// The folder of an archive: for each month `usage_record_2025_09.parquet` and, beside it, `usage_record_2025_09.json` with the seal and the
// manifest of the file. What is written gets its name when it is complete and on the disk.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Month } from "./month.ts";
import { MonthFold, type MonthSums } from "./month-fold.ts";
import { ParquetFile, readParquet } from "./parquet-file.ts";
import type { RecordRow } from "./record-row.ts";
import type { SignedText } from "./signed-text.ts";

const PARTIAL = ".partial";

/** What is beside a file: both texts with their signatures. */
export type FileProof = { readonly seal: SignedText; readonly manifest: SignedText };

export const fileOf = ({ table }: Pick<Month, "table">): string => `${table}.parquet`;
export const proofOf = ({ table }: Pick<Month, "table">): string => `${table}.json`;

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false;
      throw error;
    },
  );
}

/** Writes the records of a month as a file, reads it again, and gives it its name. `check` gets what was read. */
export async function writeMonth(
  folder: string,
  month: Month,
  { batches, check }: { batches: AsyncIterable<readonly RecordRow[]>; check: (read: MonthSums) => void },
): Promise<void> {
  const path = join(folder, fileOf(month));
  const partial = path + PARTIAL;
  await rm(partial, { force: true });
  const file = new ParquetFile(partial);
  try {
    for await (const rows of batches) for (const row of rows) file.add(row);
  } catch (error) {
    file.close();
    throw error;
  }
  file.end();
  check(await foldFile(partial));
  await rename(partial, path);
  await syncFolder(folder);
}

/** Folds the records of a file. */
export async function foldFile(path: string): Promise<MonthSums> {
  const fold = new MonthFold();
  for await (const rows of readParquet(path)) for (const row of rows) fold.add(row);
  return fold.end();
}

/** The size and the SHA-256 of a file. */
export async function measureFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of createReadStream(path)) {
    hash.update(piece as Buffer);
    bytes += (piece as Buffer).length;
  }
  return { bytes, sha256: hash.digest("hex") };
}

export async function writeProof(folder: string, month: Month, proof: FileProof): Promise<void> {
  const path = join(folder, proofOf(month));
  await rm(path + PARTIAL, { force: true });
  {
    await using file = await open(path + PARTIAL, "wx", 0o600);
    await file.writeFile(`${JSON.stringify(proof)}\n`);
    await file.sync();
  }
  await rename(path + PARTIAL, path);
  await syncFolder(folder);
}

/** Errors: the file is missing or no proof. */
export async function readProof(folder: string, name: string): Promise<FileProof> {
  const proof = JSON.parse(await readFile(join(folder, name), "utf8")) as FileProof;
  for (const part of [proof.seal, proof.manifest])
    if (typeof part?.text !== "string" || !Array.isArray(part.signatures)) throw new Error(`${name} is no manifest.`);
  return proof;
}

/** The names of files and of what is beside them, in the order of months. */
export async function listFolder(folder: string): Promise<{ files: string[]; proofs: string[] }> {
  const names = (await readdir(folder)).toSorted();
  const matching = (ending: RegExp): string[] => names.filter((name) => ending.test(name));
  return {
    files: matching(/^usage_record_\d{4}_\d{2}\.parquet$/),
    proofs: matching(/^usage_record_\d{4}_\d{2}\.json$/),
  };
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder);
  await handle.sync();
}
