// Receives an answer that is not streamed: one JSON text, kept until it is whole.

import type { FailedAttempt } from "./call-upstream.ts";
import { parseObject } from "./chunk.ts";
import { isObject, type JsonObject } from "./request/field-rules.ts";
import { JsonScanError, type ObjectScan, scanObject } from "./request/json-scan.ts";
import type { UpstreamFailure, UpstreamListener } from "./upstreams/chat-upstream.ts";

/** A larger answer is no chat completion. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** How an attempt ended that did not fail. */
export type CollectedAnswer =
  /** `drained`: the client has left and the answer was read on. */
  | {
      readonly kind: "complete";
      readonly json: Buffer;
      readonly members: ObjectScan["members"];
      readonly usage: unknown;
      readonly drained: boolean;
    }
  /** The client has left, and the answer was not read to its end. `failure`: where that was the upstream's doing. */
  | { readonly kind: "gone"; readonly failure: UpstreamFailure | null };

/** Hears one call and hands over its answer when it is whole. */
export class AnswerCollector implements UpstreamListener {
  readonly ended: Promise<CollectedAnswer | FailedAttempt>;
  upstreamRequestId: string | null = null;
  readonly #resolve: (answer: CollectedAnswer | FailedAttempt) => void;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #isEventStream = false;
  #isDraining = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<CollectedAnswer | FailedAttempt>();
    this.ended = promise;
    this.#resolve = resolve;
  }

  onAnswer(answer: { readonly isEventStream: boolean; readonly upstreamRequestId: string | null }): void {
    this.upstreamRequestId = answer.upstreamRequestId;
    this.#isEventStream = answer.isEventStream;
  }

  onData(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length <= MAX_ANSWER_BYTES) this.#parts.push(bytes);
    else this.#end(failed({ ...NOT_AN_ANSWER, reason: "the answer is too large" }));
  }

  onEnd(): void {
    const [first] = this.#parts;
    const json = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#end(this.#isEventStream ? failed(NOT_AN_ANSWER) : readAnswer(json));
  }

  onFailure(failure: UpstreamFailure): void {
    this.#end(failed(failure));
  }

  /** The client has left: the answer is read on for its usage. */
  onClientGone(): void {
    this.#isDraining = true;
  }

  /** Nobody waits for the end any more. */
  onGivenUp(): void {
    this.#resolve({ kind: "gone", failure: null });
  }

  #end(answer: CollectedAnswer | FailedAttempt): void {
    if (!this.#isDraining) this.#resolve(answer);
    else if (answer.kind === "failed") this.#resolve({ kind: "gone", failure: answer.failure });
    else if (answer.kind === "complete") this.#resolve({ ...answer, drained: true });
  }
}

const OPEN_BRACKET = 0x5b;
const ERROR_VALUE = Buffer.from('"error"');

const NOT_AN_ANSWER: UpstreamFailure = {
  kind: "perhaps_billed",
  reason: "the upstream answered with something that is no chat completion",
};

/** Finds the usage of a complete answer, or says why it is none. */
export function readAnswer(json: Buffer): CollectedAnswer | FailedAttempt {
  if (json.length === 0) return failed(NOT_AN_ANSWER);
  let scan: ObjectScan;
  try {
    scan = scanObject(json);
  } catch (error) {
    if (!(error instanceof JsonScanError)) throw error;
    // A page, not a model, has answered: nothing was computed. A truncated answer was.
    return failed(error.reason === "not_an_object" ? { ...NOT_AN_ANSWER, kind: "unbilled" } : NOT_AN_ANSWER);
  }
  const textOf = (name: string): string | null => {
    const span = scan.members.get(name);
    return span === undefined ? null : json.toString("utf8", span.start, span.end);
  };
  const error = textOf("error");
  if (error !== null && error !== "null") return failed(failureOfError(parseObject(error)));
  const choices = scan.members.get("choices");
  if (choices === undefined || json[choices.start] !== OPEN_BRACKET) return failed(NOT_AN_ANSWER);
  // The text of an answer is not decoded unless an error may be in it.
  const errorAt = json.indexOf(ERROR_VALUE, choices.start);
  if (errorAt >= 0 && errorAt < choices.end && isErrorFinish(textOf("choices") ?? "")) {
    return failed({ ...NOT_AN_ANSWER, reason: "the upstream finished with an error" });
  }
  const usage = parseObject(textOf("usage") ?? "");
  return { kind: "complete", json, members: scan.members, usage, drained: false };
}

/** What an error object that came with status 200 means. Its text stays with us. */
export function failureOfError(error: JsonObject | null): UpstreamFailure {
  const code = Number(error?.["code"] ?? error?.["status"]);
  const reason = `the upstream answered 200 with an error${Number.isNaN(code) ? "" : ` ${code}`}`;
  if (code === 400 || code === 413 || code === 422) {
    return { kind: "refused", reason, message: "The upstream refused the request" };
  }
  return { kind: "unbilled", reason };
}

/** Whether every choice ended in an error and delivered nothing. */
function isErrorFinish(choices: string): boolean {
  const list: unknown = parseObject(`{"choices":${choices}}`)?.["choices"];
  if (!Array.isArray(list) || list.length === 0) return false;
  return list.every((choice: unknown) => {
    if (!isObject(choice) || choice["finish_reason"] !== "error") return false;
    const content = isObject(choice["message"]) ? choice["message"]["content"] : null;
    return content === null || content === undefined || content === "";
  });
}

function failed(failure: UpstreamFailure): FailedAttempt {
  return { kind: "failed", failure };
}
