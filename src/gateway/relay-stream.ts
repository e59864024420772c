// Relays one stream of events as bytes and finds in passing what billing needs: the usage, and where the answer ends. The
// frames from the last finish_reason on are held back, because clients take the answer for complete there.

import type { FailedAttempt } from "./call-upstream.ts";
import type { ChatSink } from "./chat.ts";
import { type ChunkMeaning, isWorthParsing, meaningOf } from "./chunk.ts";
import { failureOfError, readAnswer } from "./collect-answer.ts";
import { RelayedOutput } from "./relayed-output.ts";
import { isObject, type JsonObject } from "./request/field-rules.ts";
import { dataOf, EventCutter, MAX_EVENT_BYTES, splitEvents } from "./sse.ts";
import { chunkEventsOf } from "./unstreamed-answer.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "./upstreams/chat-upstream.ts";

/** What may come between the end of an answer and the end of its stream. */
const MAX_HELD_BYTES = 1024 * 1024;
const LOOKS_LIKE_EVENTS = /^\s*(?:data|event|id|retry)?:/;

/** How an attempt ended that reached the client, or would have. */
export type StreamEnd =
  /** The answer is complete. `held`: its last frames, without usage chunks and `[DONE]`. */
  | {
      readonly kind: "complete";
      readonly held: readonly Buffer[];
      readonly usage: JsonObject | null;
      /** The upstream's own usage chunk, null where it sent none apart from the answer. */
      readonly usageChunk: string | null;
      readonly lastChunk: JsonObject;
    }
  /** It broke off after something had reached the client. */
  | { readonly kind: "broken"; readonly failure: UpstreamFailure }
  | { readonly kind: "gone" };

export class StreamRelay implements UpstreamListener {
  readonly ended: Promise<StreamEnd | FailedAttempt>;
  readonly output = new RelayedOutput();
  upstreamRequestId: string | null = null;
  readonly #resolve: (end: StreamEnd | FailedAttempt) => void;
  readonly #sink: ChatSink;
  readonly #choices: number;
  readonly #begin: () => void;
  readonly #cutter = new EventCutter();
  readonly #finished = new Set<number>();
  readonly #held: Buffer[] = [];
  readonly #json: Buffer[] = [];
  #call: UpstreamCall | null = null;
  #isEventStream: boolean | null = null;
  #hasBegun = false;
  #isHolding = false;
  #isPaused = false;
  #isOver = false;
  #heldBytes = 0;
  #jsonBytes = 0;
  #usage: JsonObject | null = null;
  #usageChunk: string | null = null;
  #lastChunk: JsonObject = {};

  /** `begin` is called once, before the first bytes go to the sink. */
  constructor(facts: { sink: ChatSink; choices: number; begin: () => void }) {
    this.#sink = facts.sink;
    this.#choices = facts.choices;
    this.#begin = facts.begin;
    const { promise, resolve } = Promise.withResolvers<StreamEnd | FailedAttempt>();
    this.ended = promise;
    this.#resolve = resolve;
  }

  /** The call that is heard here: it is paused while the client is slow, and aborted when the stream goes wrong. */
  attach(call: UpstreamCall): void {
    this.#call = call;
  }

  onAnswer(answer: { readonly isEventStream: boolean; readonly upstreamRequestId: string | null }): void {
    this.upstreamRequestId = answer.upstreamRequestId;
    if (answer.isEventStream) this.#isEventStream = true;
  }

