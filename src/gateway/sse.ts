// Server-sent events as bytes. Packets may cut them anywhere, lines may end in LF, CRLF or CR, and whatever passes through
// leaves as it came.

const LF = 0x0a;
const CR = 0x0d;

const SPACE = 0x20;
const EMPTY = Buffer.alloc(0);
/** The bytes before the last one that tell whether an event ends there: CRLF behind the end of a line. */
const LONGEST_SEAM = 2;

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
  /** The packets of an event that is not complete, and their last bytes: only they can be half of its end. */
  #rest: Buffer[] = [];
  #restLength = 0;
  #seam: Buffer = EMPTY;

  /** The bytes up to the last event that is complete, null if none is. What follows waits for the next packet. */
  push(packet: Buffer): Buffer | null {
    // Each byte is looked at once, however small the packets of a large event are.
    const bytes = this.#restLength === 0 ? packet : Buffer.concat([this.#seam, packet]);
    const end = endOfLastEvent(bytes) - (bytes.length - packet.length);
    if (end <= 0) {
      this.#keep(packet);
      return null;
    }
    const whole = end === packet.length ? packet : packet.subarray(0, end);
    const events = this.#restLength === 0 ? whole : Buffer.concat([...this.#rest, whole]);
    this.#clear();
    if (end < packet.length) this.#keep(packet.subarray(end));
    return events;
  }

  /** Bytes of an event that is not complete. */
  get restLength(): number {
    return this.#restLength;
  }

  /** Gives up what is left when the stream has ended: an event whose last blank line is missing. */
  takeRest(): Buffer | null {
    const rest = this.#restLength === 0 ? null : Buffer.concat(this.#rest);
    this.#clear();
    return rest;
  }

  #keep(packet: Buffer): void {
    this.#rest.push(packet);
    this.#restLength += packet.length;
    this.#seam = Buffer.concat([this.#seam, packet.subarray(-LONGEST_SEAM)]).subarray(-LONGEST_SEAM);
  }

  #clear(): void {
    this.#rest = [];
    this.#restLength = 0;
    this.#seam = EMPTY;
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
