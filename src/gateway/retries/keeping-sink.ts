import type { ChatAnswerHead, ChatSink } from "../chat.ts";
import { type KeptAnswer, MAX_KEPT_BYTES } from "./retries.ts";

/**
 * Passes an answer on and remembers it for a retry. A client that leaves will probably retry, so the answer is made to its end as
 * if the client had stayed, for as long as it is not too large to be kept.
 */
export class KeepingSink implements ChatSink {
  readonly #sink: ChatSink;
  #head: ChatAnswerHead | null = null;
  #parts: Buffer[] | null = [];
  #bytes = 0;
  #hasEnded = false;
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
  get answer(): KeptAnswer | null {
    if (this.#head === null || this.#parts === null || !this.#hasEnded) return null;
    return { streamed: this.#head.streamed, demo: this.#head.demo, bytes: Buffer.concat(this.#parts) };
  }

  start(head: ChatAnswerHead): void {
    this.#head = head;
    this.#sink.start(head);
  }

  write(bytes: Buffer): boolean {
    this.#remember(bytes);
    const isWelcome = this.#sink.write(bytes);
    return isWelcome || this.#isClientGone;
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

  end(): void {
    this.#hasEnded = true;
    this.#sink.end();
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
