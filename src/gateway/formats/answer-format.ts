// The port to the wire of one protocol's answers: what the events and whole answers of an upstream mean for the money, and how they
// are shown under our names. What is done with them (settlement before the end is visible, holds, bounds, drains, estimates) is the
// same for all protocols and is not here.

import type { FailedAttempt } from "../answer/call-upstream.ts";
import type { BilledUsage } from "../metering/bill.ts";
import type { OutputReader } from "../metering/output-reader.ts";
import type { UsageReader } from "../metering/usage-reader.ts";
import type { JsonObject } from "../request/field-rules.ts";
import type { ObjectScan, Span } from "../request/json-scan.ts";
import type { Frames } from "../stream/frames.ts";
import type { OutputSize } from "../stream/output-limit.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";
import type { NativeClient, ShownAs, ShownFormat, ShownNames } from "./shown-format.ts";

/** What one event means for the stream that it is in. */
export type EventMeaning =
  /** A comment, a ping, or an event without data: it passes. */
  | { readonly kind: "opaque" }
  /** An object that is no part of the protocol: it is left out. */
  | { readonly kind: "foreign" }
  /** Data that is no JSON object, such as half of one. */
  | { readonly kind: "malformed" }
  /** The mark behind the last part. It is not shown as it came: `complete` writes it. */
  | { readonly kind: "done" }
  | { readonly kind: "error"; readonly error: JsonObject | null; readonly usage: JsonObject | null }
  | AnswerPart;

/** An event that is a part of the answer. */
export type AnswerPart = {
  readonly kind: "part";
  /** The parsed event. */
  readonly object: JsonObject;
  /** The usage object in it, null where there is none. It covers the text of the same event. */
  readonly usage: JsonObject | null;
  /** Whether it carries usage and nothing else, so that it is kept for `complete` and not shown. */
  readonly isUsageOnly: boolean;
  /** Whether it carries anything that the model wrote: text, a call of a tool, reasoning, sound. A role or an empty block is none. */
  readonly hasOutput: boolean;
  /** The answers in it, by index: one alone is 0. The stream waits for the end of each that was named. */
  readonly choices: readonly number[];
  /** The answers that end here. Everything from the last of them on is held back until it is billed. */
  readonly finished: readonly number[];
  /** Whether the model ended in an error in place of an answer. Absent: false. */
  readonly hasFailed?: boolean;
  /** Whether no event follows, though the connection may stay open. Absent: the mark or the end of the stream shows it. */
  readonly isLast?: boolean;
  /** Whether the provider charges nothing for the whole request: a refusal before any output. Absent: false. */
  readonly isFree?: boolean;
  /** Whether its text is one that events of this kind repeat, and was not in a piece before it. Absent: false. */
  readonly isLateText?: boolean;
};

/** One complete event that was read. */
export type ReadEvent = {
  /** Its bytes, with the blank line behind them. */
  readonly event: Buffer;
  readonly data: string;
  readonly meaning: EventMeaning;
  /** The text of the answer in it, and its size. An event without output has an empty one. */
  readonly text: string;
  readonly size: OutputSize;
};

/** A whole answer that came where a stream was asked for. */
export type Unstreamed =
  | { readonly kind: "failed"; readonly failure: UpstreamFailure }
  /** `shown`: the events that a stream would have had, under our names, without the mark behind them. `read` has all its text. */
  | {
      readonly kind: "answer";
      readonly read: ReadEvent;
      readonly part: AnswerPart;
      readonly shown: Buffer;
    };

/** Reads and writes the events of one stream, in their order. */
export interface AnswerStream {
  /** Recognizes events that differ from an earlier one in their text alone. Null: each event is parsed. */
  readonly frames: Frames | null;
  /** Reads a complete event. */
  read(event: Buffer): ReadEvent;
  /** A part as its client sees it. It may give a frame. Null: it is nested too deep to be written. */
  show(read: ReadEvent, part: AnswerPart): Buffer | null;
  /** Keeps a part with usage alone for `complete`. */
  keepUsage(read: ReadEvent): void;
  /** The first part of an event's text as an event, from a share between 0 and 1. Null: none of it can go out. */
  showShare(part: AnswerPart, share: number): Buffer | null;
  /** Reads a whole answer in place of the stream. */
  readUnstreamed(json: Buffer): Unstreamed;
  /**
   * The end of a complete answer: the events that were held back, with the billed usage where the protocol has it, and whatever
   * completes the stream.
   */
  complete(held: readonly Buffer[], billed: BilledUsage): Buffer;
  /** The end of an answer that goes no further, as a cap ends it. `unfinished`: the answers that had not ended. */
  stop(unfinished: readonly number[], billed: BilledUsage): Buffer;
}

/** A whole answer that was read. */
export type FoundAnswer = {
  readonly json: Buffer;
  readonly members: ObjectScan["members"];
  /** Where the output lies in it. */
  readonly output: Span | undefined;
  readonly usage: JsonObject | null;
  /** Whether the provider charges nothing for it. Absent: false. */
  readonly isFree?: boolean;
};

/** The wire of one protocol. An object that all its answers share. */
export interface AnswerFormat extends ShownFormat, OutputReader, UsageReader {
  /** The id of the answer to a request. */
  idOf(requestId: string): string;
  /** `wantsUsage`: whether the client asked for the usage in the stream. Protocols in which it is no choice ignore it. */
  openStream(facts: ShownAs & { readonly wantsUsage: boolean }): AnswerStream;
  /** What an error means that came in place of a part, given the usage beside it or before it. */
  failureOf(error: JsonObject | null, usage: JsonObject | null): UpstreamFailure;
  /** Reads a whole answer, or why it is none. */
  readWhole(json: Buffer): FoundAnswer | FailedAttempt;
  /** The answer with our names and the billed usage. */
  writeWhole(answer: FoundAnswer, names: ShownNames, billed: BilledUsage, native?: NativeClient): Buffer;
}
