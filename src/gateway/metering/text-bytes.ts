// About how many bytes of text are in events, without reading all of them.

import { spreadOver } from "./spread.ts";
import { parseObject } from "../request/parse-object.ts";
import type { OutputReader } from "./output-reader.ts";
import { dataOf, splitEvents } from "../stream/sse.ts";

/** How many events are read, spread over all. The largest is read too, because the others do not show its density. */
const READ_EVENTS = 8;
const LF = 0x0a;
const CR = 0x0d;
const LETTER_D = 0x64;
const DATA = Buffer.from("data");

/** The bytes of text in complete events, taken to be as large a part of each event as of those that are read. */
export function textBytesIn(events: Buffer, reader: OutputReader): number {
  const parts = dataEventsIn(events);
  const largest = parts.reduce<Buffer | null>((most, part) => (part.length > (most?.length ?? 0) ? part : most), null);
  if (largest === null) return 0;
  let [read, text, bytes] = [0, 0, 0];
  for (const part of parts) bytes += part.length;
  for (const at of spreadOver(parts.length, READ_EVENTS)) {
    const part = parts[at];
    if (part === undefined || part === largest) continue;
    read += part.length;
    text += textBytesOf(part, reader);
  }
  const share = read === 0 ? 0 : text / read;
  return textBytesOf(largest, reader) + (bytes - largest.length) * share;
}

/** The events that have data: a name, an id or a comment may come before it. */
function dataEventsIn(events: Buffer): readonly Buffer[] {
  // Lines that end in a return alone are rare, so they may be searched byte by byte.
  if (!events.includes(LF)) return splitEvents(events).filter(hasData);
  const parts: Buffer[] = [];
  for (let start = 0; start < events.length;) {
    const end = endOfEvent(events, start);
    const part = events.subarray(start, end);
    if (hasData(part)) parts.push(part);
    start = end;
  }
  return parts;
}

function hasData(event: Buffer): boolean {
  return event[0] === LETTER_D || event.includes(DATA);
}

/** Behind the blank line that ends the event, in either kind of line ending. */
function endOfEvent(events: Buffer, start: number): number {
  for (let at = events.indexOf(LF, start); at >= 0; at = events.indexOf(LF, at + 1)) {
    if (events[at + 1] === LF) return at + 2;
    if (events[at + 1] === CR && events[at + 2] === LF) return at + 3;
  }
  return events.length;
}

function textBytesOf(event: Buffer, reader: OutputReader): number {
  const pieces = reader.piecesOfEvent(parseObject(dataOf(event) ?? "") ?? {});
  return pieces.reduce((bytes, { text }) => bytes + Buffer.byteLength(text), 0);
}
