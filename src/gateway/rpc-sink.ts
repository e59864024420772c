// The sink for callers of an RPC: it parses the answer, and returns the chunks of a stream as fast as the caller takes them.

import { type DomainError, InternalError } from "../kernel/errors.ts";
import type { ChatAnswerHead, ChatSink, ChunkFormat, StreamEnding, WholeAnswer } from "./chat.ts";
import type { JsonObject } from "./request/field-rules.ts";
import { parseObject } from "./stream/chunk.ts";

/** Chunks that may wait for a slow caller before the upstream is paused. */
const MAX_WAITING_CHUNKS = 64;

export class RpcSink implements ChatSink {
  readonly #signal: AbortSignal;
  #json: Buffer | null = null;
  #waiting: string[] = [];
  #isOver = false;
  #failure: unknown = null;
  #wake: (() => void) | null = null;
  #drained: (() => void) | null = null;
  #gone: (() => void) | null = null;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** The answer that is not streamed; null where the gateway ended without one, because the caller had left. */
  wholeAnswer(): JsonObject | null {
    return this.#json === null ? null : readObject(this.#json.toString("utf8"));
  }

  /** Ends the stream as the gateway's work on it ends. */
  follow(work: Promise<unknown>): void {
    void work.then(
      () => this.#stop(null),
      (error: unknown) => this.#stop(error),
    );
  }

  /** The caller takes no more chunks. */
  leave(): void {
    this.#gone?.();
  }

  /** The chunks of a stream, each parsed when it is taken. Errors: those of the gateway or of the stream. */
  async *chunks(): AsyncGenerator<JsonObject> {
    for (;;) {
      const chunks = this.#waiting;
      this.#waiting = [];
      for (const json of chunks) yield readObject(json);
      if (this.#waiting.length > 0) continue;
      if (this.#failure !== null) throw this.#failure;
      if (this.#isOver) return;
      const drained = this.#drained;
      this.#drained = null;
      drained?.();
      await this.#more();
    }
  }

  /** The gateway finds the members of an answer without parsing it all; callers of an RPC get it parsed. */
  accepts(answer: Buffer): boolean {
    return parseObject(answer.toString("utf8")) !== null;
  }

  answer(_head: ChatAnswerHead, { json }: WholeAnswer): void {
    this.#json = json;
  }

  begin(): void {}

  pass(bytes: Buffer, format: ChunkFormat): boolean {
    this.#add(format.chunksIn(bytes));
    return this.#waiting.length < MAX_WAITING_CHUNKS;
  }

  keepAlive(): void {}

  end({ passed, format, closing }: StreamEnding): void {
    this.#add([...format.chunksIn(passed), ...closing]);
    this.#stop(null);
  }

  fail(error: DomainError): void {
    this.#stop(error);
  }

  onDrained(callback: () => void): void {
    this.#drained = callback;
  }

  onGone(callback: () => void): void {
    this.#gone = callback;
    if (this.#signal.aborted) callback();
    else this.#signal.addEventListener("abort", callback, { once: true });
  }

  #add(chunks: readonly string[]): void {
    for (const json of chunks) this.#waiting.push(json);
    this.#wake?.();
  }

  #stop(failure: unknown): void {
    this.#isOver = true;
    this.#failure ??= failure;
    this.#wake?.();
  }

  async #more(): Promise<void> {
    if (this.#waiting.length > 0 || this.#isOver) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = null;
  }
}

/** Parses what the gateway has found to be an object. */
function readObject(json: string): JsonObject {
  const object = parseObject(json);
  if (object === null) throw new InternalError();
  return object;
}
