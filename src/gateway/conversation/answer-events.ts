// An answer in no protocol's own form: the events of a stream, in their order. A whole answer is the same events at once.

import type { Opaque } from "./conversation.ts";

/**
 * One event of an answer. There is one answer (`n` is 1). Calls are numbered from 0 in the order in which they begin, and the
 * input of several calls may alternate. `opaque` belongs to the reasoning before it, which may have no text. `finish` is the last event of the model; `usage` and the end of the stream follow.
 */
export type AnswerEvent =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refusal"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | ({ readonly kind: "opaque" } & Opaque)
  | {
      readonly kind: "call";
      readonly call: number;
      readonly id: string;
      readonly name: string;
      readonly opaque?: Opaque;
    }
  | { readonly kind: "input"; readonly call: number; readonly text: string }
  | { readonly kind: "finish"; readonly reason: FinishReason }
  | { readonly kind: "usage"; readonly usage: AnswerUsage };

/** `calls`: tools are called. `length`: the cap, the context or the balance ended it. `filtered`: the provider's policy did. */
export type FinishReason = "stop" | "calls" | "length" | "filtered";

/** The billed tokens. `input` is all input; `cached`, `written` and `written1h` are parts of it that do not overlap. */
export type AnswerUsage = {
  readonly input: number;
  readonly cached: number;
  readonly written: number;
  readonly written1h: number;
  readonly output: number;
  /** A part of the output. */
  readonly reasoning: number;
  /** A decimal string in rupiah. */
  readonly costIdr: string;
};
