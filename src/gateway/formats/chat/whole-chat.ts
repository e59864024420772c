// A whole chat answer: what is billed of it, and what is no answer.

import type { FailedAttempt } from "../../answer/call-upstream.ts";
import { wholeWithSigns } from "../../metering/priced-otherwise.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { failureAnnounced } from "../../upstreams/http/announced-errors.ts";
import type { FoundAnswer } from "../answer-format.ts";
import { failed, findList, NOT_AN_ANSWER } from "../find-list.ts";
import { hasOutput } from "./chunk.ts";

const ERROR_VALUE = Buffer.from('"error"');
/** Choices without output are not longer. */
const MAX_EMPTY_BYTES = 256;

/** Finds the usage of a complete chat answer, or returns why it is no answer. */
export function readWholeChat(bytes: Buffer): FoundAnswer | FailedAttempt {
  const found = findList(bytes, "choices", failureAnnounced);
  if ("kind" in found) return found;
  const { json, members, list: choices, textOf } = found;
  // The text of an answer is not decoded unless an error may be in it, or nothing at all.
  const isShort = choices.end - choices.start < MAX_EMPTY_BYTES;
  const errorAt = json.indexOf(ERROR_VALUE, choices.start);
  if (isShort || (errorAt >= 0 && errorAt < choices.end)) {
    const fault = faultOf(textOf("choices") ?? "");
    if (fault !== null) return failed({ ...NOT_AN_ANSWER, reason: fault });
  }
  const usage = wholeWithSigns(parseObject(textOf("usage") ?? ""), textOf);
  return { json, members, output: choices, usage };
}

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
