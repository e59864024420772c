// Receives an answer that is not streamed: one JSON text, kept until it is whole.

import type { FailedAttempt } from "./call-upstream.ts";
import { EmptyTime } from "./empty-time.ts";
import type { FoundAnswer } from "../formats/answer-format.ts";
import { failed, NOT_AN_ANSWER } from "../formats/find-list.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "../upstreams/chat-upstream.ts";

/** A larger answer is no chat completion. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The end of an attempt that did not fail. */
export type CollectedAnswer =
  /** `drained`: the client has left and the answer was read on. */
  | (FoundAnswer & { readonly kind: "complete"; readonly drained: boolean })
  /** The client has left, and the answer was not read to its end. `failure`: the upstream's failure, where it caused that. */
  | { readonly kind: "gone"; readonly failure: UpstreamFailure | null };

/** Listens to one call and returns its answer when it is complete. */
export class AnswerCollector implements UpstreamListener {
  readonly ended: Promise<CollectedAnswer | FailedAttempt>;
  upstreamRequestId: string | null = null;
  readonly #resolve: (answer: CollectedAnswer | FailedAttempt) => void;
  readonly #accepts: (answer: Buffer) => boolean;
  readonly #read: (answer: Buffer) => FoundAnswer | FailedAttempt;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #isEventStream = false;
  #isDraining = false;
  #hasBegun = false;
  readonly #emptyTime = new EmptyTime();

  /** `read`: finds what is billed and shown of an answer. `accepts`: whether the caller's protocol can carry it. */
  constructor(
    read: (answer: Buffer) => FoundAnswer | FailedAttempt,
    accepts: (answer: Buffer) => boolean = () => true,
  ) {
    this.#read = read;
    this.#accepts = accepts;
    const { promise, resolve } = Promise.withResolvers<CollectedAnswer | FailedAttempt>();
    this.ended = promise;
    this.#resolve = resolve;
  }

  /** An event stream is never the answer that was asked for here. */
  get hasAnswered(): boolean {
    return this.#hasBegun && !this.#isEventStream;
  }

  onAnswer(answer: { readonly isEventStream: boolean; readonly upstreamRequestId: string | null }): void {
    this.upstreamRequestId = answer.upstreamRequestId;
    this.#isEventStream = answer.isEventStream;
  }

  attach(_call: UpstreamCall, emptyLimitMs: number): void {
    this.#emptyTime.limitTo(emptyLimitMs);
  }

  onData(bytes: Buffer): void {
    // Some upstreams write line breaks until their answer is ready.
    this.#hasBegun ||= bytes.some((byte) => byte > SPACE);
    const failure = this.#hasBegun ? null : this.#emptyTime.goOn();
    if (failure !== null) this.#end(failed(failure));
    this.#length += bytes.length;
    if (this.#length <= MAX_ANSWER_BYTES) this.#parts.push(bytes);
    else this.#end(failed({ ...NOT_AN_ANSWER, reason: "the answer is too large" }));
  }

  onEnd(): void {
    const [first] = this.#parts;
    const json = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    const answer = this.#isEventStream ? failed(NOT_AN_ANSWER) : this.#read(json);
    if ("kind" in answer) this.#end(answer);
    else if (this.#accepts(answer.json)) this.#end({ kind: "complete", ...answer, drained: false });
    else this.#end(failed(NOT_AN_ANSWER));
  }

  onFailure(failure: UpstreamFailure): void {
    this.#end(failed(failure));
  }

  /** The client has left: the answer is read on for its usage. */
  onClientGone(): void {
    this.#isDraining = true;
  }

  /** No code waits for the end any more. */
  onGivenUp(): void {
    this.#resolve({ kind: "gone", failure: null });
  }

  #end(answer: CollectedAnswer | FailedAttempt): void {
    if (!this.#isDraining) this.#resolve(answer);
    else if (answer.kind === "failed") this.#resolve({ kind: "gone", failure: answer.failure });
    else if (answer.kind === "complete") this.#resolve({ ...answer, drained: true });
  }
}

const SPACE = 0x20;
