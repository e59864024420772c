// Relays one stream of events as bytes and finds in passing what billing needs: the usage, and where the answer ends. The
// frames from the last finish_reason on are held back, because clients take the answer for complete there. What goes beyond
// what is held for the request waits. After the client has left the stream is read on for its usage, and goes nowhere.

import { failpoint } from "../kernel/failpoint.ts";
import { AnswerEnd } from "./answer-end.ts";
import type { FailedAttempt } from "./call-upstream.ts";
import type { ChatSink } from "./chat.ts";
import { type ChunkMeaning, isWorthParsing } from "./chunk.ts";
import { usageChunkOf, withoutUsage } from "./chunk-usage.ts";
import { failureOfError, readAnswer } from "./collect-answer.ts";
import { type ReadEvent, readEvent } from "./read-event.ts";
import type { RelayedOutput } from "./relayed-output.ts";
import { isObject, type JsonObject } from "./request/field-rules.ts";
import type { SlabGate } from "./slab-gate.ts";
import { beginsAsEvents, EventCutter, MAX_EVENT_BYTES, splitEvents } from "./sse.ts";
import type { StreamEnd } from "./stream-end.ts";
import { chunkEventsOf } from "./unstreamed-answer.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "./upstreams/chat-upstream.ts";
import { WaitingPackets } from "./waiting-packets.ts";

export type StreamRelayFacts = {
  readonly sink: ChatSink;
  /** Called once, before the first bytes go to the sink. */
  readonly begin: () => void;
  readonly output: RelayedOutput;
  /** Null: all that the answer can cost is held. */
  readonly gate: SlabGate | null;
};

export class StreamRelay implements UpstreamListener {
  readonly ended: Promise<StreamEnd | FailedAttempt>;
  upstreamRequestId: string | null = null;
  readonly #resolve: (end: StreamEnd | FailedAttempt) => void;
  readonly #facts: StreamRelayFacts;
  readonly #cutter = new EventCutter();
  readonly #end = new AnswerEnd();
  readonly #waiting = new WaitingPackets();
  readonly #json: Buffer[] = [];
  #call: UpstreamCall | null = null;
  #isEventStream: boolean | null = null;
  #hasBegun = false;
  #isClientSlow = false;
  #isDraining = false;
  #isOver = false;
  #jsonBytes = 0;
  #usage: JsonObject | null = null;
  #usageChunk: string | null = null;
  #lastChunk: JsonObject = {};

  constructor(facts: StreamRelayFacts) {
    this.#facts = facts;
    const { promise, resolve } = Promise.withResolvers<StreamEnd | FailedAttempt>();
    this.ended = promise;
    this.#resolve = resolve;
  }

