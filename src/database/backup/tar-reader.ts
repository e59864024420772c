// Reads a tar archive (ustar, as PostgreSQL writes it) while it arrives.

import { invariant } from "../../kernel/invariant.ts";

const BLOCK = 512;
const FIELDS = {
  name: [0, 100],
  mode: [100, 108],
  size: [124, 136],
  checksum: [148, 156],
  prefix: [345, 500],
} as const;
const TYPE_AT = 156;
const BASE_256 = 0x80;
const TYPES: Readonly<Record<string, TarEntry["type"]>> = { "0": "file", "\0": "file", "5": "folder", "2": "link" };

/** A file, folder or link of an archive. Names are relative and stay inside the archive. */
export type TarEntry = {
  readonly name: string;
  readonly type: "file" | "folder" | "link";
  readonly size: number;
  readonly mode: number;
};

/** An entry, or the next bytes of the file that came last. */
export type TarPart = { readonly entry: TarEntry } | { readonly bytes: Buffer };

/** Reads an archive. Errors: it is damaged or ends too early, or it has what PostgreSQL does not write. */
export async function* readTar(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarPart> {
  let have: Buffer = Buffer.alloc(0);
  /** Bytes of the present file that have not come yet, and its padding. */
  let left = 0;
  let padding = 0;
  let hasEnded = false;
  for await (const chunk of chunks) {
    have = have.length === 0 ? chunk : Buffer.concat([have, chunk]);
    while (!hasEnded) {
      if (left > 0) {
        const bytes = have.subarray(0, left);
        if (bytes.length === 0) break;
        yield { bytes };
        left -= bytes.length;
        have = have.subarray(bytes.length);
        continue;
      }
      if (have.length < padding + BLOCK) break;
      const header = have.subarray(padding, padding + BLOCK);
      have = have.subarray(padding + BLOCK);
      padding = 0;
      hasEnded = header.every((byte) => byte === 0);
      if (hasEnded) break;
      const entry = entryOf(header);
      yield { entry };
      left = entry.type === "file" ? entry.size : 0;
      padding = (BLOCK - (left % BLOCK)) % BLOCK;
    }
    if (hasEnded) have = Buffer.alloc(0);
  }
  if (!hasEnded) throw new Error("the archive ends too early");
}

function entryOf(header: Buffer): TarEntry {
  const sum = header.reduce((total, byte, at) => total + (isIn("checksum", at) ? 0x20 : byte), 0);
  if (numberIn(header, "checksum") !== sum) throw new Error("the archive is damaged");
  const prefix = textIn(header, "prefix");
  const name = `${prefix === "" ? "" : `${prefix}/`}${textIn(header, "name")}`.replace(/\/$/, "");
  const type = TYPES[String.fromCodePoint(header[TYPE_AT] ?? 0)];
  if (type === undefined || name.startsWith("/") || name.split("/").includes(".."))
    throw new Error(`the archive has an entry that PostgreSQL does not write: ${name}`);
  return { name, type, size: numberIn(header, "size"), mode: numberIn(header, "mode") };
}

function isIn(field: keyof typeof FIELDS, at: number): boolean {
  const [from, to] = FIELDS[field];
  return at >= from && at < to;
}

function textIn(header: Buffer, field: keyof typeof FIELDS): string {
  const text = header.toString("utf8", ...FIELDS[field]);
  const end = text.indexOf("\0");
  return end === -1 ? text : text.slice(0, end);
}

/** Octal digits, or for large files bytes behind a marked one. */
function numberIn(header: Buffer, field: keyof typeof FIELDS): number {
  const [from, to] = FIELDS[field];
  if (((header[from] ?? 0) & BASE_256) === 0) return Number.parseInt(textIn(header, field).trim() || "0", 8);
  const large = header.subarray(from + 1, to).reduce((total, byte) => total * 256n + BigInt(byte), 0n);
  invariant(large <= BigInt(Number.MAX_SAFE_INTEGER), "a file of an archive has a size");
  return Number(large);
}
