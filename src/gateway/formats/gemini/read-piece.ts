// Reads one event of a Gemini stream: its meaning, its text and its size.

import { candidatesOf, isBlock } from "../../conversation/gemini/read-gemini-answer.ts";
import { GEMINI_USAGE } from "../../metering/gemini-usage.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { fieldsOf, isRestOfLine } from "../../stream/sse.ts";
import type { UpstreamFailure } from "../../upstreams/chat-upstream.ts";
import { failureAnnounced } from "../../upstreams/http/announced-errors.ts";
import type { AnswerPart, EventMeaning, ReadEvent } from "../answer-format.ts";
import { errorIn } from "../chat/chunk.ts";
import { NO_OUTPUT, sizeOfText } from "../output-size.ts";
import { isMedia, outputPartsOf, textOfPiece } from "./candidate-text.ts";

/** Reasons with which a model ends in place of an answer. */
const FAILED =
  /^(?:MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE|MALFORMED_RESPONSE|OTHER)$/;

/** Reads one complete event. */
export function readPiece(event: Buffer): ReadEvent {
  const { data, name } = fieldsOf(event);
  const read = { event, data: data ?? "", text: "", size: NO_OUTPUT };
  const json = read.data.trim();
  if (json === "") return { ...read, meaning: { kind: isRestOfLine(event) ? "foreign" : "opaque" } };
  const object = parseObject(json);
  if (object === null) return { ...read, meaning: name === "error" ? NO_ERROR_TEXT : { kind: "malformed" } };
  const meaning = meaningOf(object);
  if (meaning.kind !== "part" || !meaning.hasOutput) return { ...read, meaning };
  const text = textOfPiece(object);
  return { ...read, meaning, text, size: sizeOfText(text, outputPartsOf(object).some(isMedia)) };
}

/** What an error in place of an answer means. */
export function failureOfGemini(error: JsonObject | null, usage: unknown): UpstreamFailure {
  return failureAnnounced(error, usage, GEMINI_USAGE);
}

/** Whether a model ended in an error in place of an answer. */
export function isFailed(reason: unknown): boolean {
  return typeof reason === "string" && FAILED.test(reason);
}

const NO_ERROR_TEXT = { kind: "error", error: null, usage: null } as const;

/** The reason for which a piece ends the answer; null: it does not. A prompt that was refused has no answer at all. */
export function endReasonOf(piece: JsonObject): string | null {
  const { promptFeedback: feedback } = piece;
  const candidates = candidatesOf(piece);
  if (candidates.length === 0) return isObject(feedback) && isBlock(feedback["blockReason"]) ? "SAFETY" : null;
  const reason = candidates[0]?.["finishReason"];
  return typeof reason === "string" && reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED" ? reason : null;
}

function meaningOf(object: JsonObject): EventMeaning {
  const usage = isObject(object["usageMetadata"]) ? object["usageMetadata"] : null;
  const error = isObject(object["error"]) ? object["error"] : null;
  if (error !== null) return { kind: "error", error, usage };
  const reason = endReasonOf(object);
  const isPiece = Array.isArray(object["candidates"]) || usage !== null || reason !== null;
  if (!isPiece) return withoutPiece(object);
  return partOf(object, usage, reason);
}

/** An object that is no piece of an answer: an error, or nothing that its client knows. */
function withoutPiece(object: JsonObject): EventMeaning {
  const error = errorIn(object);
  return error === null ? { kind: "foreign" } : { kind: "error", error, usage: null };
}

function partOf(object: JsonObject, usage: JsonObject | null, reason: string | null): AnswerPart {
  const hasCandidates = candidatesOf(object).length > 0;
  return {
    kind: "part",
    object,
    usage,
    isUsageOnly: !hasCandidates && reason === null,
    hasOutput: outputPartsOf(object).some(hasContent),
    choices: hasCandidates || reason !== null ? [0] : [],
    finished: reason === null ? [] : [0],
    ...(isFailed(reason) ? { hasFailed: true } : {}),
  };
}

/** A part may have a signature alone, or an empty text. */
function hasContent(part: JsonObject): boolean {
  return Object.entries(part).some(
    ([name, value]) => name !== "thoughtSignature" && name !== "thought" && value !== "" && value !== null,
  );
}
