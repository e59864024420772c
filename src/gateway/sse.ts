// Server-sent events as bytes. Packets may cut them anywhere, lines may end in LF, CRLF or CR, and whatever passes through
// leaves as it came.

const LF = 0x0a;
const CR = 0x0d;

const SPACE = 0x20;

/** An event larger than this is no chat event. */
export const MAX_EVENT_BYTES = 4 * 1024 * 1024;

/** How a line of an event stream begins: `data`, `event`, `id`, `retry`, or a comment. JSON texts begin otherwise. */
const FIRST_BYTES_OF_EVENTS: ReadonlySet<number> = new Set(Buffer.from("deir:"));

/** Whether these are events: the first byte that is not white space tells, however packets were cut. Null: there is none. */
export function beginsAsEvents(packet: Buffer): boolean | null {
  const first = packet.find((byte) => byte > SPACE);
  return first === undefined ? null : FIRST_BYTES_OF_EVENTS.has(first);
}

/** Cuts a stream of packets at the ends of events. */
export class EventCutter {
  #rest: Buffer | null = null;

  /** The bytes up to the last event that is complete, null if none is. What follows waits for the next packet. */
  push(packet: Buffer): Buffer | null {
    const bytes = this.#rest === null ? packet : Buffer.concat([this.#rest, packet]);
    const end = endOfLastEvent(bytes);
    this.#rest = end === bytes.length ? null : end === 0 ? bytes : bytes.subarray(end);
    if (end === 0) return null;
    return end === bytes.length ? bytes : bytes.subarray(0, end);
  }

  /** Bytes of an event that is not complete. */
  get restLength(): number {
    return this.#rest?.length ?? 0;
  }

  /** Gives up what is left when the stream has ended: an event whose last blank line is missing. */
  takeRest(): Buffer | null {
    const rest = this.#rest;
    this.#rest = null;
    return rest;
  }
}

/** Cuts complete events apart, each with the blank line behind it. */
export function splitEvents(bytes: Buffer): Buffer[] {
  const events: Buffer[] = [];
  let start = 0;
  let lineIsEmpty = true;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte !== LF && byte !== CR) {
      lineIsEmpty = false;
      continue;
    }
    if (byte === CR && bytes[at + 1] === LF) at += 1;
    if (lineIsEmpty) {
      events.push(bytes.subarray(start, at + 1));
      start = at + 1;
    }
    lineIsEmpty = true;
  }
  if (start < bytes.length) events.push(bytes.subarray(start));
  return events;
}

/** The data of an event, its lines joined. Null: the event carries none, such as a comment. */
export function dataOf(event: Buffer): string | null {
  let data: string | null = null;
  for (const line of event.toString("utf8").split(/\r\n|\n|\r/)) {
    if (!line.startsWith("data")) continue;
    if (line.length > 4 && line[4] !== ":") continue;
    const value = line.slice(line[5] === " " ? 6 : 5);
    data = data === null ? value : `${data}\n${value}`;
  }
  return data;
}

/** An event with the given data, which holds no line break. */
export function eventOf(data: string): Buffer {
  return Buffer.from(`data: ${data}\n\n`);
}

/** The index behind the last blank line, 0 if there is none. */
function endOfLastEvent(bytes: Buffer): number {
  for (let end = bytes.length; end > 1; end -= 1) {
    const last = bytes[end - 1];
    if (last !== LF && last !== CR) continue;
    // CR and LF together end one line; before it another line must have ended.
    const before = last === LF && bytes[end - 2] === CR ? bytes[end - 3] : bytes[end - 2];
    if (before === LF || before === CR) return end;
  }
  return 0;
}
