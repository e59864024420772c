// The structure of a body without the weight of its long strings, which are most of its bytes. Each long string becomes a
// short stand-in that keeps how it begins and how long it is; JSON.parse then costs little even where prompts are long.

import { randomBytes } from "node:crypto";
import type { Span } from "./json-scan.ts";

// The mark is random, so no client can make a short string pass for a long one.
const MARK = randomBytes(12).toString("hex");
const KEPT_PREFIX_BYTES = 16;
const PLAIN_PREFIX = /^[\x20-\x21\x23-\x5b\x5d-\x7e]*/;

/** A body with its long strings shortened. */
export function skeletonOf(body: Buffer, longStrings: readonly Span[]): string {
  if (longStrings.length === 0) return body.toString("utf8");
  let text = "";
  let from = 0;
  for (const { start, end } of longStrings) {
    const prefix = PLAIN_PREFIX.exec(body.toString("latin1", start, start + KEPT_PREFIX_BYTES))?.[0] ?? "";
    text += `${body.toString("utf8", from, start)}${prefix}${MARK}${start}-${end}`;
    from = end;
  }
  return text + body.toString("utf8", from);
}

/** The bytes a string of a parsed body had as JSON, shortened or not. Exact for text without escapes. */
export function originalLength(text: string): number {
  const span = originalSpan(text);
  return span === null ? Buffer.byteLength(text) : span.end - span.start;
}

/** Where a string that was shortened lies in its body; null for any other. */
export function originalSpan(text: string): Span | null {
  const mark = text.indexOf(MARK);
  if (mark < 0) return null;
  const [start, end] = text.slice(mark + MARK.length).split("-");
  return { start: Number(start), end: Number(end) };
}
