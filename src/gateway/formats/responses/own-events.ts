// The events of a stream that the gateway writes itself, before they have their numbers.

import type { JsonObject } from "../../request/field-rules.ts";
import type { ShownNames } from "../shown-format.ts";
import { beginOf } from "../shown-text.ts";
import { itemsOf, textsOfResponse } from "./item-texts.ts";

/** A response whose upstream has not begun one. */
export function ownResponse(names: ShownNames): JsonObject {
  return { ...names, object: "response", created_at: 0, error: null, store: false, tools: [] };
}

/** The first event of a stream. */
export function beginEvent(response: JsonObject): JsonObject {
  const begun = { ...response, status: "in_progress", output: [], usage: null, incomplete_details: null };
  return { type: "response.created", response: begun };
}

/** The last event of an answer that goes no further. */
export function capEvent(response: JsonObject, output: readonly JsonObject[], usage: JsonObject): JsonObject {
  const incomplete_details = { reason: "max_output_tokens" };
  return {
    type: "response.incomplete",
    response: { ...response, status: "incomplete", incomplete_details, output, usage },
  };
}

/** The last event of a whole response. */
export function endEvent(response: JsonObject): JsonObject {
  return { type: response["status"] === "incomplete" ? "response.incomplete" : "response.completed", response };
}

/** The events of the items of a whole response, each of them complete, up to a share of its text. */
export function itemEvents(response: JsonObject, share: number): JsonObject[] {
  const length = textsOfResponse(response).reduce((sum, { text }) => sum + text.length, 0);
  let rest = Math.floor(length * share);
  const events: JsonObject[] = [];
  for (const [index, item] of itemsOf(response).entries()) {
    const size = textsOfResponse({ output: [item] }).reduce((sum, { text }) => sum + text.length, 0);
    if (size > rest) return [...events, ...messageBegin(item, index, rest)];
    events.push(...wholeItem(item, index));
    rest -= size;
  }
  return events;
}

function wholeItem(item: JsonObject, index: number): JsonObject[] {
  const done = { type: "response.output_item.done", output_index: index, item };
  const begun = { ...item, status: "in_progress" };
  const place = { item_id: item["id"], output_index: index };
  switch (item["type"]) {
    case "message": {
      const parts = contentOf(item).flatMap((part, order) => partEvents(part, { ...place, content_index: order }));
      return [added({ ...begun, content: [] }, index), ...parts, done];
    }
    case "function_call":
      return [
        added({ ...begun, arguments: "" }, index),
        { type: "response.function_call_arguments.delta", ...place, delta: item["arguments"] },
        { type: "response.function_call_arguments.done", ...place, arguments: item["arguments"] },
        done,
      ];
    case "custom_tool_call":
      return [
        added({ ...begun, input: "" }, index),
        { type: "response.custom_tool_call_input.delta", ...place, delta: item["input"] },
        { type: "response.custom_tool_call_input.done", ...place, input: item["input"] },
        done,
      ];
    default:
      return [added(item, index), done];
  }
}

/** The first part of a message that is not shown as a whole. No other item can be cut. */
function messageBegin(item: JsonObject, index: number, length: number): JsonObject[] {
  const [part] = item["type"] === "message" ? contentOf(item) : [];
  const text =
    part?.["type"] === "output_text" && typeof part["text"] === "string" ? beginOf(part["text"], length) : "";
  if (part === undefined || text === "") return [];
  const place = { item_id: item["id"], output_index: index, content_index: 0 };
  return [
    added({ ...item, status: "in_progress", content: [] }, index),
    ...partEvents({ ...part, text }, place).slice(0, 2),
  ];
}

function partEvents(part: JsonObject, place: JsonObject): JsonObject[] {
  const isRefusal = part["type"] === "refusal";
  const [name, member] = isRefusal ? ["refusal", "refusal"] : ["output_text", "text"];
  const text = part[member];
  return [
    { type: "response.content_part.added", ...place, part: { ...part, [member]: "" } },
    { type: `response.${name}.delta`, ...place, delta: text },
    { type: `response.${name}.done`, ...place, [member]: text },
    { type: "response.content_part.done", ...place, part },
  ];
}

function added(item: JsonObject, index: number): JsonObject {
  return { type: "response.output_item.added", output_index: index, item };
}

function contentOf({ content }: JsonObject): readonly JsonObject[] {
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}
