// The usage inside the chunks of a stream. Callers see it once, at the end, with what was billed; upstreams write it where
// they like, and their numbers are untrusted.

import { isObject, type JsonObject } from "./request/field-rules.ts";
import { JsonScanError, type ObjectScan, scanObject } from "./request/json-scan.ts";
import { type Edit, splice } from "./request/splice.ts";
import { eventOf } from "./sse.ts";

/** The members of a chunk that usage is in. */
const PLACES = ["usage", "x_groq"] as const;

/** The data of a usage chunk on one line; null where it is nested too deep to be written again. */
export function usageChunkOf(data: string): string | null {
  return scanOf(Buffer.from(data)) === null ? null : onOneLine(data);
}

/** The event with null in place of its usage; null where it is nested too deep. Everything else keeps its bytes. */
export function withoutUsage(event: Buffer, data: string, chunk: JsonObject): Buffer | null {
  const json = Buffer.from(data);
  const scan = scanOf(json);
  if (scan === null) return null;
  const edits: Edit[] = [];
  for (const place of PLACES) {
    const span = scan.members.get(place);
    if (span !== undefined && isObject(chunk[place])) edits.push({ ...span, text: "null" });
  }
  const at = event.indexOf(json);
  if (at < 0) return eventOf(onOneLine(splice(json, edits).toString("utf8")));
  return splice(
    event,
    edits.map(({ start, end, text }) => ({ start: at + start, end: at + end, text })),
  );
}

/** Line breaks between the lines of an event's data are white space: inside a JSON string there can be none. */
function onOneLine(data: string): string {
  return data.replaceAll("\n", " ");
}

function scanOf(json: Buffer): ObjectScan | null {
  try {
    return scanObject(json);
  } catch (error) {
    if (error instanceof JsonScanError) return null;
    throw error;
  }
}
