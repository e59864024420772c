// A whole message: what is billed of it, and what is no answer.

import type { FailedAttempt } from "../../answer/call-upstream.ts";
import { parseObject } from "../../request/parse-object.ts";
import { failureOfMessage } from "./message-failure.ts";
import type { FoundAnswer } from "../answer-format.ts";
import { failed, findList, NOT_AN_ANSWER } from "../find-list.ts";
import { isFreeRefusal } from "./read-message-event.ts";

/** A list without blocks is not longer. */
const MAX_EMPTY_BYTES = 16;

/** Finds the usage of a message, or returns why it is none. */
export function readWholeMessage(bytes: Buffer): FoundAnswer | FailedAttempt {
  const found = findList(bytes, "content", failureOfMessage);
  if ("kind" in found) return found;
  const { json, members, list: content, textOf } = found;
  const reason = parseReason(textOf("stop_reason"));
  const isEmpty =
    content.end - content.start < MAX_EMPTY_BYTES && !json.subarray(content.start, content.end).includes("{");
  // A model may write nothing: then its answer has an end.
  if (isEmpty && reason === null) return failed({ ...NOT_AN_ANSWER, reason: "the upstream answered with nothing" });
  const usage = parseObject(textOf("usage") ?? "");
  return { json, members, output: content, usage, ...(isFreeRefusal(reason, !isEmpty) ? { isFree: true } : {}) };
}

function parseReason(text: string | null): string | null {
  const reason = parseObject(`{"reason":${text ?? "null"}}`)?.["reason"];
  return typeof reason === "string" && reason !== "" ? reason : null;
}
