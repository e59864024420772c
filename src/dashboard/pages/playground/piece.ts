// What the playground shows of an answer, whichever format it was asked in.

import type { SnippetRequest } from "../../snippets/code.ts";

/** The format of models that make vectors; the others are those of `FORMATS`. */
export const EMBEDDINGS = "embeddings";

/** The billed tokens of an answer. The cached ones are among the input. */
export type Counts = {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly costIdr: string;
};

/** A part of an answer, or a whole one. What is absent stays as it was. */
export type Piece = {
  readonly requestId?: string;
  readonly text?: string;
  readonly reasoning?: string;
  /** The answer was ended by the cap on its tokens. */
  readonly isCutShort?: boolean;
  readonly counts?: Counts;
};

/** Sends a request with the session, and returns its answer piece by piece. */
export type Send = (request: SnippetRequest, signal: AbortSignal) => AsyncIterable<Piece>;

/** A stream that ended with an error event. `isRefused`: the request is at fault, and sending it again is of no use. */
export class BrokenOff extends Error {
  readonly isRefused: boolean;

  constructor(message: string, isRefused: boolean) {
    super(message);
    this.isRefused = isRefused;
  }
}

/** The id of the usage record, which ids of answers end with. */
export function requestIdOf(answerId: string): string {
  return answerId.replace(/^(chatcmpl-|msg_|resp_)/, "");
}

/** An answer has no time limit, unlike other calls. */
export function withoutLimit(signal: AbortSignal): { readonly signal: AbortSignal; readonly timeoutMs: number } {
  return { signal, timeoutMs: 0 };
}