  onData(packet: Buffer): void {
    if (this.#isOver) return;
    this.#isEventStream ??= LOOKS_LIKE_EVENTS.test(packet.toString("latin1", 0, 64));
    if (!this.#isEventStream) {
      this.#json.push(packet);
      this.#jsonBytes += packet.length;
      if (this.#jsonBytes > MAX_EVENT_BYTES) this.#fail(cut("the answer is too large"));
      return;
    }
    const events = this.#cutter.push(packet);
    if (this.#cutter.restLength > MAX_EVENT_BYTES) this.#fail(cut("an event is too large"));
    else if (events !== null) this.#take(events);
  }

  onEnd(): void {
    if (this.#isOver) return;
    const rest = this.#cutter.takeRest();
    if (rest !== null && rest.includes("data")) this.#takeEvent(Buffer.concat([rest, Buffer.from("\n\n")]), true);
    if (this.#isOver) return;
    if (this.#isHolding) this.#complete();
    else if (this.#hasBegun || this.output.bytes > 0) this.#fail(cut("the stream ended before the answer did"));
    else this.#takeUnstreamed(rest === null ? Buffer.concat(this.#json) : rest);
  }

  onFailure(failure: UpstreamFailure): void {
    // The answer was complete; only what stands behind it is missing.
    if (this.#isHolding) this.#complete();
    else this.#fail(failure);
  }

  /** The client has left: nothing more is written. */
  onClientGone(): void {
    this.#end({ kind: "gone" });
  }

  #take(events: Buffer): void {
    if (this.#hasBegun && !this.#isHolding && !isWorthParsing(events)) {
      this.#pass(events);
      return;
    }
    for (const event of splitEvents(events)) {
      if (!this.#isOver) this.#takeEvent(event, false);
    }
  }

  #takeEvent(event: Buffer, isLast: boolean): void {
    const data = dataOf(event);
    const meaning = meaningOf(data);
    switch (meaning.kind) {
      case "done":
        if (this.#hasBegun || this.#isHolding) this.#complete();
        else this.#fail(cut("the stream held no answer"));
        return;
      case "error":
        this.#fail(failureOfError(isObject(meaning.error) ? meaning.error : null));
        return;
      case "opaque":
        // Comments before the answer only keep the connection alive; data before it that is no chunk is no answer.
        if (this.#hasBegun && !isLast) this.#passOrHold(event);
        else if (!this.#hasBegun && data !== null && data.trim() !== "") this.#fail(cut("the stream held no answer"));
        return;
      case "chunk":
        this.#takeChunk(event, data ?? "", meaning);
    }
  }

  #takeChunk(event: Buffer, data: string, meaning: Extract<ChunkMeaning, { kind: "chunk" }>): void {
    if (meaning.finishReasons.includes("error")) {
      this.#fail(cut("the upstream finished with an error"));
      return;
    }
    this.#usage = meaning.usage ?? this.#usage;
    if (meaning.isUsageOnly) {
      this.#usageChunk = data;
      return;
    }
    this.#lastChunk = meaning.chunk;
    for (const index of meaning.finished) this.#finished.add(index);
    if (this.#finished.size >= this.#choices) this.#isHolding = true;
    this.#passOrHold(event);
  }

  #passOrHold(event: Buffer): void {
    if (!this.#isHolding) {
      this.#pass(event);
      return;
    }
    this.output.add(event);
    this.#held.push(event);
    this.#heldBytes += event.length;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#fail(cut("too much came behind the end of the answer"));
  }

  #pass(events: Buffer): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#begin();
    }
    this.output.add(events);
    if (this.#sink.write(events) || this.#isPaused) return;
    this.#isPaused = true;
    this.#call?.pause();
    this.#sink.onDrained(() => {
      this.#isPaused = false;
      this.#call?.resume();
    });
  }

  /** A stream was asked for and one JSON text came: it is told as one chunk. */
  #takeUnstreamed(json: Buffer): void {
    const answer = readAnswer(json);
    if (answer.kind !== "complete") {
      this.#fail(answer.kind === "failed" ? answer.failure : cut("the stream held no answer"));
      return;
    }
    const { chunk, event } = chunkEventsOf(answer.json);
    this.#usage = isObject(answer.usage) ? answer.usage : null;
    this.#lastChunk = chunk;
    this.#isHolding = true;
    this.#passOrHold(event);
    this.#complete();
  }

  #complete(): void {
    this.#end({
      kind: "complete",
      held: this.#held,
      usage: this.#usage,
      usageChunk: this.#usageChunk,
      lastChunk: this.#lastChunk,
    });
  }

  #fail(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    this.#call?.abort();
    this.#end({ kind: this.#hasBegun ? "broken" : "failed", failure });
  }

  #end(end: StreamEnd | FailedAttempt): void {
    this.#isOver = true;
    // What may still come is not wanted, but a call left paused would keep its connection for ever.
    if (this.#isPaused) this.#call?.resume();
    this.#resolve(end);
  }
}

function cut(reason: string): UpstreamFailure {
  return { kind: "perhaps_billed", reason };
}
