import { countOutput, countTokens, estimateOutput, type OutputTokens } from "./estimate.ts";
import type { OutputReader } from "./output-reader.ts";
import { BYTES_PER_REPORTED_TOKEN } from "./relayed-answer.ts";
import type { RelayedTokens } from "./relayed-tokens.ts";
import { LARGEST_SMALL_PACKET, PacketSample } from "./packet-sample.ts";
import { textBytesIn } from "./text-bytes.ts";

/** Packets that a rough count reads. */
const ROUGH_PACKETS = 8;

/** Large packets are kept whole up to here, and what comes behind them is taken to be as dense in tokens as they were. */
const MAX_LARGE_BYTES = 64 * 1024;

/**
 * Remembers the relayed output in bounded memory, in case the upstream never reports its tokens. Output that was counted is
 * kept as a number. Small and large packets are counted separately: a packet that a proxy has put together, or one with a
 * whole tool call, has another density of tokens than a word in its wrapping. A packet larger than the memory is counted at
 * once: it is a picture or sound, and other packets do not show its density.
 */
export class RelayedOutput implements RelayedTokens {
  readonly #reader: OutputReader;
  readonly #small = new PacketSample();
  #large: Buffer[] = [];
  #largeKeptBytes = 0;
  #largeBytes = 0;
  #counted: Promise<number> = Promise.resolve(0);
  /** What was counted as far as it is known, and how many counts are under way. */
  #countedTokens = 0;
  #counting = 0;
  #mediaTokens = 0;
  #bytes = 0;
  #isOver = false;
  #unread: RelayedOutput | null = null;

  /** `reader`: reads the events in their protocol. */
  constructor(reader: OutputReader) {
    this.#reader = reader;
  }

  /** All bytes of events that were relayed. */
  get bytes(): number {
    return this.#bytes;
  }

  add(events: Buffer): void {
    this.#bytes += events.length;
    if (this.#isOver) return;
    if (events.length <= LARGEST_SMALL_PACKET) {
      this.#small.add(events);
      return;
    }
    if (events.length > MAX_LARGE_BYTES) {
      this.#count(events, 1);
      return;
    }
    this.#largeBytes += events.length;
    if (this.#largeKeptBytes >= MAX_LARGE_BYTES) return;
    this.#large.push(events);
    this.#largeKeptBytes += events.length;
  }

  /** Adds a text by itself, whose events are of a kind that repeats what came before. */
  addText(text: string): void {
    if (!this.#isOver) this.#note(async () => ({ tokens: await countTokens(text), media: 0 }));
  }

  /** Adds output that came after the client had left: the upstream wrote it, and it was not relayed. */
  addUnread(events: Buffer): void {
    if (!this.#isOver) this.#ofUnread.add(events);
  }

  addUnreadText(text: string): void {
    if (!this.#isOver) this.#ofUnread.addText(text);
  }

  get #ofUnread(): RelayedOutput {
    this.#unread ??= new RelayedOutput(this.#reader);
    return this.#unread;
  }

  /** All that the upstream has written, relayed or not. */
  get written(): RelayedTokens {
    return this.#unread === null ? this : together(this, this.#unread);
  }

  /** Tokens of all output until now, reasoning and calls of tools included. */
  estimateTokens(): Promise<number> {
    const small = this.#small.take();
    if (small !== null) this.#count(small.kept, small.scale);
    if (this.#largeKeptBytes > 0) {
      this.#count(Buffer.concat(this.#large), this.#largeBytes / this.#largeKeptBytes);
      this.#forgetLarge();
    }
    return this.#counted;
  }

  async estimateMediaTokens(): Promise<number> {
    await this.estimateTokens();
    return this.#mediaTokens;
  }

  /**
   * The same at a small part of the cost, from a few packets: for a count that is made again and again while the stream runs.
   * Nothing is counted for good.
   */
  async roughTokens(): Promise<number> {
    const small = this.#small.peek(ROUGH_PACKETS);
    const [large] = this.#large;
    const largeBytes = this.#largeBytes;
    let tokens = await this.#counted;
    if (small !== null) tokens += await estimateOutput({ events: small.kept, scale: small.scale }, this.#reader);
    if (large !== undefined)
      tokens += await estimateOutput({ events: large, scale: largeBytes / large.length }, this.#reader);
    return tokens;
  }

  /** Whether it may be more than twice so many tokens, by the bytes of text in what is kept; nothing is tokenized. */
  mayExceedTwice(tokens: number): boolean {
    if (this.#counting > 0) return true;
    const room = tokens - this.#countedTokens / 2;
    return this.#textBytes() > room * BYTES_PER_REPORTED_TOKEN;
  }

  /** The stream is over and billed: the rest is not counted any more. */
  forget(): void {
    this.#isOver = true;
    this.#small.giveBack();
    this.#forgetLarge();
    this.#unread?.forget();
  }

  #textBytes(): number {
    return this.#kept().reduce((bytes, { events, scale }) => bytes + textBytesIn(events, this.#reader) * scale, 0);
  }

  #kept(): readonly { readonly events: Buffer; readonly scale: number }[] {
    const kept: { events: Buffer; scale: number }[] = [];
    const small = this.#small.look();
    if (small !== null) kept.push({ events: small.kept, scale: small.scale });
    for (const events of this.#large) kept.push({ events, scale: this.#largeBytes / this.#largeKeptBytes });
    return kept;
  }

  #count(events: Buffer, scale: number): void {
    this.#note(() => countOutput({ events, scale }, this.#reader));
  }

  #note(count: () => Promise<OutputTokens>): void {
    this.#counting += 1;
    this.#counted = this.#counted.then(async (counted) => {
      const { tokens, media } = await count();
      this.#countedTokens = counted + tokens;
      this.#mediaTokens += media;
      this.#counting -= 1;
      return this.#countedTokens;
    });
  }

  #forgetLarge(): void {
    this.#large = [];
    this.#largeKeptBytes = 0;
    this.#largeBytes = 0;
  }
}

function together(one: RelayedTokens, other: RelayedTokens): RelayedTokens {
  return {
    // Where both are more than twice so many, one is more than so many.
    mayExceedTwice: (tokens) => one.mayExceedTwice(tokens / 2) || other.mayExceedTwice(tokens / 2),
    estimateTokens: async () => (await one.estimateTokens()) + (await other.estimateTokens()),
    estimateMediaTokens: async () => (await one.estimateMediaTokens()) + (await other.estimateMediaTokens()),
  };
}
