// Relays one stream of events and finds the facts for billing on the way: the usage, and the end of the answer. Chunks are sent
// on unchanged but for our id and model. The frames from the last finish_reason on are kept back, because clients take the
// answer for complete there. Output beyond the hold of the request waits, and output beyond its bound ends the stream. After
// the client has left, the stream is read on for its usage and is not written.

import { failpoint } from "../../kernel/failpoint.ts";
import type { RequestTerm } from "../../ledger/lease-term.ts";
import { EmptyTime } from "../answer/empty-time.ts";
import type { ChatSink } from "../chat.ts";
import type { AnswerFormat, AnswerPart, AnswerStream, EventMeaning, ReadEvent } from "../formats/answer-format.ts";
import { NO_ANSWER } from "../formats/find-list.ts";
import type { RelayedOutput } from "../metering/relayed-output.ts";
import { reportsTokens } from "../metering/reports-tokens.ts";
import { UsageSeen } from "../metering/usage-seen.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "../upstreams/chat-upstream.ts";
import { AnswerEnd } from "./answer-end.ts";
import { type ClientFacts, ClientWriter } from "./client-writer.ts";
import type { Frames } from "./frames.ts";
import { IncomingAnswer } from "./incoming-answer.ts";
import { OutputGate, type OutputGateFacts } from "./output-gate.ts";
import { cut, RelayOutcome } from "./relay-outcome.ts";
import { endOfEvent } from "./sse.ts";
import { WaitingPackets } from "./waiting-packets.ts";

export type StreamRelayFacts = ClientFacts &
  OutputGateFacts & {
    readonly format: AnswerFormat;
    readonly stream: AnswerStream;
    /** Read before each packet: after a pause of this process nothing more is written. */
    readonly term: Pick<RequestTerm, "isOver">;
  };

export class StreamRelay implements UpstreamListener {
  readonly ended: RelayOutcome["ended"];
  upstreamRequestId: string | null = null;
  readonly #facts: StreamRelayFacts;
  readonly #incoming = new IncomingAnswer();
  readonly #client: ClientWriter;
  readonly #gate: OutputGate;
  readonly #stream: AnswerStream;
  readonly #frames: Frames | null;
  readonly #end = new AnswerEnd();
  readonly #usage: UsageSeen;
  readonly #waiting = new WaitingPackets();
  readonly #emptyTime = new EmptyTime();
  readonly #outcome: RelayOutcome;
  #hasAnswered = false;

