// Verifies a folder of the archive without the database: signatures, the size and the hash of each file, and that its records come to
// the rows, sums and digests of its seal. It names what differs.

import { join } from "node:path";
import { fileOf, foldFile, listFolder, measureFile, readProof } from "./archive-folder.ts";
import { differencesOf } from "./month-fold.ts";
import { monthOf } from "./month.ts";
import { hashOf, isSigned, readManifest, readSeal, type Seal, type SignedText } from "./signed-text.ts";

export type VerifiedArchive = {
  readonly ok: boolean;
  readonly problems: readonly string[];
  readonly months: readonly string[];
  readonly rows: bigint;
  /** Micro-rupiah. */
  readonly charge: bigint;
  /** The ids of the keys that signed. */
  readonly keys: readonly string[];
  /** Whether the key was compared with one from elsewhere. Anyone can sign a folder with a key of their own. */
  readonly trusted: boolean;
  /** The hash of the seal before the oldest month here. Null: it is the first of all. */
  readonly continues: string | null;
};

/** `key`: the public key that must have signed, as Base64. */
export async function verifyArchive(folder: string, { key }: { key?: string } = {}): Promise<VerifiedArchive> {
  const { files, proofs } = await listFolder(folder);
  const problems: string[] = [];
  const seals: { seal: Seal; hash: string }[] = [];
  const keys = new Set<string>();
  if (files.length + proofs.length === 0) problems.push(`${folder} has no month of an archive`);
  for (const file of files)
    if (!proofs.includes(file.replace(".parquet", ".json"))) problems.push(`${file} has no manifest beside it`);
  for (const name of proofs) {
    try {
      const { signed, found } = await verifyMonth(folder, name, key);
      problems.push(...found.map((problem) => `${name.replace(".json", "")} ${problem}`));
      seals.push({ seal: readSeal(signed.text), hash: hashOf(signed.text) });
      for (const signature of signed.signatures) keys.add(signature.key);
    } catch (error) {
      problems.push(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  for (const [place, { seal }] of seals.entries()) {
    const before = seals[place - 1];
    if (before !== undefined && seal.previous !== before.hash)
      problems.push(`${seal.month} does not follow ${before.seal.month}: a month between them is missing`);
  }
  return {
    ok: problems.length === 0,
    problems,
    months: seals.map(({ seal }) => seal.month),
    rows: seals.reduce((sum, { seal }) => sum + seal.rows, 0n),
    charge: seals.reduce((sum, { seal }) => sum + seal.charge, 0n),
    keys: [...keys],
    trusted: problems.length === 0 && key !== undefined,
    continues: seals[0]?.seal.previous ?? null,
  };
}

async function verifyMonth(
  folder: string,
  name: string,
  key: string | undefined,
): Promise<{ signed: SignedText; found: string[] }> {
  const { seal: signed, manifest } = await readProof(folder, name);
  const [seal, file] = [readSeal(signed.text), readManifest(manifest.text)];
  const month = monthOf(seal.month);
  const path = join(folder, fileOf(month));
  const found: string[] = [];
  for (const part of [signed, manifest]) {
    if (!isSigned(part)) found.push("has a wrong signature");
    if (key !== undefined && !part.signatures.some(({ public_key: publicKey }) => publicKey === key))
      found.push("is not signed by the given key");
  }
  if (file.seal !== hashOf(signed.text) || file.month !== seal.month || file.file !== fileOf(month))
    found.push("has the manifest of another seal");
  if (`${month.table}.json` !== name) found.push(`is of ${seal.month}`);
  const measured = await measureFile(path).catch((error: NodeJS.ErrnoException) => error);
  if (measured instanceof Error)
    return { signed, found: [...found, measured.code === "ENOENT" ? "is missing" : measured.message] };
  if (measured.bytes !== file.bytes || measured.sha256 !== file.sha256) found.push("is not the file of its manifest");
  const sums = await foldFile(path).catch((error: unknown) => error);
  if (sums instanceof Error) found.push(`cannot be read: ${sums.message}`);
  else found.push(...differencesOf(sums as Awaited<ReturnType<typeof foldFile>>, seal).map((each) => `has ${each}`));
  return { signed, found };
}
