// The text in a file's bytes: what an editor sees, and the two things about it that have to come back when it is written,
// its byte-order mark and how its lines end.

import { UneditableFile } from "../editing/edits.ts";
import { withLineEnds } from "./line-ends.ts";

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

/** Writes an edited text in the way it was written before. Errors: UneditableFile. */
export function encodeText({ text, hasMark, written }: FileText): Buffer {
  return Buffer.from((hasMark ? MARK : "") + withLineEnds(text, written), "utf8");
}
