// How the relay of a stream ends: complete, broken off, stopped at the bound, or without its client. The first end counts.

import type { FailedAttempt } from "../answer/call-upstream.ts";
import type { AnswerStream, ReadEvent } from "../formats/answer-format.ts";
import type { UsageSeen } from "../metering/usage-seen.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";
import type { AnswerEnd, StreamEnd } from "./answer-end.ts";
import type { ClientWriter } from "./client-writer.ts";
import type { OutputGate, Stop } from "./output-gate.ts";

type RelayState = {
  readonly client: ClientWriter;
  readonly gate: OutputGate;
  readonly end: AnswerEnd;
  readonly usage: UsageSeen;
  readonly stream: AnswerStream;
};

export class RelayOutcome {
  readonly ended: Promise<StreamEnd | FailedAttempt>;
  /** A field and not a getter: the relay reads it for every packet and every event. */
  isOver = false;
  /** Whether the provider charges nothing for the answer. */
  isFree = false;
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
      drained: client.hasLeft,
      isFree: this.isFree,
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
    const { client, end, usage, stream } = this.#state;
    if (end.isReached) {
      this.complete();
      return;
    }
    const withheld = { text: read.text, share: 1 - share, usageBefore: usage.usage };
    if (read.meaning.kind === "part") {
      if (read.meaning.usage !== null) usage.add(read.meaning.usage);
      const part = stream.showShare(read.meaning, share);
      if (part !== null) client.pass(part);
      else withheld.share = 1;
    }
    usage.outputFollowed();
    const { leading } = client;
    this.#finish({ kind: "stopped", cause, leading, unfinished: end.unfinished, withheld, usage });
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
