// Relays one stream of events as bytes and finds in passing what billing needs: the usage, and where the answer ends. The
// frames from the last finish_reason on are held back, because clients take the answer for complete there.

import { failpoint } from "../kernel/failpoint.ts";
import type { FailedAttempt } from "./call-upstream.ts";
import type { ChatSink } from "./chat.ts";
import { type ChunkMeaning, isWorthParsing, meaningOf } from "./chunk.ts";
import { usageChunkOf, withoutUsage } from "./chunk-usage.ts";
import { failureOfError, readAnswer } from "./collect-answer.ts";
import { RelayedOutput } from "./relayed-output.ts";
import { isObject, type JsonObject } from "./request/field-rules.ts";
import { dataOf, EventCutter, MAX_EVENT_BYTES, splitEvents } from "./sse.ts";
import { chunkEventsOf } from "./unstreamed-answer.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "./upstreams/chat-upstream.ts";

/** What may come between the end of an answer and the end of its stream. */
const MAX_HELD_BYTES = 1024 * 1024;
/** How a line of an event stream begins: `data`, `event`, `id`, `retry`, or a comment. JSON texts begin otherwise. */
const FIRST_BYTES_OF_EVENTS: ReadonlySet<number> = new Set(Buffer.from("deir:"));
const SPACE = 0x20;

/** How an attempt ended that reached the client, or would have. */
export type StreamEnd =
  /** The answer is complete. `held`: its last frames, without usage chunks and `[DONE]`. */
  | {
      readonly kind: "complete";
      readonly held: readonly Buffer[];
      readonly usage: JsonObject | null;
      /** The upstream's own usage chunk, safe to write again; null where it sent none such. */
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
  readonly #begin: () => void;
  readonly #cutter = new EventCutter();
  /** The choices spoken of while it mattered. Not how many were asked for: an upstream may write fewer. */
  readonly #seen = new Set<number>();
  readonly #finished = new Set<number>();
  #held: Buffer[] = [];
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
  constructor(facts: { sink: ChatSink; begin: () => void }) {
    this.#sink = facts.sink;
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
    if (this.#hasBegun) failpoint?.("after-first-byte");
    // The first byte that is not white space tells, however the packets were cut.
    if (this.#isEventStream === null) {
      const first = packet.find((byte) => byte > SPACE);
      if (first === undefined) return;
      this.#isEventStream = FIRST_BYTES_OF_EVENTS.has(first);
    }
    if (!this.#isEventStream) {
      this.#json.push(packet);
      this.#jsonBytes += packet.length;
      if (this.#jsonBytes > MAX_EVENT_BYTES) this.#fail(cut("the answer is too large"));
      return;
    }
    const events = this.#cutter.push(packet);
    if (this.#cutter.restLength > MAX_EVENT_BYTES) this.#breakOff(cut("an event is too large"));
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
    this.#breakOff(failure);
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
        this.#breakOff(failureOfError(isObject(meaning.error) ? meaning.error : null));
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
    const goesOn = meaning.choices.some((index) => !this.#finished.has(index));
    if (goesOn) this.#release();
    if (meaning.finishReasons.includes("error")) {
      this.#breakOff(cut("the upstream finished with an error"));
      return;
    }
    this.#usage = meaning.usage ?? this.#usage;
    if (meaning.isUsageOnly) {
      this.#usageChunk = usageChunkOf(data);
      return;
    }
    const shown = meaning.usage === null ? event : withoutUsage(event, data, meaning.chunk);
    if (shown === null) {
      this.#breakOff(cut("a chunk is nested too deep"));
      return;
    }
    this.#lastChunk = meaning.chunk;
    for (const index of meaning.choices) this.#seen.add(index);
    for (const index of meaning.finished) this.#finished.add(index);
    if (this.#finished.size > 0 && this.#finished.size === this.#seen.size) this.#isHolding = true;
    this.#passOrHold(shown);
  }

  /** What looked like the end of the answer was the end of one choice: another begins. */
  #release(): void {
    if (!this.#isHolding) return;
    const held = Buffer.concat(this.#held);
    this.#isHolding = false;
    this.#held = [];
    this.#heldBytes = 0;
    this.#write(held);
  }

  #passOrHold(event: Buffer): void {
    if (!this.#isHolding) {
      this.#pass(event);
      return;
    }
    this.output.add(event);
    this.#held.push(event);
    this.#heldBytes += event.length;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#breakOff(cut("too much came behind the end of the answer"));
  }

  #pass(events: Buffer): void {
    this.output.add(events);
    this.#write(events);
  }

  #write(events: Buffer): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      this.#begin();
    }
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

  /** What goes wrong behind the end of a complete answer takes nothing from it: it is neither called again nor free. */
  #breakOff(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    if (!this.#isHolding) {
      this.#fail(failure);
      return;
    }
    this.#call?.abort();
    this.#complete();
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
