// Ends a stream that runs on. Upstreams get the bound of the request, and some write more all the same. Output above one and a
// half times the bound, by our count, is not relayed.

import { countTokens } from "../metering/estimate.ts";
import type { RelayedOutput } from "../metering/relayed-output.ts";

/** Tokenizers differ, so this much more than the bound is no running on. */
const TOLERATED_FACTOR = 1.5;
const TOLERATED_TOKENS = 256;
/** The tokenizer never looks more often than once in so many tokens. */
const LEAST_STEP = 16;

/** The most tokens by our count that are no running on of an upstream that was asked for `bound`. */
export function toleratedOutput(bound: number): number {
  return Math.ceil(bound * TOLERATED_FACTOR) + TOLERATED_TOKENS;
}

/** How much output is in events, by their bytes. */
export type OutputSize = {
  readonly asciiBytes: number;
  readonly otherBytes: number;
  /** Events with output. */
  readonly events: number;
  /** Whether they carry sound or pictures, whose tokens cannot be counted here. */
  readonly hasMedia: boolean;
};

export class OutputLimit {
  readonly #most: number;
  readonly #output: RelayedOutput;
  #asciiBytes = 0;
  #otherBytes = 0;
  #events = 0;
  /** The coarse count from which on the tokenizer counts. */
  #lookAt: number;

  /** `bound`: the most tokens of output that were asked for, of all choices together. */
  constructor({ bound, output }: { readonly bound: number; readonly output: RelayedOutput }) {
    this.#most = toleratedOutput(bound);
    this.#lookAt = bound + TOLERATED_TOKENS;
    this.#output = output;
  }

  /** Bytes of text that have come, whether or not a client is left to read them. */
  get textBytes(): number {
    return this.#asciiBytes + this.#otherBytes;
  }

  /** Whether so much more is surely within the limit. Where it may not be, `shareOf` decides. */
  covers(size: OutputSize): boolean {
    return this.#coarseWith(size) <= this.#lookAt;
  }

  /** Counts output that is sent. */
  take(size: OutputSize): void {
    this.#asciiBytes += size.asciiBytes;
    this.#otherBytes += size.otherBytes;
    this.#events += size.events;
  }

  /** Counts. Null: this text is within the limit. Else the share of it that still is, from 0 to 1. */
  async shareOf(text: string, size: OutputSize): Promise<number | null> {
    const relayed = await this.#output.estimateTokens();
    const tokens = await countTokens(text);
    const left = this.#most - relayed;
    if (tokens > left) return Math.max(0, left / tokens);
    this.#lookAt = this.#coarseWith(size) + Math.max(LEAST_STEP, (left - tokens) / 2);
    return null;
  }

  /**
   * A token is four bytes of ASCII or two of other scripts, and each event has one at least: upstreams write token by token. The
   * tokenizer looks only once this count comes near the limit, so that an answer within its bound costs no counting.
   */
  #coarseWith({ asciiBytes, otherBytes, events }: OutputSize): number {
    const byBytes = (this.#asciiBytes + asciiBytes) / 4 + (this.#otherBytes + otherBytes) / 2;
    return Math.max(byBytes, this.#events + events);
  }
}
