// Non-streaming load. It checks only status, length and last byte of an answer, so that its own CPU stays small beside
// a gateway's.

import { runClosedLoop, type AnswerReader, type LoadResult } from "./closed-loop.ts";
import type { LoadOptions } from "./load-window.ts";

/** Asks for answers in one piece. */
export function runLoad<Metered>(options: LoadOptions<Metered>): Promise<LoadResult<Metered>> {
  return runClosedLoop(options, { stream: false, rampSeconds: 0, newReader: () => new WholeAnswerReader() });
}

const HEAD_END = "\r\n\r\n";
const HEAD_END_BYTES = Buffer.from(HEAD_END);
const CLOSING_BRACE = "}".charCodeAt(0);
/** An answer shorter than this cannot be the upstream's. */
const LEAST_BODY_BYTES = 512;

/** Reads answers with a content length. */
export class WholeAnswerReader implements AnswerReader {
  problem: string | null = null;
  ended = false;
  #head = ""; // A head that came in pieces.
  #missing: number | null = null; // Bytes of the body still to come; null while the head is incomplete.

  restart(): void {
    this.problem = null;
    this.ended = false;
    this.#head = "";
    this.#missing = null;
  }

  read(bytes: Buffer): number {
    let bodyBytes = bytes.length;
    if (this.#missing === null) {
      const headEnd = this.#head === "" ? bytes.indexOf(HEAD_END_BYTES) : -1;
      if (headEnd >= 0) {
        bodyBytes -= headEnd + HEAD_END.length;
        this.#missing = bodyLength(bytes.toString("latin1", 0, headEnd));
      } else {
        // Rare: the head arrived in parts. It is joined as text, where one character is one byte.
        this.#head += bytes.toString("latin1");
        const end = this.#head.indexOf(HEAD_END);
        if (end < 0) return 0;
        bodyBytes = this.#head.length - end - HEAD_END.length;
        this.#missing = bodyLength(this.#head.slice(0, end));
      }
      if (this.#missing === null) {
        this.problem = this.#head + bytes.toString("latin1");
        return 0;
      }
    }
    this.#missing -= bodyBytes;
    if (this.#missing > 0) return 0;
    if (this.#missing < 0 || bytes.at(-1) !== CLOSING_BRACE) {
      this.problem = "the body does not have its stated length";
      return 0;
    }
    this.ended = true;
    return 1;
  }
}

/** The length of the body of a good answer; null for any other answer. */
function bodyLength(head: string): number | null {
  if (!head.startsWith("HTTP/1.1 200 ")) return null;
  const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return length >= LEAST_BODY_BYTES ? length : null;
}
