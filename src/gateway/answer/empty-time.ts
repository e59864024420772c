import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";

const NOTHING_BUT_COMMENTS: UpstreamFailure = {
  kind: "perhaps_billed",
  reason: "the upstream kept the connection open and sent nothing of an answer for too long",
  timedOut: true,
};

/**
 * For how long an upstream has sent only bytes that keep a connection open: comments, or white space before a JSON text. The
 * connection is not silent then, so its own time limit never ends the attempt.
 */
export class EmptyTime {
  #limitMs = Infinity;
  #sinceMs: number | null = null;

  /** Sets how long it may last. */
  limitTo(limitMs: number): void {
    this.#limitMs = limitMs;
  }

  /** A part of an answer has arrived, or the call was paused: the time starts again. */
  end(): void {
    this.#sinceMs = null;
  }

  /** No part of an answer has arrived. Returns the failure that ends the attempt, or null while it may go on. */
  goOn(): UpstreamFailure | null {
    const nowMs = performance.now();
    this.#sinceMs ??= nowMs;
    return nowMs - this.#sinceMs > this.#limitMs ? NOTHING_BUT_COMMENTS : null;
  }
}
