// A whole response: what is billed of it, and what is no answer.

import type { FailedAttempt } from "../../answer/call-upstream.ts";
import { wholeWithSigns } from "../../metering/priced-otherwise.ts";
import { parseObject } from "../../request/parse-object.ts";
import type { FoundAnswer } from "../answer-format.ts";
import { failed, findList, NOT_AN_ANSWER } from "../find-list.ts";
import { failureOfResponse } from "./read-response-event.ts";

/** A list without items is not longer. */
const MAX_EMPTY_BYTES = 16;
const FAILED = '"failed"';
const ENDED: ReadonlySet<string | null> = new Set(['"completed"', '"incomplete"']);

/** Finds the usage of a response, or returns why it is none. */
export function readWholeResponse(bytes: Buffer): FoundAnswer | FailedAttempt {
  const found = findList(bytes, "output", failureOfResponse);
  if ("kind" in found) return found;
  const { json, members, list: output, textOf } = found;
  const status = textOf("status");
  if (status === FAILED) return failed({ ...NOT_AN_ANSWER, reason: "the upstream finished with an error" });
  const isEmpty = output.end - output.start < MAX_EMPTY_BYTES && !json.subarray(output.start, output.end).includes("{");
  // A model may write nothing: then its answer has an end.
  if (isEmpty && !ENDED.has(status)) return failed({ ...NOT_AN_ANSWER, reason: "the upstream answered with nothing" });
  return { json, members, output, usage: wholeWithSigns(parseObject(textOf("usage") ?? ""), textOf) };
}
