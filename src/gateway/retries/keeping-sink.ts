import type { DomainError } from "../../kernel/errors.ts";
import type { ChatAnswerHead, ChatSink, StreamEnding, WholeAnswer } from "../chat.ts";
import type { ShownFormat } from "../formats/shown-format.ts";
import type { KeptAnswer } from "./kept-answer.ts";
import { MAX_KEPT_BYTES } from "./retries.ts";

/**
 * Passes an answer on and keeps it for a retry. A client that leaves will probably retry, so the answer is read to its end as
 * if the client had stayed, unless it grows too large to be kept.
 */
export class KeepingSink implements ChatSink {
  readonly #sink: ChatSink;
  #head: Pick<ChatAnswerHead, "demo" | "origin"> = { demo: false, origin: "" };
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
    if (this.#parts !== null) this.#keep(head, false, { bytes: answer.json, format: answer.format });
    this.#sink.answer(head, answer);
  }

  begin(head: ChatAnswerHead): void {
    this.#head = head;
    this.#sink.begin(head);
  }

  answeredBy(origin: string): void {
    this.#head = { ...this.#head, origin };
    this.#sink.answeredBy?.(origin);
  }

  pass(bytes: Buffer, format: ShownFormat): boolean {
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
      this.#keep(this.#head, true, { bytes: Buffer.concat(this.#parts), format: ending.format });
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

  accepts(answer: Buffer, format: ShownFormat): boolean {
    return this.#sink.accepts?.(answer, format) !== false;
  }

  #keep(
    { demo, origin }: Pick<ChatAnswerHead, "demo" | "origin">,
    streamed: boolean,
    answer: Pick<KeptAnswer, "bytes" | "format">,
  ): void {
    this.#kept = { demo, origin, streamed, ...answer };
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
