// What a month of the archive is signed as: its seal, which has what its records come to, and the manifest of a file, which has that the
// file is of this seal. Both are exact texts. A seal names the signed root of the books that covers the month, and the seal before it.

import { sha256 } from "../proof/chain.ts";
import type { SignedRoot } from "../proof/seal-store.ts";
import { areSignaturesRight, type ProofKey, type RootSignature, signByAll } from "../proof/signing.ts";
import type { MonthSums } from "./month-fold.ts";
import { FILE_SCHEMA } from "./parquet-file.ts";

export type SignedText = { readonly text: string; readonly signatures: readonly RootSignature[] };

/** What a seal has. */
export type Seal = MonthSums & {
  readonly month: string;
  /** The root of the books whose window ends with the month or later, and the hash of its text. */
  readonly rootSeal: number;
  readonly root: string;
  /** The digest of the month's roll-ups. Null: a version that knew none made the seal. */
  readonly rollUpsDigest: string | null;
  /** The hash of the text of the seal before. Null: it is the first. */
  readonly previous: string | null;
};

/** What a manifest has. */
export type Manifest = {
  readonly month: string;
  /** The hash of the text of the seal. */
  readonly seal: string;
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 of the file, in hexadecimal. */
  readonly sha256: string;
};

export const hashOf = (text: string): string => sha256(text).toString("hex");

export function sign(keys: readonly ProofKey[], text: string): SignedText {
  return { text, signatures: signByAll(keys, text) };
}

/** Whether all signatures are right, and there is one. */
export function isSigned({ text, signatures }: SignedText): boolean {
  return areSignaturesRight(text, signatures);
}

export function sealText(
  month: string,
  {
    sums,
    rollUpsDigest,
    root,
    previous,
  }: { sums: MonthSums; rollUpsDigest: string; root: SignedRoot; previous: SignedText | null },
): string {
  return JSON.stringify({
    saldo_usage_seal: 1,
    month,
    rows: String(sums.rows),
    accounts: sums.accounts,
    cost: String(sums.cost),
    charge: String(sums.charge),
    digest: sums.digest,
    accounts_digest: sums.accountsDigest,
    roll_ups_digest: rollUpsDigest,
    root_seal: root.seal,
    root: hashOf(root.text),
    previous: previous === null ? null : hashOf(previous.text),
  });
}

/** Errors: the text is no seal. */
export function readSeal(text: string): Seal {
  const json = JSON.parse(text) as Record<string, string & number>;
  if (json["saldo_usage_seal"] !== 1) throw new Error("It is no seal of a month.");
  return {
    month: String(json["month"]),
    rows: BigInt(json["rows"] ?? ""),
    accounts: Number(json["accounts"]),
    cost: BigInt(json["cost"] ?? ""),
    charge: BigInt(json["charge"] ?? ""),
    digest: String(json["digest"]),
    accountsDigest: String(json["accounts_digest"]),
    rollUpsDigest: json["roll_ups_digest"] ?? null,
    rootSeal: Number(json["root_seal"]),
    root: String(json["root"]),
    previous: json["previous"] ?? null,
  };
}

export function manifestText(seal: SignedText, file: Pick<Manifest, "file" | "bytes" | "sha256">): string {
  const { month, rows, cost, charge } = readSeal(seal.text);
  return JSON.stringify({
    saldo_usage_file: 1,
    month,
    seal: hashOf(seal.text),
    file: file.file,
    bytes: file.bytes,
    sha256: file.sha256,
    rows: String(rows),
    cost: String(cost),
    charge: String(charge),
    schema: FILE_SCHEMA,
  });
}

/** Errors: the text is no manifest. */
export function readManifest(text: string): Manifest {
  const json = JSON.parse(text) as Record<string, string>;
  if (Number(json["saldo_usage_file"]) !== 1) throw new Error("It is no manifest of a file.");
  return {
    month: String(json["month"]),
    seal: String(json["seal"]),
    file: String(json["file"]),
    bytes: Number(json["bytes"]),
    sha256: String(json["sha256"]),
  };
}
