// Where the lines of the log go. The service matters more than its log: a write never waits for the reader and never fails its
// caller. What a full disk or a reader that has gone does not take is dropped and counted, and so is what a reader that has
// stopped reading leaves behind above a bound.

import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import { errorCode } from "../../database/system-error.ts";

const FLUSH_MS = 100;
/** What waits for a reader at most. */
const MAX_WAITING_BYTES = 4_194_304;
/** How long the last lines of a process wait for their reader. */
const LAST_WRITE_MS = 250;
const LAST_WRITE_PAUSE_MS = 10;
const NEWLINE = 10;

export type LogStreamOptions = {
  readonly fd: number;
  /** Lines are written together once they have so many characters, or after FLUSH_MS. */
  readonly minLength: number;
  /** The most bytes of a write: lines of several processes on a pipe stay whole up to what it takes in one piece. */
  readonly maxWriteBytes: number;
  /** How a line is written. */
  readonly format?: (line: string) => string;
};

/** Lines that are written together. */
type Piece = { bytes: Buffer; readonly lines: number; isBegun: boolean };

/** What pino writes to. */
export class LogStream {
  readonly #options: LogStreamOptions;
  readonly #fd: number;
  #text = "";
  #lines = 0;
  readonly #waiting: Piece[] = [];
  #waitingBytes = 0;
  #lost = 0;
  /** Lines lost since the last one that was written. */
  #lostSince = 0;
  /** Whether what was written last ends within a line. */
  #isTorn = false;

  constructor(options: LogStreamOptions) {
    this.#options = options;
    this.#fd = openWithoutWaiting(options.fd);
    setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  /** Lines that were lost. */
  get linesLost(): number {
    return this.#lost;
  }

  write(line: string): void {
    const { format, minLength, maxWriteBytes } = this.#options;
    const text = format === undefined ? line : format(line);
    // Counted in characters, which are nearly always bytes: a longer piece is only written in two.
    if (this.#lines > 0 && this.#text.length + text.length > maxWriteBytes) this.#cut();
    this.#text += text;
    this.#lines += 1;
    if (this.#text.length >= minLength) this.flush();
  }

  /** Writes what the reader takes now. */
  flush(): void {
    if (this.#lines > 0) this.#cut();
    while (this.#waiting[0] !== undefined && this.#writePiece(this.#waiting[0])) this.#dropFirst();
  }

  /** Writes what is left, for a process that ends. It waits a moment for a reader that is slow. */
  flushLast(): void {
    const until = performance.now() + LAST_WRITE_MS;
    this.flush();
    while (this.#waiting.length > 0 && performance.now() < until) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_WRITE_PAUSE_MS);
      this.flush();
    }
  }

  #cut(): void {
    const piece = { bytes: Buffer.from(this.#text), lines: this.#lines, isBegun: false };
    this.#text = "";
    this.#lines = 0;
    if (this.#waitingBytes + piece.bytes.length > MAX_WAITING_BYTES) {
      this.#lose(piece.lines);
      return;
    }
    this.#waiting.push(piece);
    this.#waitingBytes += piece.bytes.length;
  }

  /** Whether the piece is done with: written, or lost. */
  #writePiece(piece: Piece): boolean {
    try {
      while (piece.bytes.length > 0) this.#writeSome(piece);
    } catch (error) {
      if (errorCode(error) === "EAGAIN") return false;
      this.#lose(piece.lines);
      return true;
    }
    this.#reportLost();
    return true;
  }

  #writeSome(piece: Piece): void {
    // A line of which a part was lost must not swallow the next one.
    if (!piece.isBegun && this.#isTorn) writeSync(this.#fd, "\n");
    piece.isBegun = true;
    const { bytes } = piece;
    const written = writeSync(this.#fd, bytes, 0, Math.min(bytes.length, this.#options.maxWriteBytes));
    this.#isTorn = bytes[written - 1] !== NEWLINE;
    piece.bytes = bytes.subarray(written);
    this.#waitingBytes -= written;
  }

  #dropFirst(): void {
    const piece = this.#waiting.shift();
    if (piece !== undefined) this.#waitingBytes -= piece.bytes.length;
  }

  #lose(lines: number): void {
    this.#lost += lines;
    this.#lostSince += lines;
  }

  /** Writes into the log itself, once it can be written again, that lines are missing from it. */
  #reportLost(): void {
    if (this.#lostSince === 0) return;
    const { format } = this.#options;
    const facts = { level: "warn", time: new Date().toISOString(), event: "log.lines.lost", lines: this.#lostSince };
    const line = `${JSON.stringify({ ...facts, msg: "log lines lost" })}\n`;
    try {
      writeSync(this.#fd, format === undefined ? line : format(line));
      this.#lostSince = 0;
    } catch {
      // The next line that can be written is followed by it.
    }
  }
}

/**
 * The same pipe or terminal, opened again so that a write to it fails instead of waiting. The flag belongs to what was opened, and
 * the descriptor that we were given may be shared with other processes. A file needs none of this. Where it cannot be opened
 * again (another system than Linux, a socket, a pipe of another user) the descriptor is used as it is.
 */
function openWithoutWaiting(fd: number): number {
  const found = fstatSync(fd);
  if (!found.isFIFO() && !found.isCharacterDevice()) return fd;
  try {
    const opened = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    if (fstatSync(opened).ino === found.ino) return opened;
    closeSync(opened);
    return fd;
  } catch {
    return fd;
  }
}
