import { estimateOutput } from "./estimate.ts";
import { LARGEST_SMALL_PACKET, PacketSample } from "./packet-sample.ts";

/** Large packets are kept whole up to here, and what comes behind them is taken to be as dense in tokens as they were. */
const MAX_LARGE_BYTES = 64 * 1024;

/**
 * Remembers what a client was given, in bounded memory, in case the upstream never says how many tokens it was. What was
 * counted once is kept as a number. Small and large packets are counted apart: a packet that a proxy has put together, or one
 * with a whole call of a tool, has another density of tokens than one word in its wrapping.
 */
export class RelayedOutput {
  readonly #small = new PacketSample();
  #large: Buffer[] = [];
  #largeKeptBytes = 0;
  #largeBytes = 0;
  #counted: Promise<number> = Promise.resolve(0);
  #bytes = 0;
  #isOver = false;

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
    this.#largeBytes += events.length;
    if (this.#largeKeptBytes >= MAX_LARGE_BYTES) return;
    this.#large.push(events);
    this.#largeKeptBytes += events.length;
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

  /** The stream is over and its bill is known: what was not counted never will be. */
  forget(): void {
    this.#isOver = true;
    this.#small.giveBack();
    this.#forgetLarge();
  }

  #count(events: Buffer, scale: number): void {
    this.#counted = this.#counted.then(async (counted) => counted + (await estimateOutput(events, scale)));
  }

  #forgetLarge(): void {
    this.#large = [];
    this.#largeKeptBytes = 0;
    this.#largeBytes = 0;
  }
}