  /** The call that is heard here: it is paused while the client is slow. Who waits for the end lets it go. */
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
    if (this.#waiting.isWaiting) {
      this.#waiting.push(packet);
      return;
    }
    this.#isEventStream ??= beginsAsEvents(packet);
    if (this.#isEventStream === null) return;
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
    if (this.#waiting.isWaiting) {
      this.#waiting.end(() => this.onEnd());
      return;
    }
    const rest = this.#cutter.takeRest();
    if (rest !== null && rest.includes("data")) {
      this.#takeEvent(readEvent(Buffer.concat([rest, Buffer.from("\n\n")])), true);
    }
    if (this.#isOver) return;
    if (this.#end.isReached) this.#complete();
    else if (this.#hasBegun) this.#fail(cut("the stream ended before the answer did"));
    else this.#takeUnstreamed(rest === null ? Buffer.concat(this.#json) : rest);
  }

  onFailure(failure: UpstreamFailure): void {
    // What came before it is the client's, once it is held for.
    if (this.#waiting.isWaiting) this.#waiting.end(() => this.#breakOff(failure));
    else this.#breakOff(failure);
  }

  /** The client has left: nothing more is written, and the stream is read on. */
  onClientGone(): void {
    this.#isDraining = true;
    this.#facts.gate?.close();
    if (this.#waiting.isWaiting) this.onGivenUp();
    else if (this.#isClientSlow) this.#call?.resume();
  }

  /** Nobody waits for the end any more. */
  onGivenUp(): void {
    this.#finish({ kind: "gone", failure: null });
  }

  #take(events: Buffer): void {
    const { gate } = this.#facts;
    const isPlain = this.#hasBegun && !this.#end.isReached && this.#usage === null && !isWorthParsing(events);
    if (isPlain && gate?.passes(events) !== false) {
      this.#pass(events);
      return;
    }
    const apart = splitEvents(events);
    for (const [index, event] of apart.entries()) {
      if (this.#isOver) return;
      const read = readEvent(event);
      // Only text is held for: what else an upstream says, such as the usage or the end, waits for nobody's money.
      if (gate !== null && read.text !== "" && !gate.passes(event)) {
        const rest = Buffer.concat(apart.slice(index));
        this.#wait(gate, event, () => this.#take(rest));
        return;
      }
      this.#takeEvent(read, false);
    }
  }

  #takeEvent(read: ReadEvent, isLast: boolean): void {
    const { event, data, meaning } = read;
    switch (meaning.kind) {
      case "done":
        if (this.#hasBegun || this.#end.isReached) this.#complete();
        else this.#fail(cut("the stream held no answer"));
        return;
      case "error":
        this.#breakOff(failureOfError(isObject(meaning.error) ? meaning.error : null));
        return;
      case "opaque":
        // Comments before the answer only keep the connection alive; data before it that is no chunk is no answer.
        if (this.#hasBegun && !isLast) this.#passOrKeep(event);
        else if (!this.#hasBegun && data !== null && data.trim() !== "") this.#fail(cut("the stream held no answer"));
        return;
      case "chunk":
        this.#takeChunk(read, meaning);
    }
  }

  #takeChunk({ event, data, text }: ReadEvent, meaning: Extract<ChunkMeaning, { kind: "chunk" }>): void {
    const released = this.#end.release(meaning.choices);
    if (released !== null) this.#write(released);
    if (meaning.finishReasons.includes("error")) {
      this.#breakOff(cut("the upstream finished with an error"));
      return;
    }
    // A usage that more of the answer came behind is not the whole of it.
    const isStale = text !== "" && !this.#end.isReached;
    this.#usage = meaning.usage ?? (isStale ? null : this.#usage);
    if (meaning.isUsageOnly) {
      this.#usageChunk = usageChunkOf(data ?? "");
      return;
    }
    const shown = meaning.usage === null ? event : withoutUsage(event, data ?? "", meaning.chunk);
    if (shown === null) {
      this.#breakOff(cut("a chunk is nested too deep"));
      return;
    }
    this.#lastChunk = meaning.chunk;
    this.#end.note(meaning);
    this.#passOrKeep(shown);
  }

  #passOrKeep(event: Buffer): void {
    if (!this.#end.isReached) {
      this.#pass(event);
      return;
    }
    if (!this.#isDraining) this.#facts.output.add(event);
    if (!this.#end.keep(event)) this.#breakOff(cut("too much came behind the end of the answer"));
  }

  #pass(events: Buffer): void {
    if (!this.#isDraining) this.#facts.output.add(events);
    this.#write(events);
  }

  #write(events: Buffer): void {
    const { begin, sink } = this.#facts;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (!this.#isDraining) begin();
    }
    if (this.#isDraining || sink.write(events) || this.#isClientSlow) return;
    this.#isClientSlow = true;
    this.#call?.pause();
    sink.onDrained(() => {
      this.#isClientSlow = false;
      if (!this.#waiting.isWaiting) this.#call?.resume();
    });
  }

  /** Lets events wait until more is held, and with them the upstream. */
  #wait(gate: SlabGate, event: Buffer, goOn: () => void): void {
    // Nothing more is held for what nobody reads.
    if (this.#isDraining) {
      this.onGivenUp();
      return;
    }
    this.#waiting.begin(goOn);
    this.#call?.pause();
    void this.#goOnOnceOpen(gate, event);
  }

  async #goOnOnceOpen(gate: SlabGate, event: Buffer): Promise<void> {
    try {
      await gate.whenOpen(event);
    } catch (reason) {
      if (this.#end.isReached) this.#complete();
      else this.#finish({ kind: "stopped", reason });
      return;
    }
    if (this.#isOver) return;
    this.#waiting.resume((packet) => this.onData(packet));
    if (!this.#waiting.isWaiting && !this.#isClientSlow) this.#call?.resume();
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
    const { gate } = this.#facts;
    const tell = (): void => {
      this.#end.reach();
      this.#passOrKeep(event);
      this.#complete();
    };
    if (gate === null || this.#isDraining || gate.passes(event)) tell();
    else this.#wait(gate, event, tell);
  }

  #complete(): void {
    this.#finish({
      kind: "complete",
      held: this.#end.frames,
      usage: this.#usage,
      usageChunk: this.#usageChunk,
      lastChunk: this.#lastChunk,
      drained: this.#isDraining,
    });
  }

  /** What goes wrong behind the end of a complete answer takes nothing from it: it is neither called again nor free. */
  #breakOff(failure: UpstreamFailure): void {
    if (this.#isOver) return;
    if (!this.#end.isReached) {
      this.#fail(failure);
      return;
    }
    // There may be no end to what is wrong.
    this.#call?.abort();
    this.#complete();
  }

  #fail(failure: UpstreamFailure): void {
    this.#finish({ kind: this.#isDraining ? "gone" : this.#hasBegun ? "broken" : "failed", failure });
  }

  #finish(end: StreamEnd | FailedAttempt): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#facts.gate?.close();
    this.#resolve(end);
  }
}

function cut(reason: string): UpstreamFailure {
  return { kind: "perhaps_billed", reason };
}
