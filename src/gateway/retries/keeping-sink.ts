import type { DomainError } from "../../kernel/errors.ts";
import type { ChatAnswerHead, ChatSink, ChunkFormat, StreamEnding, WholeAnswer } from "../chat.ts";
import type { KeptAnswer } from "./kept-answer.ts";
import { MAX_KEPT_BYTES } from "./retries.ts";

/**
 * Passes an answer on and keeps it for a retry. A client that leaves will probably retry, so the answer is read to its end as
 * if the client had stayed, unless it grows too large to be kept.
 */
export class KeepingSink implements ChatSink {
  readonly #sink: ChatSink;
  #isDemo = false;
  #parts: Buffer[] | null = [];
  #bytes = 0;
  #kept: KeptAnswer | null = null;
  #isClientGone = false;
  #leave: (() => void) | null = null;
  #drained: (() => void) | null = null;

  constructor(sink: ChatSink) {
    this.#sink = sink;
    sink.onGone(() => {
      this.#isClientGone = true;
      // Nothing waits for a client that has left.
      this.#wake();
      if (this.#parts === null) this.#leave?.();
    });
  }

  /** The whole answer; null where it has not ended or is too large. */
  get kept(): KeptAnswer | null {
    return this.#kept;
  }

  answer(head: ChatAnswerHead, answer: WholeAnswer): void {
    this.#remember(answer.json);
    if (this.#parts !== null) this.#kept = { streamed: false, demo: head.demo, json: answer.json };
    this.#sink.answer(head, answer);
  }

  begin(head: ChatAnswerHead): void {
    this.#isDemo = head.demo;
    this.#sink.begin(head);
  }

  pass(bytes: Buffer, format: ChunkFormat): boolean {
    this.#remember(bytes);
    const isWelcome = this.#sink.pass(bytes, format);
    return isWelcome || this.#isClientGone;
  }

  keepAlive(): void {
    this.#sink.keepAlive();
  }

  end(ending: StreamEnding): void {
    this.#remember(ending.passed);
    if (this.#parts !== null) {
      const passed = Buffer.concat(this.#parts);
      this.#kept = { streamed: true, demo: this.#isDemo, passed, closing: ending.closing };
    }
    this.#sink.end(ending);
  }

  fail(error: DomainError): void {
    this.#sink.fail(error);
  }

  onDrained(callback: () => void): void {
    this.#drained = callback;
    this.#sink.onDrained(() => this.#wake());
  }

  onGone(callback: () => void): void {
    this.#leave = callback;
    if (this.#isClientGone && this.#parts === null) callback();
  }

  accepts(answer: Buffer): boolean {
    return this.#sink.accepts?.(answer) !== false;
  }

  #remember(bytes: Buffer): void {
    if (this.#parts === null) return;
    this.#bytes += bytes.length;
    if (this.#bytes <= MAX_KEPT_BYTES) {
      this.#parts.push(bytes);
      return;
    }
    this.#parts = null;
    if (this.#isClientGone) this.#leave?.();
  }

  #wake(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }
}
