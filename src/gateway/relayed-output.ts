import { estimateOutput } from "./estimate.ts";

/** Events kept of a stream for an estimate. What comes after them is taken to be as dense in tokens as they were. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Remembers what a client was given, in bounded memory, in case the upstream never says how many tokens it was. */
export class RelayedOutput {
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #bytes = 0;

  /** All bytes of events that were relayed. */
  get bytes(): number {
    return this.#bytes;
  }

  add(events: Buffer): void {
    this.#bytes += events.length;
    if (this.#keptBytes >= MAX_KEPT_BYTES) return;
    this.#kept.push(events);
    this.#keptBytes += events.length;
  }

  /** Tokens of the output, reasoning and calls of tools included. */
  async estimateTokens(): Promise<number> {
    if (this.#bytes === 0) return 0;
    return estimateOutput(Buffer.concat(this.#kept), this.#bytes / this.#keptBytes);
  }
}
