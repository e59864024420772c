// Recognizes the plain chunks of a stream without parsing them. Most chunks of an answer differ in their text alone, so a
// chunk that was parsed once gives a frame: its fixed bytes around the strings that vary. Bytes that agree with the fixed ones
// and have a sound JSON string in each gap are a complete chunk that means the same as the parsed one did. The frame also has
// the fixed bytes as clients get them, with our id and model.

import type { ShownNames } from "../formats/shown-format.ts";
import { stringsIn } from "./json-strings.ts";
import type { OutputSize } from "./output-limit.ts";

/** Upstreams alternate between few kinds of chunks: text, reasoning, arguments, one per choice. */
const MAX_FRAMES = 6;
/** So many unmatched frames in a row show an upstream whose chunks all differ. */
const MAX_UNUSED = 8;
/** From then on one chunk in so many gives a frame. */
const LEARN_ONE_IN = 64;
/** A longer chunk costs more to read than to parse. */
const MAX_FRAME_BYTES = 8 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const FIRST_PRINTABLE = 0x20;
const FIRST_OTHER = 0x80;
const ESCAPED: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));

/** The strings of a protocol's events by their paths, such as `choices.[].delta.content`. */
export type FramePaths = {
  /** Those that are text of the answer. */
  readonly texts: ReadonlySet<string>;
  /** Those that differ in each event and mean nothing. */
  readonly padding: ReadonlySet<string>;
  /** Those that are replaced by ours. An event that lacks one of them gives no frame. */
  readonly names: ReadonlyMap<string, keyof ShownNames>;
};

/** A fixed part of a chunk, as it comes and as it goes out. `isText`: the string behind it is text of the answer. */
type Part = { readonly bytes: Buffer; readonly shown: Buffer; readonly isText: boolean };

/** A fixed part as it goes out, and where the string behind it lies. */
type Piece = { fixed: Buffer; start: number; end: number };

/** The frames of one stream. After `match` it has the result; it is one object for the stream, so nothing is allocated. */
export class Frames implements OutputSize {
  readonly #names: Readonly<Record<keyof ShownNames, Buffer>>;
  readonly #paths: FramePaths;
  #frames: (readonly Part[])[] = [];
  #unused = 0;
  #asked = 0;
  /** The parts of the recognized chunks as they are sent; the first so many are in use. */
  readonly #pieces: Piece[] = [];
  #pieceCount = 0;

  readonly hasMedia = false;
  asciiBytes = 0;
  otherBytes = 0;
  events = 0;
  /** The index behind the last chunk that was recognized. */
  end = 0;

  constructor({ id, model }: ShownNames, paths: FramePaths) {
    this.#paths = paths;
    this.#names = { id: Buffer.from(JSON.stringify(id)), model: Buffer.from(JSON.stringify(model)) };
  }

