// Follows one SSE answer through HTTP's chunked framing, however it is cut into reads, and keeps only its end.

import type { AnswerReader } from "./closed-loop.ts";

// Enough for the events that end a stream: finish reason, usage, [DONE]. The last one of Responses repeats the whole text.
const TAIL_BYTES = 4096;
// The longest head or chunk line that is waited for; more is not a stream.
const LONGEST_LINE = 16_384;
const LINE_FEED = 10;
const HEAD_END = "\r\n\r\n";
const EVENT_END = Buffer.from("\n\n");

/** Problems of streams that ended as HTTP has it, but not as their protocol has it. */
export const TRUNCATED = "a stream ended without its last event";
export const WITHOUT_USAGE = "a stream had no usage";

/** The end of a stream in each protocol, and what its usage has. */
const ENDS = [
  { mark: "data: [DONE]", usage: '"prompt_tokens"' },
  { mark: '"message_stop"', usage: '"output_tokens"' },
  { mark: '"response.completed"', usage: '"output_tokens"' },
];

type Part = "head" | "size" | "data" | "ended";

/** Counts the events of one stream after the other. */
export class StreamReader implements AnswerReader {
  problem: string | null = null;
  #part: Part = "head";
  #line = "";
  #dataLeft = 0;
  #afterLineFeed = false;
  readonly #tail = Buffer.alloc(TAIL_BYTES);
  #tailBytes = 0;

  get ended(): boolean {
    return this.#part === "ended";
  }

  restart(): void {
    this.problem = null;
    this.#part = "head";
    this.#line = "";
    this.#afterLineFeed = false;
    this.#tailBytes = 0;
  }

  read(bytes: Buffer): number {
    let events = 0;
    let at = 0;
    while (at < bytes.length && this.problem === null) {
      if (this.#part === "ended") this.problem = "bytes after the end of a stream";
      else if (this.#part === "head") at = this.#readHead(bytes, at);
      else if (this.#part === "size") at = this.#readSize(bytes, at);
      else {
        const end = Math.min(bytes.length, at + this.#dataLeft);
        const data = bytes.subarray(at, end);
        events += this.#countEvents(data);
        this.#keepTail(data);
        this.#dataLeft -= data.length;
        at = end;
        if (this.#dataLeft === 0) this.#part = "size";
      }
    }
    return events;
  }

  #end(): void {
    this.#part = "ended";
    const tail = this.#tail.toString("latin1", 0, this.#tailBytes);
    const end = ENDS.find(({ mark }) => tail.includes(mark));
    if (end === undefined) this.problem = TRUNCATED;
    else if (!tail.includes(end.usage)) this.problem = WITHOUT_USAGE;
  }

  #readHead(bytes: Buffer, from: number): number {
    const before = this.#line.length;
    this.#line += bytes.toString("latin1", from);
    const end = this.#line.indexOf(HEAD_END);
    if (end < 0) {
      if (this.#line.length > LONGEST_LINE) this.problem = "the head of the answer does not end";
      return bytes.length;
    }
    const head = this.#line.slice(0, end);
    if (!head.startsWith("HTTP/1.1 200 ") || !/transfer-encoding: *chunked/i.test(head)) this.problem = this.#line;
    this.#line = "";
    this.#part = "size";
    return from + end + HEAD_END.length - before;
  }

  // A chunk's data is followed by a line end, which is read here as an empty line before the next size.
  #readSize(bytes: Buffer, from: number): number {
    const end = bytes.indexOf(LINE_FEED, from);
    if (end < 0) {
      this.#line += bytes.toString("latin1", from);
      if (this.#line.length > LONGEST_LINE) this.problem = "a chunk's size does not end";
      return bytes.length;
    }
    const line = (this.#line + bytes.toString("latin1", from, end)).trim();
    this.#line = "";
    if (line === "") {
      if (this.#dataLeft < 0) this.#end();
      this.#dataLeft = 0;
      return end + 1;
    }
    const size = Number.parseInt(line, 16);
    if (Number.isNaN(size)) this.problem = `not a chunk size: ${line}`;
    else if (size > 0) {
      this.#dataLeft = size;
      this.#part = "data";
    } else this.#dataLeft = -1; // The last chunk; the empty line after it ends the answer.
    return end + 1;
  }

  #countEvents(data: Buffer): number {
    let events = this.#afterLineFeed && data[0] === LINE_FEED ? 1 : 0;
    for (let at = data.indexOf(EVENT_END); at >= 0; at = data.indexOf(EVENT_END, at + 2)) events++;
    this.#afterLineFeed = data[data.length - 1] === LINE_FEED && data[data.length - 2] !== LINE_FEED;
    return events;
  }

  #keepTail(data: Buffer): void {
    const kept = Math.min(this.#tailBytes, Math.max(0, TAIL_BYTES - data.length));
    if (kept < this.#tailBytes) this.#tail.copyWithin(0, this.#tailBytes - kept, this.#tailBytes);
    const added = data.subarray(Math.max(0, data.length - TAIL_BYTES));
    added.copy(this.#tail, kept);
    this.#tailBytes = kept + added.length;
  }
}
