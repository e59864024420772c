// Receives an answer that is not streamed: one JSON text, kept until it is whole.

import type { FailedAttempt } from "./call-upstream.ts";
import { EmptyTime } from "./empty-time.ts";
import { errorIn, hasOutput, parseObject } from "../stream/chunk.ts";
import { withoutMark } from "../stream/sse.ts";
import { isObject, type JsonObject } from "../request/field-rules.ts";
import { JsonScanError, type ObjectScan, scanObject, type Span } from "../request/json-scan.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamListener } from "../upstreams/chat-upstream.ts";
import { failureAnnounced } from "../upstreams/http/announced-errors.ts";

/** A larger answer is no chat completion. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The end of an attempt that did not fail. */
export type CollectedAnswer =
  /** `drained`: the client has left and the answer was read on. */
  | {
      readonly kind: "complete";
      readonly json: Buffer;
      readonly members: ObjectScan["members"];
      readonly usage: unknown;
      readonly drained: boolean;
    }
  /** The client has left, and the answer was not read to its end. `failure`: the upstream's failure, where it caused that. */
  | { readonly kind: "gone"; readonly failure: UpstreamFailure | null };

/** Listens to one call and returns its answer when it is complete. */
export class AnswerCollector implements UpstreamListener {
  readonly ended: Promise<CollectedAnswer | FailedAttempt>;
  upstreamRequestId: string | null = null;
  readonly #resolve: (answer: CollectedAnswer | FailedAttempt) => void;
  readonly #accepts: (answer: Buffer) => boolean;
  readonly #read: (answer: Buffer) => CollectedAnswer | FailedAttempt;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #isEventStream = false;
  #isDraining = false;
  #hasBegun = false;
  readonly #emptyTime = new EmptyTime();

  /** `accepts`: whether the caller's protocol can carry an answer. `read`: finds what is billed and shown of it. */
  constructor(accepts: (answer: Buffer) => boolean = () => true, read = readAnswer) {
    this.#accepts = accepts;
    this.#read = read;
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
    this.#end(answer.kind === "complete" && !this.#accepts(answer.json) ? failed(NOT_AN_ANSWER) : answer);
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
const OPEN_BRACKET = 0x5b;
const ERROR_VALUE = Buffer.from('"error"');

export const NOT_AN_ANSWER: UpstreamFailure = {
  kind: "perhaps_billed",
  reason: "the upstream answered with something that is no answer to the request",
};

/** Finds the usage of a complete chat answer, or returns why it is no answer. */
export function readAnswer(bytes: Buffer): CollectedAnswer | FailedAttempt {
  const found = findList(bytes, "choices");
  if ("kind" in found) return found;
  const { json, members, list: choices, textOf } = found;
  // The text of an answer is not decoded unless an error may be in it, or nothing at all.
  const isShort = choices.end - choices.start < MAX_EMPTY_BYTES;
  const errorAt = json.indexOf(ERROR_VALUE, choices.start);
  if (isShort || (errorAt >= 0 && errorAt < choices.end)) {
    const fault = faultOf(textOf("choices") ?? "");
    if (fault !== null) return failed({ ...NOT_AN_ANSWER, reason: fault });
  }
  const usage = parseObject(textOf("usage") ?? "");
  return { kind: "complete", json, members, usage, drained: false };
}

/** An answer and the list in it that was asked for. */
export type FoundList = {
  readonly json: Buffer;
  readonly members: ObjectScan["members"];
  readonly list: Span;
  /** The JSON of a member; null where it is absent. */
  readonly textOf: (name: string) => string | null;
};

/** Finds the list of an answer: `choices` of a chat, `data` of vectors. Returns the failure where there is none. */
export function findList(bytes: Buffer, name: string): FoundList | FailedAttempt {
  const json = withoutMark(bytes);
  if (json.length === 0) return failed(NOT_AN_ANSWER);
  let scan: ObjectScan;
  try {
    scan = scanObject(json);
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error;
    // A web page came back and no model answered, so nothing was computed. A truncated answer was computed.
    return failed(error.reason === "not_an_object" ? { ...NOT_AN_ANSWER, kind: "unbilled" } : NOT_AN_ANSWER);
  }
  // Clients parse the whole body, and more than one JSON text does not parse.
  if (json.subarray(scan.end).some((byte) => byte > SPACE)) return failed(NOT_AN_ANSWER);
  const { members } = scan;
  const textOf = (member: string): string | null => {
    const span = members.get(member);
    return span === undefined ? null : json.toString("utf8", span.start, span.end);
  };
  const list = members.get(name);
  if (list !== undefined && json[list.start] === OPEN_BRACKET && !announcesError(members, textOf)) {
    return { json, members, list, textOf };
  }
  const object = json.length > MAX_ERROR_BYTES ? null : parseObject(json.toString("utf8"));
  const error = object === null ? null : errorIn(object);
  return failed(error === null ? NOT_AN_ANSWER : failureAnnounced(error, object?.["usage"]));
}

/** A longer answer that announces an error is a failure too; its message is not read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Choices without output are not longer. */
const MAX_EMPTY_BYTES = 256;

function announcesError(members: ObjectScan["members"], textOf: (name: string) => string | null): boolean {
  if (members.has("error") && !NO_ERROR.has(textOf("error") ?? "")) return true;
  return textOf("object") === '"error"' || textOf("type") === '"error"';
}

const NO_ERROR: ReadonlySet<string> = new Set(["null", '""', "false"]);

/** Why choices are no answer: each ended in an error, or they have neither output nor an end. Null: they are one. */
function faultOf(choices: string): string | null {
  const list: unknown = parseObject(`{"choices":${choices}}`)?.["choices"];
  if (!Array.isArray(list)) return "the choices of the answer cannot be read";
  const found = list.filter(isObject);
  if (found.length > 0 && found.every(isErrorWithoutText)) return "the upstream finished with an error";
  if (found.some(hasOutput)) return null;
  // A model may write nothing: then its answer has an end.
  if (!found.some(({ finish_reason: reason }) => typeof reason === "string" && reason !== "")) {
    return "the upstream answered with nothing";
  }
  return null;
}

function isErrorWithoutText({ finish_reason: reason, message }: JsonObject): boolean {
  const content = isObject(message) ? message["content"] : null;
  return reason === "error" && (content === null || content === undefined || content === "");
}

export function failed(failure: UpstreamFailure): FailedAttempt {
  return { kind: "failed", failure };
}
