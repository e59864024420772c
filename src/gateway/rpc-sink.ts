// The sink for callers of an RPC: it parses the answer, and returns the chunks of a stream as fast as the caller takes them.

import { type DomainError, InternalError } from "../kernel/errors.ts";
import { CallerQueue } from "./caller-queue.ts";
import type { ChatAnswerHead, ChatSink, StreamEnding, WholeAnswer } from "./chat.ts";
import type { ShownFormat } from "./formats/shown-format.ts";
import type { JsonObject } from "./request/field-rules.ts";
import { parseObject } from "./request/parse-object.ts";

export class RpcSink implements ChatSink {
  readonly #queue: CallerQueue<string>;
  #json: Buffer | null = null;

  constructor(signal: AbortSignal) {
    this.#queue = new CallerQueue(signal);
  }

  /** The answer that is not streamed; null where the gateway ended without one, because the caller had left. */
  wholeAnswer(): JsonObject | null {
    return this.#json === null ? null : readObject(this.#json.toString("utf8"));
  }

  /** Ends the stream as the gateway's work on it ends. */
  follow(work: Promise<unknown>): void {
    this.#queue.follow(work);
  }

  /** The caller takes no more chunks. */
  leave(): void {
    this.#queue.leave();
  }

  /** The chunks of a stream, each parsed when it is taken. Errors: those of the gateway or of the stream. */
  async *chunks(): AsyncGenerator<JsonObject> {
    for await (const json of this.#queue.taken()) yield readObject(json);
  }

  /** The gateway finds the members of an answer without parsing it all; callers of an RPC get it parsed. */
  accepts(answer: Buffer): boolean {
    return parseObject(answer.toString("utf8")) !== null;
  }

  answer(_head: ChatAnswerHead, { json }: WholeAnswer): void {
    this.#json = json;
  }

  begin(): void {}

  pass(bytes: Buffer, format: ShownFormat): boolean {
    return this.#queue.add(format.chunksIn(bytes));
  }

  keepAlive(): void {}

  end({ passed, format }: StreamEnding): void {
    this.#queue.add(format.chunksIn(passed));
    this.#queue.stop(null);
  }

  fail(error: DomainError): void {
    this.#queue.stop(error);
  }

  onDrained(callback: () => void): void {
    this.#queue.onDrained(callback);
  }

  onGone(callback: () => void): void {
    this.#queue.onGone(callback);
  }
}

/** Parses what the gateway has found to be an object. */
function readObject(json: string): JsonObject {
  const object = parseObject(json);
  if (object === null) throw new InternalError();
  return object;
}
