// Keeps what a stream relays within what is held for it. A slab of output is held at first; before it runs out the hold is
// extended behind the stream, and what would go beyond it waits.
//
// For each packet only bytes are counted: two bytes of text make a token, as in the estimate of the input, and the frame
// around the text is the smallest of the events that were read: the first ones, one every few kilobytes, and each that the
// frame does not fit. When little room is left, or much has gone out since, the tokenizer counts what went out, and that is
// what is asked for and recorded.

import { setTimeout as sleep } from "node:timers/promises";
import { InsufficientBalance, UpstreamBusy } from "../kernel/errors.ts";
import { idr } from "../kernel/money.ts";
import type { Extension } from "../ledger/ledger.ts";
import type { ExtensionAmounts } from "./bill.ts";
import { parseObject } from "./chunk.ts";
import { textOfChunk } from "./estimate.ts";
import { amountCovering, coveredOutput, type HoldPlan, LEAST_USEFUL_TOKENS, SLAB_TOKENS } from "./hold.ts";
import type { RelayedOutput } from "./relayed-output.ts";
import { dataOf, splitEvents } from "./sse.ts";

const BYTES_PER_TOKEN = 2;
/** With less room than this more is asked for, so that it is there before it is needed. */
const LOW_WATER_BYTES = (SLAB_TOKENS / 2) * BYTES_PER_TOKEN;
/** How long a stream waits for what other requests of the account hold and may give back. */
const PATIENCE_MS = 10_000;
const ASK_AGAIN_MS = 500;
/** So often one event is read, because frames differ: the first one may bring what the others do not. */
const READ_EVERY_BYTES = 8 * 1024;
/** Raw bytes after which the tokenizer counts whatever the frames seem to say. Most streams are counted earlier. */
const COUNT_EVERY_BYTES = 128 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const LETTER_U = 0x75;

export type SlabFacts = {
  readonly plan: HoldPlan;
  /** Micro-rupiah that admission has granted. */
  readonly granted: bigint;
  readonly output: RelayedOutput;
  /** Asks the ledger for more, with the tokens relayed so far. */
  readonly extend: (more: ExtensionAmounts) => Promise<Extension>;
  readonly topUpUrl?: (() => string) | undefined;
  readonly patienceMs?: number;
  /** Holds the gate while its stream waits. */
  readonly waiting?: Set<unknown>;
};

export class SlabGate {
  readonly #facts: SlabFacts;
  readonly #closing = new AbortController();
  /** Tokens that the hold covers. */
  #covered: number;
  /** Bytes of text that may still go out, and with how many left more is asked for. */
  #room: number;
  #askBelow: number;
  #passed = 0;
  #frameBytes = 0;
  /** Raw bytes since an event was read, and since the tokenizer has counted. */
  #unread = Infinity;
  #uncounted = 0;
  #asking: Promise<unknown> | null = null;

  constructor(facts: SlabFacts) {
    this.#facts = facts;
    this.#covered = coveredOutput(facts.plan, facts.granted);
    this.#room = this.#covered * BYTES_PER_TOKEN;
    this.#askBelow = Math.min(LOW_WATER_BYTES, this.#room / 2);
    this.#openIfAllIsHeld();
  }

