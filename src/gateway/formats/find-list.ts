// Finds the list of an answer in one piece, without parsing the rest of it.

import type { FailedAttempt } from "../answer/call-upstream.ts";
import type { JsonObject } from "../request/field-rules.ts";
import { JsonScanError, type ObjectScan, scanObject, type Span } from "../request/json-scan.ts";
import { parseObject } from "../request/parse-object.ts";
import { withoutMark } from "../stream/sse.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";
import { errorIn } from "./chat/chunk.ts";

const SPACE = 0x20;
const OPEN_BRACKET = 0x5b;

/** An upstream that answered 200 may charge for what it sent. */
export const NOT_AN_ANSWER: UpstreamFailure = {
  kind: "perhaps_billed",
  reason: "the upstream answered with something that is no answer to the request",
};

/** An answer and the list in it that was asked for. */
export type FoundList = {
  readonly json: Buffer;
  readonly members: ObjectScan["members"];
  readonly list: Span;
  /** The JSON of a member; null where it is absent. */
  readonly textOf: (name: string) => string | null;
};

/** What an error means that came with status 200, given the usage beside it. */
type FailureOf = (error: JsonObject | null, usage: unknown) => UpstreamFailure;

/** Finds the list of an answer: `choices` of a chat, `data` of vectors. Returns the failure where there is none. */
export function findList(bytes: Buffer, name: string, failureOf: FailureOf): FoundList | FailedAttempt {
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
  return failed(error === null ? NOT_AN_ANSWER : failureOf(error, object?.["usage"]));
}

/** A longer answer that announces an error is a failure too; its message is not read. */
const MAX_ERROR_BYTES = 64 * 1024;
function announcesError(members: ObjectScan["members"], textOf: (name: string) => string | null): boolean {
  if (members.has("error") && !NO_ERROR.has(textOf("error") ?? "")) return true;
  return textOf("object") === '"error"' || textOf("type") === '"error"';
}

const NO_ERROR: ReadonlySet<string> = new Set(["null", '""', "false"]);

/** The failure of a stream without any part of an answer. */
export const NO_ANSWER = failed({ kind: "perhaps_billed", reason: "the stream held no answer" });

/** An attempt that ended in this failure. */
export function failed(failure: UpstreamFailure): FailedAttempt {
  return { kind: "failed", failure };
}
