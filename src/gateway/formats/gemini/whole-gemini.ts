// A whole answer: what is billed of it, and what is no answer.

import type { FailedAttempt } from "../../answer/call-upstream.ts";
import { scanObject } from "../../request/json-scan.ts";
import { parseObject } from "../../request/parse-object.ts";
import { withoutMark } from "../../stream/sse.ts";
import type { FoundAnswer } from "../answer-format.ts";
import { failed, findList, NOT_AN_ANSWER } from "../find-list.ts";
import { textOfPiece } from "./candidate-text.ts";
import { endReasonOf, failureOfGemini, isFailed } from "./read-piece.ts";

/** An answer without output is not longer. */
const MAX_EMPTY_BYTES = 1_024;

/** Finds the usage of an answer, or returns why it is none. */
export function readWholeGemini(bytes: Buffer): FoundAnswer | FailedAttempt {
  const found = findList(bytes, "candidates", failureOfGemini);
  if ("kind" in found) return readRefused(bytes) ?? found;
  const { json, members, list: candidates, textOf } = found;
  if (candidates.end - candidates.start < MAX_EMPTY_BYTES) {
    const fault = faultOf(
      `{"candidates":${textOf("candidates") ?? ""},"promptFeedback":${textOf("promptFeedback") ?? "null"}}`,
    );
    if (fault !== null) return failed({ ...NOT_AN_ANSWER, reason: fault });
  }
  return { json, members, output: candidates, usage: parseObject(textOf("usageMetadata") ?? "") };
}

/** Why short candidates are no answer: they have neither output nor an end, or ended in an error. Null: they are one. */
function faultOf(json: string): string | null {
  const piece = parseObject(json);
  if (piece === null) return "the candidates of the answer cannot be read";
  if (textOfPiece(piece) !== "") return null;
  const reason = endReasonOf(piece);
  if (isFailed(reason)) return "the upstream finished with an error";
  // A model may write nothing: then its answer has an end.
  return reason === null ? "the upstream answered with nothing" : null;
}

/** A prompt that was refused is an answer without candidates. */
function readRefused(bytes: Buffer): FoundAnswer | null {
  if (bytes.length > MAX_EMPTY_BYTES) return null;
  const json = withoutMark(bytes);
  const piece = parseObject(json.toString("utf8"));
  if (piece === null || piece["error"] !== undefined || endReasonOf(piece) === null) return null;
  const usage = parseObject(JSON.stringify(piece["usageMetadata"] ?? null));
  return { json, members: scanObject(json).members, output: undefined, usage };
}
