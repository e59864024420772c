// Reads one event of a Responses stream: its meaning, its text and its size.

import { withSigns } from "../../metering/priced-otherwise.ts";
import { RESPONSES_USAGE } from "../../metering/responses-usage.ts";
import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { fieldsOf, isRestOfLine } from "../../stream/sse.ts";
import type { UpstreamFailure } from "../../upstreams/chat-upstream.ts";
import { failureAnnounced } from "../../upstreams/http/announced-errors.ts";
import type { EventMeaning, ReadEvent } from "../answer-format.ts";
import { errorIn } from "../chat/chunk.ts";
import { NO_OUTPUT, sizeOfText } from "../output-size.ts";
import { ENDS } from "./item-texts.ts";
import type { ShownItems } from "./shown-items.ts";

/** How a mark begins that some upstreams send behind a stream. It is no part of the protocol, whose last event is its end. */
const FOREIGN_MARK = "[";
const FAILED: ReadonlySet<unknown> = new Set(["response.failed", "response.cancelled"]);

/** Reads one complete event. `shown`: what was shown before it. */
export function readResponseEvent(event: Buffer, shown: ShownItems): ReadEvent {
  const { data, name } = fieldsOf(event);
  const read = { event, data: data ?? "" };
  const json = read.data.trim();
  const object = parseObject(json);
  if (isRestOfLine(event)) return { ...read, meaning: { kind: "foreign" }, text: "", size: NO_OUTPUT };
  if (object === null) return { ...read, meaning: withoutObject(json, name), text: "", size: NO_OUTPUT };
  const text = shown.newTextOf(object);
  const meaning = meaningOf(object, name, text);
  return { ...read, meaning, text, size: text === "" ? NO_OUTPUT : sizeOfText(text) };
}

/** What an error in place of a response means. */
export function failureOfResponse(error: JsonObject | null, usage: unknown): UpstreamFailure {
  return failureAnnounced(error, usage, RESPONSES_USAGE);
}

function withoutObject(json: string, name: string | null): EventMeaning {
  if (json === "" || json.startsWith(FOREIGN_MARK)) return { kind: "opaque" };
  return name === "error" ? { kind: "error", error: null, usage: null } : { kind: "malformed" };
}

function meaningOf(object: JsonObject, name: string | null, text: string): EventMeaning {
  const { type, response, item } = object;
  if (typeof type !== "string" || type === "error" || name === "error") return announced(object);
  const answer = isObject(response) ? response : null;
  const usage = isObject(answer?.["usage"]) ? withSigns(answer["usage"], answer) : null;
  if (FAILED.has(type)) return { kind: "error", error: isObject(answer?.["error"]) ? answer["error"] : answer, usage };
  // Others are about the connection, or the limits of the account that all customers share.
  if (!type.startsWith("response.")) return { kind: type === "keepalive" ? "opaque" : "foreign" };
  // One that is not known yet passes: its client may know it.
  const late = text !== "" && (type === "response.output_item.done" || ENDS.has(type)) ? { isLateText: true } : {};
  const part = { kind: "part", object, isUsageOnly: false, choices: [0], ...late } as const;
  if (ENDS.has(type)) return { ...part, usage, hasOutput: text !== "", finished: [0], isLast: true };
  return { ...part, usage: null, hasOutput: text !== "" || isBegun(type, item), finished: [] };
}

/** An object that is no event of the protocol: an error, or nothing that its client knows. */
function announced(object: JsonObject): EventMeaning {
  const error = errorIn(object);
  return error === null ? { kind: "foreign" } : { kind: "error", error, usage: null };
}

/** A message begins empty. Any other item shows that the model is at work, though its thoughts may be hidden. */
function isBegun(type: string, item: unknown): boolean {
  return type === "response.output_item.added" && isObject(item) && item["type"] !== "message";
}
