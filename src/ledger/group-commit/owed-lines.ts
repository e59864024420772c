// The lines of a file of owed settlements. Each has a checksum, so that a damaged line is noticed, is never taken for another
// settlement, and costs no line beside it: neither what a torn write has left before it, nor a damaged line feed.

import { deserialize, serialize } from "node:v8";
import { crc32 } from "node:zlib";
import type { History } from "../../database/history.ts";
import { isUuid } from "../../kernel/ids.ts";
import type { Settlement } from "../ledger.ts";

/** A settlement on disk. `history`: that of the server which its process used last; null where it was not stored. */
export type OwedEntry = { readonly settlement: Settlement; readonly history: History | null };

/** What a file has. `damaged`: how many pieces of it are no entry. */
export type OwedLines = { readonly entries: readonly OwedEntry[]; readonly damaged: number };

/** A checksum, before what it is of. */
const HEAD = /[0-9a-f]{8} /g;
/** How an object begins in files of earlier versions, which have no checksums. */
const BARE = /(?=\/w9v)/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The line of an entry, with its line feed. */
export function lineOf(entry: OwedEntry): string {
  const text = serialize(entry).toString("base64");
  return `${checksumOf(text)} ${text}\n`;
}

/** Reads a file. `hasChecksums` false: an earlier version wrote it. */
export function readLines(text: string, { hasChecksums }: { hasChecksums: boolean }): OwedLines {
  const entries: OwedEntry[] = [];
  let damaged = 0;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const pieces = hasChecksums ? piecesOf(line) : line.split(BARE).map(readBare);
    for (const piece of pieces) {
      if (piece === null) damaged += 1;
      else entries.push(piece);
    }
  }
  return { entries, damaged };
}

/** A whole line is one piece. A torn one, or a damaged line feed, has others behind it. */
function piecesOf(line: string): (OwedEntry | null)[] {
  const heads = [...line.matchAll(HEAD)].map(({ index }) => index);
  const [first] = heads;
  if (first === undefined) return [null];
  const pieces = heads.map((head, place) => readPiece(line.slice(head, heads[place + 1])));
  return first === 0 ? pieces : [null, ...pieces];
}

/** The character in the place of a damaged line feed is no part of the entry before it. */
function readPiece(piece: string): OwedEntry | null {
  return readChecked(piece) ?? readChecked(piece.slice(0, -1));
}

function readChecked(piece: string): OwedEntry | null {
  const text = piece.slice(9);
  return piece.slice(0, 8) === checksumOf(text) ? readEntry(text) : null;
}

function readBare(text: string): OwedEntry | null {
  return BASE64.test(text) ? readEntry(text) : null;
}

/** Versions before 0.3 stored the settlement alone. Null: it is none. */
function readEntry(text: string): OwedEntry | null {
  try {
    const read: OwedEntry | Settlement = deserialize(Buffer.from(text, "base64"));
    const entry = "settlement" in read ? read : { settlement: read, history: null };
    return isSettlement(entry.settlement) ? entry : null;
  } catch {
    return null; // counted as damaged by its reader
  }
}

function isSettlement({ accountId, requestId, cost, billingDay }: Settlement): boolean {
  const isNamed = isUuid(accountId) && isUuid(requestId) && /^\d{4}-\d\d-\d\d$/.test(billingDay);
  return isNamed && typeof cost === "bigint" && cost >= 0n;
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
