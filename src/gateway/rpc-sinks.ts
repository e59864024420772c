// Where an answer goes when the caller is an RPC: parsed, and in a stream handed over as fast as the caller takes it.

import type { JsonValue } from "@bufbuild/protobuf";
import {
  type DomainError,
  type FieldProblem,
  InsufficientBalance,
  InternalError,
  UpstreamBusy,
  VALIDATION_REASONS,
  ValidationError,
} from "../kernel/errors.ts";
import { IDR, type Money, parseMoney } from "../kernel/money.ts";
import type { ChatSink } from "./chat.ts";
import { isObject } from "./request/field-rules.ts";
import { parseObject } from "./stream/chunk.ts";
import { AnswerCut } from "./stream/own-events.ts";
import { dataOf, splitEvents } from "./stream/sse.ts";

/** Chunks that may wait for a slow caller before the upstream is paused. */
const MAX_WAITING_CHUNKS = 64;

/** Takes an answer that is not streamed. */
export class WholeSink implements ChatSink {
  readonly #parts: Buffer[] = [];
  readonly #signal: AbortSignal;
  #hasEnded = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Whether the answer is whole. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The answer, once the gateway has ended. */
  json(): JsonValue {
    return JSON.parse(Buffer.concat(this.#parts).toString("utf8")) as JsonValue;
  }

  /** The gateway finds the members of an answer without parsing it all; callers of an RPC get it parsed. */
  accepts(answer: Buffer): boolean {
    return parseObject(answer.toString("utf8")) !== null;
  }

  start(): void {}
  write(bytes: Buffer): boolean {
    this.#parts.push(bytes);
    return true;
  }
  onDrained(callback: () => void): void {
    queueMicrotask(callback);
  }
  onGone(callback: () => void): void {
    whenAborted(this.#signal, callback);
  }
  end(): void {
    this.#hasEnded = true;
  }
}

/** Takes a stream of events. */
export class StreamSink implements ChatSink {
  readonly #signal: AbortSignal;
  #waiting: string[] = [];
  #isOver = false;
  #failure: unknown = null;
  #wake: (() => void) | null = null;
  #drained: (() => void) | null = null;
  #gone: (() => void) | null = null;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Ends the stream as the gateway's work on it ends. */
  follow(work: Promise<unknown>): void {
    void work.then(
      () => this.end(),
      (error: unknown) => this.#fail(error),
    );
  }

  /** Nobody takes chunks any more. */
  leave(): void {
    this.#gone?.();
  }

  /** The chunks, each parsed when it is taken. Errors: what the gateway threw, or what it told inside the stream. */
  async *events(): AsyncGenerator<JsonValue> {
    for (;;) {
      const chunks = this.#waiting;
      this.#waiting = [];
      for (const data of chunks) yield readChunk(data);
      if (this.#waiting.length > 0) continue;
      if (this.#failure !== null) throw this.#failure;
      if (this.#isOver) return;
      const drained = this.#drained;
      this.#drained = null;
      drained?.();
      await this.#more();
    }
  }

  start(): void {}
  write(bytes: Buffer): boolean {
    for (const event of splitEvents(bytes)) {
      const data = dataOf(event);
      if (data !== null && data !== "[DONE]") this.#waiting.push(data);
    }
    this.#wake?.();
    return this.#waiting.length < MAX_WAITING_CHUNKS;
  }
  onDrained(callback: () => void): void {
    this.#drained = callback;
  }
  onGone(callback: () => void): void {
    this.#gone = callback;
    whenAborted(this.#signal, callback);
  }
  end(): void {
    this.#isOver = true;
    this.#wake?.();
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#wake?.();
  }

  async #more(): Promise<void> {
    if (this.#waiting.length > 0 || this.#isOver || this.#failure !== null) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    await promise;
    this.#wake = null;
  }
}

/** Parses one chunk, which the gateway has found to be an object. Errors: the one that it carries, if it carries one. */
function readChunk(data: string): JsonValue {
  const chunk = parseObject(data);
  if (chunk === null) throw new InternalError();
  if (chunk["error"] !== undefined) throw errorOf(chunk["error"]);
  return chunk as JsonValue;
}

/** The error that the gateway told inside the stream. */
function errorOf(told: unknown): DomainError {
  const facts = isObject(told) ? told : {};
  if (facts["code"] === "internal_error") return new InternalError();
  const reason = VALIDATION_REASONS.find((each) => each === facts["code"]);
  if (reason !== undefined) return new ValidationError(problemsOf(facts["details"]), { reason });
  if (facts["code"] === "validation_error") return new ValidationError(problemsOf(facts["details"]));
  const { cost_idr: cost, message } = facts;
  if (typeof cost === "string" && typeof message === "string") return new AnswerCut({ message, costIdr: cost });
  const seconds = facts["retry_after"];
  if (facts["code"] !== "insufficient_balance")
    return new UpstreamBusy(typeof seconds === "number" ? seconds : undefined);
  const owed = facts["owed_idr"];
  return new InsufficientBalance({
    available: moneyOf(facts["available"]),
    needed: moneyOf(facts["needed"]),
    owed: owed === undefined ? undefined : moneyOf(owed),
  });
}

/** What was wrong with the request, as the gateway wrote it into its event. */
function problemsOf(details: unknown): FieldProblem[] {
  const list: readonly unknown[] = Array.isArray(details) ? details : [];
  return list
    .filter(isObject)
    .map(({ field, rule, message }) => ({ field: String(field), rule: String(rule), message: String(message) }));
}

function moneyOf(told: unknown): Money {
  return parseMoney(typeof told === "string" ? told : "0", IDR);
}

function whenAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener("abort", callback, { once: true });
}
