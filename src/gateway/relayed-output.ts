import { estimateOutput } from "./estimate.ts";

/** Events kept until they are counted. What comes after them is taken to be as dense in tokens as they were. */
const MAX_KEPT_BYTES = 16 * 1024;
/**
 * Where events are kept, used again by the next stream. A stream lasts too long for what it holds to be collected cheaply: with
 * a thousand of them, memory made anew for each takes more room than all else they need.
 */
const spare: Buffer[] = [];
const MOST_SPARE = 1024;

/**
 * Remembers what a client was given, in bounded memory, in case the upstream never says how many tokens it was. What was
 * counted once is kept as a number.
 */
export class RelayedOutput {
  #kept: Buffer | null = null;
  #keptBytes = 0;
  /** Whether events were left out since those that are kept. */
  #isFull = false;
  #uncountedBytes = 0;
  #counted: Promise<number> = Promise.resolve(0);
  #bytes = 0;

  /** All bytes of events that were relayed. */
  get bytes(): number {
    return this.#bytes;
  }

  add(events: Buffer): void {
    this.#bytes += events.length;
    this.#uncountedBytes += events.length;
    if (this.#isFull) return;
    if (this.#keptBytes + events.length <= MAX_KEPT_BYTES) {
      this.#kept ??= spare.pop() ?? Buffer.allocUnsafeSlow(MAX_KEPT_BYTES);
      events.copy(this.#kept, this.#keptBytes);
      this.#keptBytes += events.length;
      return;
    }
    this.#isFull = true;
    // Something has to be known of their density.
    if (this.#keptBytes === 0) [this.#kept, this.#keptBytes] = [Buffer.from(events), events.length];
  }

  /** Tokens of all output until now, reasoning and calls of tools included. */
  estimateTokens(): Promise<number> {
    if (this.#uncountedBytes === 0 || this.#kept === null) return this.#counted;
    const kept = Buffer.from(this.#kept.subarray(0, this.#keptBytes));
    const scale = this.#uncountedBytes / this.#keptBytes;
    this.#keptBytes = 0;
    this.#isFull = false;
    this.#uncountedBytes = 0;
    this.#counted = this.#counted.then(async (counted) => counted + (await estimateOutput(kept, scale)));
    return this.#counted;
  }

  /** Forgets what was not counted: the stream is over and its bill is known. */
  forget(): void {
    if (this.#kept?.length === MAX_KEPT_BYTES && spare.length < MOST_SPARE) spare.push(this.#kept);
    this.#kept = null;
    this.#keptBytes = 0;
    this.#isFull = true;
  }
}
