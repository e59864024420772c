// The texts that a model wrote in an item of a response, or in the part of one that an event has.

import { isObject, type JsonObject } from "../../request/field-rules.ts";

/** A text: where it belongs, and whether it is all of it so far, or a piece that is added. */
export type ItemText = { readonly place: string; readonly text: string; readonly isWhole: boolean };

/** The events with a piece of a text: its kind, and the member that orders the texts of an item. */
const PIECES: ReadonlyMap<unknown, readonly [kind: string, order: string]> = new Map([
  ["response.output_text.delta", ["text", "content_index"]],
  ["response.refusal.delta", ["refusal", "content_index"]],
  ["response.reasoning_summary_text.delta", ["summary", "summary_index"]],
  ["response.reasoning_text.delta", ["thought", "content_index"]],
  ["response.function_call_arguments.delta", ["input", ""]],
  ["response.custom_tool_call_input.delta", ["input", ""]],
]);

/** Whether an event of this type adds to a text that may be cut anywhere. */
export function isCuttable(type: unknown): boolean {
  return PIECES.has(type) && PIECES.get(type)?.[0] !== "input";
}

/** The types of the events with which a response ends. */
export const ENDS: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete"]);

/** The texts of an event of a stream. Those of an item or a response repeat what came before them. */
export function textsOfEvent(event: JsonObject): ItemText[] {
  const { type, delta, item, response } = event;
  const piece = PIECES.get(type);
  if (piece !== undefined) {
    const [kind, order] = piece;
    const place = placeOf(keyOf(event), kind, event[order]);
    return typeof delta === "string" ? [{ place, text: delta, isWhole: false }] : [];
  }
  if (isItemEvent(type) && isObject(item)) return textsOfItem(item, keyOf(event));
  return ENDS.has(type) && isObject(response) ? textsOfResponse(response) : [];
}

/** The texts of a whole response. */
export function textsOfResponse(response: JsonObject): ItemText[] {
  return itemsOf(response).flatMap((item, index) => textsOfItem(item, index));
}

export function itemsOf({ output }: JsonObject): readonly JsonObject[] {
  return Array.isArray(output) ? output.filter(isObject) : [];
}

/** Whether an event begins or ends an item. */
export function isItemEvent(type: unknown): boolean {
  return type === "response.output_item.added" || type === "response.output_item.done";
}

/** What identifies the item of an event. */
export function keyOf({ output_index: index, item_id: id, item }: JsonObject): unknown {
  return index ?? id ?? (isObject(item) ? item["id"] : undefined);
}

/** The texts of an item: of a call its name and its input. */
function textsOfItem(item: JsonObject, key: unknown): ItemText[] {
  const { name, arguments: args, input } = item;
  const texts = [
    ...listOf(item["content"]).map((part, order): [string, unknown, unknown] => {
      if (part["type"] === "refusal") return ["refusal", order, part["refusal"]];
      return [item["type"] === "reasoning" ? "thought" : "text", order, part["text"]];
    }),
    ...listOf(item["summary"]).map((part, order): [string, unknown, unknown] => ["summary", order, part["text"]]),
    ["name", "", name] as const,
    // A search for tools has an object.
    ["input", "", isObject(args) && Object.keys(args).length > 0 ? JSON.stringify(args) : (args ?? input)] as const,
  ];
  return texts.flatMap(([kind, order, text]) => {
    return typeof text === "string" && text !== "" ? [{ place: placeOf(key, kind, order), text, isWhole: true }] : [];
  });
}

function placeOf(key: unknown, kind: string, order: unknown): string {
  return `${String(key)} ${kind} ${typeof order === "number" ? order : 0}`;
}

function listOf(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