  /** Recognizes as many chunks as follow one another from `from` on, at most `most`. False: not even one. */
  match(bytes: Buffer, from: number, most: number): boolean {
    this.asciiBytes = 0;
    this.otherBytes = 0;
    this.events = 0;
    this.end = from;
    this.#pieceCount = 0;
    while (this.events < most && this.end < bytes.length && this.#matchOne(bytes)) this.events += 1;
    return this.events > 0;
  }

  /** The recognized chunks as they go out. */
  shown(bytes: Buffer): Buffer {
    let size = 0;
    for (let at = 0; at < this.#pieceCount; at += 1) {
      const { fixed, start, end } = this.#pieces[at] ?? NO_PIECE;
      size += fixed.length + end - start;
    }
    const result = room(size);
    let to = 0;
    for (let at = 0; at < this.#pieceCount; at += 1) {
      const { fixed, start, end } = this.#pieces[at] ?? NO_PIECE;
      result.set(fixed, to);
      to += fixed.length;
      copy(bytes, { start, end }, result, to);
      to += end - start;
    }
    return result;
  }

  /** Learns the frame of a chunk whose only meaning is its text. `json`: the chunk in its event, at `at`. */
  learn(event: Buffer, at: number, json: Buffer): void {
    this.#asked += 1;
    if (event.length > MAX_FRAME_BYTES) return;
    if (this.#unused > MAX_UNUSED && this.#asked % LEARN_ONE_IN !== 0) return;
    const frame = this.#frameOf(event, at, json);
    if (frame === null) return;
    this.#unused += 1;
    this.#frames.unshift(frame);
    if (this.#frames.length > MAX_FRAMES) this.#frames.pop();
  }

  #matchOne(bytes: Buffer): boolean {
    for (let index = 0; index < this.#frames.length; index += 1) {
      const frame = this.#frames[index] ?? [];
      if (!this.#matchFrame(bytes, frame)) continue;
      this.#unused = 0;
      if (index > 1) {
        // The most frequent frames are tried first.
        this.#frames.splice(index, 1);
        this.#frames.unshift(frame);
      }
      return true;
    }
    return false;
  }

  #matchFrame(bytes: Buffer, frame: readonly Part[]): boolean {
    const { asciiBytes, otherBytes } = this;
    const pieceCount = this.#pieceCount;
    let at = this.end;
    for (let index = 0; index < frame.length; index += 1) {
      const part = frame[index];
      if (part === undefined || !agrees(bytes, at, part.bytes)) {
        at = -1;
        break;
      }
      const start = at + part.bytes.length;
      at = index === frame.length - 1 ? start : this.#endOfString(bytes, start, part.isText);
      if (at < 0) break;
      this.#note(part.shown, start, at);
    }
    if (at >= 0) {
      this.end = at;
      return true;
    }
    this.asciiBytes = asciiBytes;
    this.otherBytes = otherBytes;
    this.#pieceCount = pieceCount;
    return false;
  }

  #note(fixed: Buffer, start: number, end: number): void {
    const piece = this.#pieces[this.#pieceCount];
    if (piece === undefined) this.#pieces.push({ fixed, start, end });
    else {
      piece.fixed = fixed;
      piece.start = start;
      piece.end = end;
    }
    this.#pieceCount += 1;
  }

  /** The index of the quote that closes a string, and counts its bytes if it is text. -1: it is no sound string. */
  #endOfString(bytes: Buffer, from: number, isText: boolean): number {
    let ascii = 0;
    let other = 0;
    let at = from;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (byte >= FIRST_OTHER) other += 1;
      else if (byte === QUOTE) break;
      else if (byte < FIRST_PRINTABLE) return -1;
      else if (byte === BACKSLASH) {
        at += 1;
        const escaped = bytes[at] ?? 0;
        if (escaped === LETTER_U) {
          const code = codeUnitAt(bytes, at + 1);
          if (code < 0) return -1;
          at += 4;
          if (code >= FIRST_OTHER) other += code < 0x800 ? 2 : 3;
          else ascii += 1;
        } else if (ESCAPED.has(escaped)) ascii += 1;
        else return -1;
      } else ascii += 1;
    }
    if (at >= bytes.length) return -1;
    if (isText) {
      this.asciiBytes += ascii;
      this.otherBytes += other;
    }
    return at;
  }

  #frameOf(event: Buffer, at: number, json: Buffer): readonly Part[] | null {
    const parts: Part[] = [];
    let from = 0;
    let rest = 0;
    let shown: Buffer[] = [];
    let named = 0;
    const add = (end: number, isText: boolean): void => {
      // Copies: the packet they came in is not kept.
      const bytes = Buffer.from(event.subarray(from, end));
      parts.push({ bytes, shown: Buffer.concat([...shown, event.subarray(rest, end)]), isText });
      shown = [];
    };
    const { texts, padding, names } = this.#paths;
    for (const { path, start, end } of stringsIn(json)) {
      const name = names.get(path);
      if (name !== undefined) {
        // With their quotes.
        shown.push(event.subarray(rest, at + start - 1), this.#names[name]);
        rest = at + end + 1;
        named += 1;
      } else if (texts.has(path) || padding.has(path)) {
        add(at + start, texts.has(path));
        from = at + end;
        rest = from;
      }
    }
    // A chunk that lacks a name gets it where it is read.
    if (named < names.size || !parts.some(({ isText }) => isText)) return null;
    add(event.length, false);
    return parts;
  }
}

/** Memory for the bytes to be sent, cut off one large piece: Node's own pool is replaced every few packets. */
const POOL_BYTES = 64 * 1024;
let pool = Buffer.alloc(0);
let poolUsed = 0;

function room(size: number): Buffer {
  if (size > POOL_BYTES / 8) return Buffer.allocUnsafeSlow(size);
  if (poolUsed + size > pool.length) {
    pool = Buffer.allocUnsafeSlow(POOL_BYTES);
    poolUsed = 0;
  }
  const start = poolUsed;
  poolUsed += size;
  return pool.subarray(start, poolUsed);
}

const NO_PIECE: Piece = { fixed: Buffer.alloc(0), start: 0, end: 0 };
/** More bytes than this are copied natively. */
const FEW_BYTES = 48;

/** Copies a string, mostly a word. A native copy takes a view of the bytes, which costs more than a few of them. */
function copy(bytes: Buffer, { start, end }: { start: number; end: number }, target: Buffer, to: number): void {
  if (end - start > FEW_BYTES) bytes.copy(target, to, start, end);
  else for (let at = start; at < end; at += 1) target[to + at - start] = bytes[at] ?? 0;
}

/** Compares in place: a view of the bytes costs more than comparing them. */
function agrees(bytes: Buffer, at: number, fixed: Buffer): boolean {
  const end = at + fixed.length;
  return end <= bytes.length && bytes.compare(fixed, 0, fixed.length, at, end) === 0;
}

/** The UTF-16 code unit of four hexadecimal digits; -1: they are none. */
function codeUnitAt(bytes: Buffer, at: number): number {
  let code = 0;
  for (let digit = at; digit < at + 4; digit += 1) {
    const byte = bytes[digit] ?? 0;
    const letter = byte | 0x20;
    if (byte >= 0x30 && byte <= 0x39) code = code * 16 + byte - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) code = code * 16 + letter - 0x57;
    else return -1;
  }
  return code;
}
