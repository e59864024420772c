import { estimateOutput } from "./estimate.ts";

/** Events kept until they are counted. What comes after them is taken to be as dense in tokens as they were. */
const MAX_KEPT_BYTES = 64 * 1024;

/**
 * Remembers what a client was given, in bounded memory, in case the upstream never says how many tokens it was. What was
 * counted once is kept as a number.
 */
export class RelayedOutput {
  #kept: Buffer[] = [];
  #keptBytes = 0;
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
    if (this.#keptBytes >= MAX_KEPT_BYTES) return;
    this.#kept.push(events);
    this.#keptBytes += events.length;
  }

  /** Tokens of all output until now, reasoning and calls of tools included. */
  estimateTokens(): Promise<number> {
    if (this.#uncountedBytes === 0) return this.#counted;
    const kept = Buffer.concat(this.#kept);
    const scale = this.#uncountedBytes / this.#keptBytes;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#uncountedBytes = 0;
    this.#counted = this.#counted.then(async (counted) => counted + (await estimateOutput(kept, scale)));
    return this.#counted;
  }
}
