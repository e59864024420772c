// Server-sent events as bytes. Packets may cut them anywhere, lines may end in LF, CRLF or CR, and all bytes are passed on
// unchanged.

const LF = 0x0a;
const CR = 0x0d;

const SPACE = 0x20;
const EMPTY = Buffer.alloc(0);
/** The bytes before the last one that show whether an event ends there: CRLF after the end of a line. */
const LONGEST_SEAM = 2;

/** An event larger than this is no chat event. */
export const MAX_EVENT_BYTES = 4 * 1024 * 1024;

/** How a line of an event stream begins: `data`, `event`, `id`, `retry`, or a comment. JSON texts begin otherwise. */
const FIRST_BYTES_OF_EVENTS: ReadonlySet<number> = new Set(Buffer.from("deir:"));

/** Whether these are events: the first byte that is not white space decides, in whatever packet it is. Null: there is none. */
export function beginsAsEvents(packet: Buffer): boolean | null {
  const first = packet.find((byte) => byte > SPACE);
  return first === undefined ? null : FIRST_BYTES_OF_EVENTS.has(first);
}

const FIELDS = ["data", "event", "id", "retry"];
/** Longer than any name of a field. */
const NAME_BYTES = 64;

/** Whether these are the first bytes of an event, wherever they were cut: a comment, a field, or a part of its name. */
export function isBeginOfEvent(bytes: Buffer): boolean {
  const [name = "", value] = bytes.toString("latin1", 0, NAME_BYTES).trimStart().split(":", 2);
  if (value !== undefined) return name === "" || FIELDS.includes(name);
  return FIELDS.some((field) => field.startsWith(name.trimEnd()));
}

/** The mark that some platforms write before UTF-8. It belongs to no event and to no JSON text. */
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Takes the byte order mark from the beginning of an answer, however the packets cut it. */
export class MarkRemover {
  #begun: Buffer = EMPTY;
  #isOver = false;

  /** The bytes of a packet that belong to the answer. Bytes that may be half of a mark wait for the next packet. */
  push(packet: Buffer): Buffer {
    if (this.#isOver) return packet;
    const bytes = this.#begun.length === 0 ? packet : Buffer.concat([this.#begun, packet]);
    if (bytes.length < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.indexOf(bytes) === 0) {
      this.#begun = bytes;
      return EMPTY;
    }
    this.#isOver = true;
    return withoutMark(bytes);
  }
}

/** The bytes without a byte order mark at their beginning. */
export function withoutMark(bytes: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK;
  return bytes.subarray(0, length).equals(BYTE_ORDER_MARK) ? bytes.subarray(length) : bytes;
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

  /** Returns the rest at the end of the stream: an event whose last blank line is missing. */
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
  for (let start = 0; start < bytes.length;) {
    const end = endOfEvent(bytes, start);
    events.push(bytes.subarray(start, end));
    start = end;
  }
  return events;
}

/** The index behind the blank line that ends the event which begins at `start`; the end of the bytes where there is none. */
export function endOfEvent(bytes: Buffer, start: number): number {
  let lineIsEmpty = true;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte !== LF && byte !== CR) {
      lineIsEmpty = false;
      continue;
    }
    if (byte === CR && bytes[at + 1] === LF) at += 1;
    if (lineIsEmpty) return at + 1;
    lineIsEmpty = true;
  }
  return bytes.length;
}

/** Whether this is no event but the rest of the blank line in front of it, whose CRLF came in two packets. */
export function isRestOfLine(event: Buffer): boolean {
  return event.length === 1 && event[0] === LF;
}

/** The fields of an event: its data, the lines joined, and its name. Null: it carries none, such as a comment. */
export function fieldsOf(event: Buffer): { readonly data: string | null; readonly name: string | null } {
  if (isOneLineOfData(event)) return { data: event.toString("utf8", DATA_FIELD.length, event.length - 2), name: null };
  let data: string | null = null;
  let name: string | null = null;
  for (const line of event.toString("utf8").split(/\r\n|\n|\r/)) {
    const value = valueOf(line, "data");
    if (value !== null) data = data === null ? value : `${data}\n${value}`;
    else name = valueOf(line, "event") ?? name;
  }
  return { data, name };
}

export const DATA_FIELD = Buffer.from("data: ");

/** Whether an event is as most are written: `data: `, one line, and two line feeds. */
export function isOneLineOfData(event: Buffer): boolean {
  const last = event.length - 2;
  return (
    event.indexOf(LF) === last &&
    event[last + 1] === LF &&
    event.indexOf(CR) < 0 &&
    event.subarray(0, DATA_FIELD.length).equals(DATA_FIELD)
  );
}

/** The data of an event. Null: it carries none. */
export function dataOf(event: Buffer): string | null {
  return fieldsOf(event).data;
}

function valueOf(line: string, field: string): string | null {
  if (!line.startsWith(field)) return null;
  const { length } = field;
  if (line.length > length && line[length] !== ":") return null;
  return line.slice(line[length + 1] === " " ? length + 2 : length + 1);
}

/** An event with the given data, which holds no line break. */
export function eventOf(data: string): Buffer {
  return Buffer.from(`data: ${data}\n\n`);
}

/** The same with a name, by which clients of some protocols read events. */
export function namedEventOf(name: string, data: string): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${data}\n\n`);
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