  /** Takes complete events into account that are about to go out. False: they have to wait until `whenOpen`. */
  passes(events: Buffer): boolean {
    if (this.#room === Infinity) return true;
    let bytes = this.#textBytesOf(events);
    // Before anything waits it is read: large frames are not text.
    if (bytes > this.#room) bytes = textBytesReadIn(events);
    if (bytes > this.#room) return false;
    this.#room -= bytes;
    this.#passed += bytes;
    this.#uncounted += events.length;
    if (this.#asking === null && (this.#room < this.#askBelow || this.#uncounted > COUNT_EVERY_BYTES)) this.#askAhead();
    return true;
  }

  /**
   * Waits until these events may go out. Errors: InsufficientBalance when the balance does not cover them, UpstreamBusy when
   * the database stays away or the hold was resolved by somebody else.
   */
  async whenOpen(events: Buffer): Promise<void> {
    const bytes = textBytesReadIn(events);
    this.#facts.waiting?.add(this);
    try {
      await this.#open(bytes);
    } finally {
      this.#facts.waiting?.delete(this);
    }
  }

  async #open(bytes: number): Promise<void> {
    const until = performance.now() + (this.#facts.patienceMs ?? PATIENCE_MS);
    await this.#asking;
    for (;;) {
      const refusal = await this.#ask(bytes);
      if (refusal === null) return;
      if (!refusal.othersHold || performance.now() > until) throw this.#tooLow(refusal);
      await sleep(ASK_AGAIN_MS, undefined, { signal: this.#closing.signal });
    }
  }

  /** Nothing more goes out: nothing more is asked for. */
  close(): void {
    this.#closing.abort();
  }

  /**
   * The bytes that may be text in complete events. JSON has no line breaks inside, so each line that ends before another break
   * ends an event. Looking for single bytes is several times quicker than for a blank line.
   */
  #textBytesOf(events: Buffer): number {
    let bytes = 0;
    let start = 0;
    const last = events.length - 1;
    for (let at = events.indexOf(LF); at >= 0 && at < last; at = events.indexOf(LF, at + 1)) {
      const next = events[at + 1];
      if (next !== LF && next !== CR) continue;
      at += next === CR && events[at + 2] === LF ? 2 : 1;
      bytes += this.#textBytesOfOne(events, start, at + 1);
      start = at + 1;
    }
    return start > last ? bytes : bytes + this.#textBytesOfOne(events, start, events.length);
  }

  /** Whatever the event is, it counts as a token, and takes no more from the others than its own frame. */
  #textBytesOfOne(events: Buffer, start: number, end: number): number {
    const length = end - start;
    this.#unread += length;
    // Comments are shorter than a frame and show nothing. Data that is shorter shows that the frame is not everybody's.
    if (events[start] !== COLON && (this.#unread > READ_EVERY_BYTES || length < this.#frameBytes)) {
      this.#read(events.subarray(start, end));
    }
    return Math.max(length - this.#frameBytes, BYTES_PER_TOKEN);
  }

  /** Learns from one event how many of its bytes are surely not text. */
  #read(event: Buffer): void {
    const text = textOf(event);
    if (text === "") return;
    const isFirst = this.#unread === Infinity;
    const frame = Math.max(0, event.length - Buffer.byteLength(text) - bytesOfEscapes(event));
    this.#frameBytes = isFirst ? frame : Math.min(frame, this.#frameBytes);
    this.#unread = 0;
  }

  /** Asks before it is needed. What goes wrong here is met again by whoever has to wait. */
  #askAhead(): void {
    if (this.#closing.signal.aborted) return;
    this.#asking = Promise.resolve()
      .then(() => this.#ask(0))
      .catch(() => (this.#askBelow = 0))
      .finally(() => (this.#asking = null));
  }

  /** Makes room for so many bytes; gives the refusal where the balance does not allow it. */
  async #ask(bytes: number): Promise<Refusal | null> {
    const { plan, output, extend } = this.#facts;
    const passedBefore = this.#passed;
    this.#uncounted = 0;
    const counted = await output.estimateTokens();
    this.#setRoom(counted, passedBefore);
    if (this.#room >= Math.max(bytes, this.#askBelow)) return null;
    const needed = counted + Math.ceil(bytes / BYTES_PER_TOKEN);
    // Ahead of need a few tokens are not worth asking for; to who waits any are that let it go on.
    const least = bytes > 0 ? needed : this.#covered + LEAST_USEFUL_TOKENS;
    const most = Math.max(needed + SLAB_TOKENS, least);
    const amounts = {
      amount: amountCovering(plan, Math.min(most, plan.outputBound)),
      leastAmount: amountCovering(plan, Math.min(least, plan.outputBound)),
    };
    const extension = await extend({ ...amounts, outputTokens: counted });
    if (extension.outcome === "gone") throw new UpstreamBusy(undefined, { cause: new Error("the hold is gone") });
    if (extension.outcome === "refused") {
      this.#askBelow = 0;
      return { ...extension, needed: amounts.leastAmount };
    }
    this.#covered = coveredOutput(plan, extension.amount);
    this.#setRoom(counted, passedBefore);
    this.#askBelow = Math.min(LOW_WATER_BYTES, this.#room / 2);
    this.#openIfAllIsHeld();
    return null;
  }

  /** What the hold covers beyond the tokens counted, less what has gone out since they were. */
  #setRoom(counted: number, passedBefore: number): void {
    this.#room = (this.#covered - counted) * BYTES_PER_TOKEN - (this.#passed - passedBefore);
  }

  /** Nothing can cost more than the bound of the request. */
  #openIfAllIsHeld(): void {
    if (this.#covered >= this.#facts.plan.outputBound) this.#room = Infinity;
  }

  /** What is held for the request is all that is available to it. */
  #tooLow({ amount, needed }: Refusal): InsufficientBalance {
    const facts = { available: idr(amount), needed: idr(needed) };
    const topUpUrl = this.#facts.topUpUrl?.();
    return new InsufficientBalance(topUpUrl === undefined ? facts : { ...facts, topUpUrl });
  }
}

type Refusal = { readonly amount: bigint; readonly needed: bigint; readonly othersHold: boolean };

function textOf(event: Buffer): string {
  return textOfChunk(parseObject(dataOf(event) ?? "") ?? {});
}

/** The bytes of text in complete events, each of which counts as a token. */
function textBytesReadIn(events: Buffer): number {
  return splitEvents(events)
    .map((event) => Math.max(Buffer.byteLength(textOf(event)), BYTES_PER_TOKEN))
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** At most so many bytes more than its text an event has for escapes: some upstreams write all but ASCII as `\uXXXX`. */
function bytesOfEscapes(event: Buffer): number {
  let bytes = 0;
  for (let at = event.indexOf(BACKSLASH); at >= 0; at = event.indexOf(BACKSLASH, at + 2)) {
    bytes += event[at + 1] === LETTER_U ? 5 : 1;
  }
  return bytes;
}