  constructor(facts: StreamRelayFacts) {
    this.#facts = facts;
    this.#client = new ClientWriter(facts);
    this.#gate = new OutputGate(facts);
    this.#stream = facts.stream;
    this.#frames = facts.stream.frames;
    this.#usage = new UsageSeen(facts.format);
    const [client, gate, end, usage] = [this.#client, this.#gate, this.#end, this.#usage];
    this.#outcome = new RelayOutcome({ client, gate, end, usage, stream: facts.stream });
    this.ended = this.#outcome.ended;
  }

  /** The call that is listened to: it is paused while the client is slow. The code that waits for the end releases it. */
  attach(call: UpstreamCall, emptyLimitMs: number): void {
    this.#emptyTime.limitTo(emptyLimitMs);
    this.#client.attach(call);
  }

  /** Bytes of text that the upstream has written, also after the client has left. */
  get textBytes(): number {
    return this.#facts.limit.textBytes;
  }

  get format(): AnswerFormat {
    return this.#facts.format;
  }

  get stream(): AnswerStream {
    return this.#facts.stream;
  }

  get sink(): ChatSink {
    return this.#facts.sink;
  }

  get output(): RelayedOutput {
    return this.#facts.output;
  }

  /** Comments and roles alone are no answer: OpenRouter sends comments while a request waits in its queue. */
  get hasAnswered(): boolean {
    return this.#hasAnswered || this.#incoming.hasJson;
  }

  onAnswer(answer: { readonly isEventStream: boolean; readonly upstreamRequestId: string | null }): void {
    this.upstreamRequestId = answer.upstreamRequestId;
    if (answer.isEventStream) this.#incoming.announceEvents();
  }

  onData(packet: Buffer): void {
    if (this.#outcome.isOver || this.#facts.term.isOver()) return;
    if (this.#client.hasBegun) failpoint?.("after-first-byte");
    if (this.#waiting.isWaiting) {
      this.#waiting.push(packet);
      return;
    }
    const events = this.#incoming.push(packet);
    if (typeof events === "string") this.#outcome.breakOff(cut(events));
    else if (events !== null) this.#take(events);
  }

  onEnd(): void {
    if (this.#outcome.isOver) return;
    if (this.#waiting.isWaiting) {
      this.#waiting.end(() => this.onEnd());
      return;
    }
    const { event, json } = this.#incoming.takeRest();
    if (event !== null) this.#takeEvent(this.#stream.read(Buffer.concat([event, Buffer.from("\n\n")])), true);
    if (this.#outcome.isOver) return;
    if (this.#end.isReached) this.#outcome.complete();
    else if (this.#client.hasBegun) this.#outcome.fail(cut("the stream ended before the answer did"));
    else this.#takeUnstreamed(json);
  }

  onFailure(failure: UpstreamFailure): void {
    // The packets before it are relayed once they are held for.
    if (this.#waiting.isWaiting) this.#waiting.end(() => this.#outcome.breakOff(failure));
    else this.#outcome.breakOff(failure);
  }

  onLeaseOver(failure: UpstreamFailure): void {
    this.#outcome.breakOff(failure);
  }

  /** The client has left: nothing more is written, and the stream is read on. */
  onClientGone(): void {
    this.#client.leave();
    this.#gate.leave();
    if (this.#waiting.isWaiting) this.onGivenUp();
  }

  /** No code waits for the end any more. */
  onGivenUp(): void {
    this.#outcome.giveUp();
  }

  #take(events: Buffer): void {
    for (let at = 0; at < events.length && !this.#outcome.isOver;) {
      const recognized = this.#takeRecognized(events, at);
      if (recognized > at) {
        at = recognized;
        continue;
      }
      const end = endOfEvent(events, at);
      const read = this.#stream.read(events.subarray(at, end));
      this.#hasAnswered ||= this.#beginsAnswer(read.meaning);
      // Only output is held for: other events, such as the usage or the end, cost nothing.
      if (!this.#gate.covers(read.size)) {
        const rest = events.subarray(at);
        this.#wait(read, () => this.#take(rest));
        return;
      }
      this.#takeEvent(read, false);
      at = end;
    }
  }

  /** Relays the chunks that need no parsing; returns the index after them. */
  #takeRecognized(events: Buffer, at: number): number {
    const frames = this.#frames;
    if (frames === null || !this.#client.hasBegun || this.#end.isReached) return at;
    if (!frames.match(events, at, Infinity)) return at;
    if (!this.#gate.covers(frames) && !(frames.match(events, at, 1) && this.#gate.covers(frames))) return at;
    this.#gate.take(frames);
    this.#usage.outputFollowed();
    this.#emptyTime.end();
    if (this.#client.hasLeft) this.#client.count(events.subarray(at, frames.end));
    else this.#client.pass(frames.shown(events));
    return frames.end;
  }

  #takeEvent(read: ReadEvent, isLast: boolean): void {
    const { event, meaning } = read;
    switch (meaning.kind) {
      case "done":
        if (this.#client.hasBegun || this.#end.isReached) this.#outcome.complete();
        else this.#outcome.fail(NO_ANSWER.failure);
        return;
      case "error":
        this.#outcome.breakOff(this.#facts.format.failureOf(meaning.error, meaning.usage ?? this.#usage.usage));
        return;
      case "malformed":
        // At the end of a stream half an event is dropped. Inside a stream the rest cannot be trusted.
        if (!isLast) this.#outcome.breakOff(cut("an event is no JSON object"));
        return;
      case "opaque":
        this.#goOnEmpty();
        // Comments before the answer only keep the connection alive.
        if (this.#client.hasBegun && !isLast && !this.#outcome.isOver) this.#passOrKeep(event);
        return;
      case "part":
        this.#emptyTime.end();
        this.#takePart(read, meaning);
        return;
      case "foreign":
        this.#goOnEmpty();
    }
  }

  /** Comments keep the connection open, and an upstream that sends nothing else is given up like a silent one. */
  #goOnEmpty(): void {
    if (this.#client.takeWasPaused()) this.#emptyTime.end();
    const failure = this.#emptyTime.goOn();
    if (failure !== null) this.#outcome.breakOff(failure);
  }

  #takePart(read: ReadEvent, part: AnswerPart): void {
    const released = this.#end.release(part.choices);
    if (released !== null) this.#client.write(released);
    if (part.hasFailed === true) {
      this.#outcome.breakOff(cut("the upstream finished with an error"));
      return;
    }
    if (part.isFree === true) this.#outcome.isFree = true;
    if (part.isLateText === true) this.#client.countText(read.text);
    if (part.usage !== null) this.#usage.add(part.usage);
    else if (read.size.events > 0 || read.size.hasMedia) {
      // The answer has ended and its usage is known: more output would be shown and not billed.
      if (this.#end.isReached && this.#usage.isFinal) return;
      this.#usage.outputFollowed();
    }
    if (part.isUsageOnly) this.#stream.keepUsage(read);
    else this.#show(read, part, this.#stream.show(read, part));
    if (part.isLast === true && !this.#outcome.isOver) this.#outcome.complete();
  }

  #show(read: ReadEvent, part: AnswerPart, shown: Buffer | null): void {
    if (shown === null) {
      this.#outcome.breakOff(cut("an event is nested too deep"));
      return;
    }
    this.#end.note(part);
    this.#gate.take(read.size);
    if (!this.#client.hasBegun && !part.hasOutput && !this.#end.isReached) this.#client.keepLeading(shown);
    else this.#passOrKeep(shown, true);
  }

  /** `isOutput`: the event may hold a part of the answer. It is billed at any place, because clients show it. */
  #passOrKeep(event: Buffer, isOutput = false): void {
    if (!this.#end.isReached) {
      this.#client.pass(event);
      return;
    }
    if (isOutput) this.#client.count(event);
    if (!this.#end.keep(event)) this.#outcome.breakOff(cut("too much came behind the end of the answer"));
  }

  /** Makes events wait until they are counted and held for. The upstream is paused meanwhile. */
  #wait(read: ReadEvent, goOn: () => void, isWhole = false): void {
    // Nothing more is held for output without a reader.
    if (this.#client.hasLeft) {
      this.onGivenUp();
      return;
    }
    this.#waiting.begin(goOn);
    this.#client.hold();
    void this.#goOnOnceOpen(read, isWhole);
  }

  async #goOnOnceOpen(read: ReadEvent, isWhole: boolean): Promise<void> {
    const stop = await this.#gate.whenOpen(read, isWhole);
    if (stop !== null) {
      this.#outcome.stop(read, stop);
      return;
    }
    if (this.#outcome.isOver || this.#facts.term.isOver()) return;
    this.#waiting.resume((packet) => this.onData(packet));
    if (!this.#waiting.isWaiting) this.#client.release();
  }

  /** The upstream answered with one JSON text instead of a stream: it is sent as the events of one. */
  #takeUnstreamed(json: Buffer): void {
    const unstreamed = this.#stream.readUnstreamed(json);
    if (unstreamed.kind === "failed") {
      this.#outcome.fail(unstreamed.failure);
      return;
    }
    const { read, part, shown } = unstreamed;
    const show = (): void => {
      if (part.isFree === true) this.#outcome.isFree = true;
      if (part.usage !== null) this.#usage.add(part.usage);
      this.#end.reach();
      this.#show(read, part, shown);
      this.#outcome.complete();
    };
    if (this.#client.hasLeft || this.#gate.covers(read.size, true)) show();
    else this.#wait(read, show, true);
  }

  /** Whether an event has output, usage, or the end of an answer. */
  #beginsAnswer(meaning: EventMeaning): boolean {
    if (meaning.kind !== "part") return false;
    return meaning.hasOutput || meaning.finished.length > 0 || reportsTokens(meaning.usage, this.#facts.format);
  }
}
