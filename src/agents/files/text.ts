// The text in a file's bytes: what an editor sees, and the two things about it that have to come back when it is written,
// its byte-order mark and how its lines end.

import { UneditableFile } from "../editing/edits.ts";

/** A text whose lines end with a line feed, and how it was written. */
export type FileText = { readonly text: string; readonly hasMark: boolean; readonly written: string };

const MARK = "\ufeff";

/** Reads the text. Errors: UneditableFile. */
export function decodeText(bytes: Buffer): FileText {
  let decoded: string;
  try {
    decoded = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new UneditableFile("is not UTF-8 text", { cause: error });
  }
  const hasMark = decoded.startsWith(MARK);
  const written = hasMark ? decoded.slice(MARK.length) : decoded;
  const text = written.replaceAll("\r\n", "\n");
  if (text.includes("\r")) throw new UneditableFile("has lines that end in a way no agent reads");
  return { text, hasMark, written };
}

/** Writes an edited text in the way it was written before. */
export function encodeText({ text, hasMark, written }: FileText): Buffer {
  return Buffer.from((hasMark ? MARK : "") + withLineEnds(text, written), "utf8");
}

/** Lines that stay keep their end, also where a file mixes two kinds; new ones end like most. */
function withLineEnds(text: string, written: string): string {
  const old = written.split(/(?<=\n)/);
  const pairs = old.filter((line) => line.endsWith("\r\n")).length;
  if (pairs === 0) return text;
  const usual = pairs * 2 >= old.length ? "\r\n" : "\n";
  let next = 0;
  return text.replaceAll(/[^\n]*\n/g, (line) => {
    const plain = line.slice(0, -1);
    const at = old.findIndex((each, index) => index >= next && each.replace(/\r?\n$/, "") === plain);
    if (at === -1) return plain + usual;
    next = at + 1;
    return plain + (old[at]?.endsWith("\r\n") === true ? "\r\n" : "\n");
  });
}
