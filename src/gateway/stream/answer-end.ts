// How a stream ends, and when its answer does.

import type { ReportedUsage } from "../metering/usage-seen.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";

/** The facts of every end of a stream. The usage is the report up to there: its prompt side is sound even where the answer broke off. */
type Ending = { readonly usage: ReportedUsage };

/** The end of an attempt that reached the client, or would have. */
export type StreamEnd = Ending &
  (
    | /** The answer is complete. `held`: its last events, without the mark behind them. */ {
        readonly kind: "complete";
        readonly held: readonly Buffer[];
        /** Whether the client has left and the stream was read on. */
        readonly drained: boolean;
        /** Whether the provider charges nothing for it. */
        readonly isFree: boolean;
      }
    /** It broke off after something had reached the client. */
    | { readonly kind: "broken"; readonly failure: UpstreamFailure }
    /** More was written than may go out, so the rest was not relayed. `unfinished`: the choices that go on, by index. */
    | {
        readonly kind: "stopped";
        readonly cause: StopCause;
        /** The events before the first output, where none went out. */
        readonly leading: readonly Buffer[];
        readonly unfinished: readonly number[];
        readonly withheld: Withheld;
      }
    /** The client has left, and the stream was not read to its end. `failure`: the upstream's failure, where it caused that. */
    | { readonly kind: "gone"; readonly failure: UpstreamFailure | null }
  );

/** The part of an answer that came and was not relayed. */
export type Withheld = {
  /** The text of the event it is in, and the share of the text that was not relayed, from 0 to 1. */
  readonly text: string;
  readonly share: number;
  /** The usage reported before that event; null: none. */
  readonly usageBefore: JsonObject | null;
};

/** `limit`: the upstream wrote on behind the bound. `hold`: more could not be held, and why. */
export type StopCause = { readonly kind: "limit" } | { readonly kind: "hold"; readonly reason: unknown };

/** The most bytes between the end of an answer and the end of its stream. */
const MAX_HELD_BYTES = 1024 * 1024;

/** Tracks whether an answer has ended, and keeps its last frames back: clients take it for complete at a finish_reason. */
export class AnswerEnd {
  /** The choices that chunks have named. An upstream may write fewer than were asked for. */
  readonly #seen = new Set<number>();
  readonly #finished = new Set<number>();
  #frames: Buffer[] = [];
  #bytes = 0;
  #isReached = false;

  /** Whether every choice that was begun has finished. */
  get isReached(): boolean {
    return this.#isReached;
  }

  /** The choices that were begun and have not finished. Where nothing was begun it is the first. */
  get unfinished(): readonly number[] {
    return this.#seen.size === 0 ? [0] : [...this.#seen].filter((index) => !this.#finished.has(index));
  }

  /** The frames held back. */
  get frames(): readonly Buffer[] {
    return this.#frames;
  }

  /** Records the choices of a chunk. */
  note({ choices, finished }: { readonly choices: readonly number[]; readonly finished: readonly number[] }): void {
    for (const index of choices) this.#seen.add(index);
    for (const index of finished) this.#finished.add(index);
    if (this.#finished.size > 0 && this.#finished.size === this.#seen.size) this.#isReached = true;
  }

  /** An answer that is written as one chunk ends with it. */
  reach(): void {
    this.#isReached = true;
  }

  /** Keeps a frame. False: it is too much. */
  keep(frame: Buffer): boolean {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    return this.#bytes <= MAX_HELD_BYTES;
  }

  /** Returns the kept frames where another choice goes on: the end was that of one choice, and not of the answer. */
  release(choices: readonly number[]): Buffer | null {
    if (!this.#isReached || choices.every((index) => this.#finished.has(index))) return null;
    const frames = Buffer.concat(this.#frames);
    this.#isReached = false;
    this.#frames = [];
    this.#bytes = 0;
    return frames;
  }
}
