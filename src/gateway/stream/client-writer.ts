// Writes a stream to its client as fast as the client reads, and pauses the upstream meanwhile.

import type { ChatSink } from "../chat.ts";
import type { ShownFormat } from "../formats/shown-format.ts";
import type { RelayedOutput } from "../metering/relayed-output.ts";
import type { UpstreamCall } from "../upstreams/chat-upstream.ts";

/** The most chunks that are kept before the first one with output; they carry the role, and no more. */
const MAX_LEADING = 32;

export type ClientFacts = {
  readonly sink: ChatSink;
  /** Called once, before the first bytes go to the sink. */
  readonly begin: () => void;
  readonly output: RelayedOutput;
  /** How the events are written. */
  readonly format: ShownFormat;
};

export class ClientWriter {
  readonly #facts: ClientFacts;
  /** Chunks before the first output. Until that is written the request can be answered with a status, or by another route. */
  #leading: Buffer[] = [];
  #call: UpstreamCall | null = null;
  #isSlow = false;
  #isWaiting = false;
  #wasPaused = false;
  #hasBegun = false;
  #hasLeft = false;

  constructor(facts: ClientFacts) {
    this.#facts = facts;
  }

  /** The call that is paused while the client is slow. */
  attach(call: UpstreamCall): void {
    this.#call = call;
  }

  /** Whether the call was paused since the last call of this method. */
  takeWasPaused(): boolean {
    const wasPaused = this.#wasPaused;
    this.#wasPaused = false;
    return wasPaused;
  }

  /** Whether output has been written, or would have been if the client had stayed. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether the client has left: nothing more is written. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** The chunks before the first output, where none has followed yet. */
  get leading(): readonly Buffer[] {
    return this.#leading;
  }

  keepLeading(event: Buffer): void {
    if (this.#leading.length < MAX_LEADING) this.#leading.push(event);
  }

  /** Writes a part of the answer. */
  pass(events: Buffer): void {
    this.count(events);
    this.write(events);
  }

  /** Counts bytes that are written now or later, or would be if the client had stayed. */
  count(events: Buffer): void {
    if (this.#hasLeft) this.#facts.output.addUnread(events);
    else this.#facts.output.add(events);
  }

  /** Counts a text that the bytes do not show as a new one. */
  countText(text: string): void {
    if (this.#hasLeft) this.#facts.output.addUnreadText(text);
    else this.#facts.output.addText(text);
  }

  /** Writes bytes that were counted as relayed before. */
  write(events: Buffer): void {
    const { begin, sink, format } = this.#facts;
    let bytes = events;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      if (!this.#hasLeft) begin();
      bytes = Buffer.concat([...this.#leading, events]);
      this.#leading = [];
    }
    if (this.#hasLeft || sink.pass(bytes, format) || this.#isSlow) return;
    this.#isSlow = true;
    this.#wasPaused = true;
    this.#call?.pause();
    sink.onDrained(() => {
      this.#isSlow = false;
      if (!this.#isWaiting) this.#call?.resume();
    });
  }

  /** The upstream waits, for another reason than a slow client. */
  hold(): void {
    this.#isWaiting = true;
    this.#wasPaused = true;
    this.#call?.pause();
  }

  /** The other reason is gone. */
  release(): void {
    this.#isWaiting = false;
    if (!this.#isSlow) this.#call?.resume();
  }

  /** The client has left, so the upstream does not wait for it any more. */
  leave(): void {
    this.#hasLeft = true;
    if (this.#isSlow && !this.#isWaiting) this.#call?.resume();
  }

  abort(): void {
    this.#call?.abort();
  }
}
