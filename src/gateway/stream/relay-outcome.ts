// How the relay of a stream ends: complete, broken off, stopped at the bound, or without its client. The first end counts.

import type { FailedAttempt } from "../answer/call-upstream.ts";
import type { UsageSeen } from "../metering/usage-seen.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";
import type { AnswerEnd, StreamEnd } from "./answer-end.ts";
import type { ClientWriter } from "./client-writer.ts";
import type { ShownNames } from "./frames.ts";
import type { OutputGate, Stop } from "./output-gate.ts";
import type { ReadEvent } from "./read-event.ts";
import { shareOfChunk } from "./shown-chunk.ts";

type RelayState = {
  readonly client: ClientWriter;
  readonly gate: OutputGate;
  readonly end: AnswerEnd;
  readonly usage: UsageSeen;
  readonly names: ShownNames;
};

export class RelayOutcome {
  readonly ended: Promise<StreamEnd | FailedAttempt>;
  /** A field and not a getter: the relay reads it for every packet and every event. */
  isOver = false;
  /** The upstream's own usage chunk, safe to write again. */
  usageChunk: string | null = null;
  lastChunk: JsonObject = {};
  readonly #state: RelayState;
  readonly #resolve: (end: StreamEnd | FailedAttempt) => void;

  constructor(state: RelayState) {
    this.#state = state;
    const { promise, resolve } = Promise.withResolvers<StreamEnd | FailedAttempt>();
    this.ended = promise;
    this.#resolve = resolve;
  }

  complete(): void {
    const { client, end, usage } = this.#state;
    this.#finish({
      kind: "complete",
      held: [...client.leading, ...end.frames],
      usage,
      usageChunk: this.usageChunk,
      lastChunk: this.lastChunk,
      drained: client.hasLeft,
    });
  }

  /** A failure behind the end of a complete answer changes nothing: the answer is neither requested again nor free. */
  breakOff(failure: UpstreamFailure): void {
    if (this.isOver) return;
    const { client, end } = this.#state;
    if (!end.isReached) {
      this.fail(failure);
      return;
    }
    // The upstream may go on sending, so the call is aborted.
    client.abort();
    this.complete();
  }

  fail(failure: UpstreamFailure): void {
    const { client, usage } = this.#state;
    if (client.hasLeft) this.#finish({ kind: "gone", failure, usage });
    else if (client.hasBegun) this.#finish({ kind: "broken", failure, usage });
    else this.#finish({ kind: "failed", failure });
  }

  /** No code waits for the end any more. */
  giveUp(): void {
    this.#finish({ kind: "gone", failure: null, usage: this.#state.usage });
  }

  /** Ends the stream at an event that may go out in part, or not at all. */
  stop(read: ReadEvent, { cause, share }: Stop): void {
    if (this.isOver) return;
    const { client, end, usage, names } = this.#state;
    if (end.isReached) {
      this.complete();
      return;
    }
    const withheld = { text: read.text, share: 1 - share, usageBefore: usage.usage };
    if (read.meaning.kind === "chunk") {
      if (read.meaning.usage !== null) usage.add(read.meaning.usage);
      const part = shareOfChunk(read.meaning.chunk, share, names);
      if (part !== null) client.pass(part);
      else withheld.share = 1;
    }
    usage.outputFollowed();
    this.#finish({ kind: "stopped", cause, lastChunk: this.lastChunk, unfinished: end.unfinished, withheld, usage });
  }

  #finish(end: StreamEnd | FailedAttempt): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#state.gate.close();
    this.#resolve(end);
  }
}

/** A failure behind which the upstream may bill what it has written. */
export function cut(reason: string): UpstreamFailure {
  return { kind: "perhaps_billed", reason };
}
