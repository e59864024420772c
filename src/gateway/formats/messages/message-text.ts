// What the model wrote in a block of a message, or in the part of one that an event has.

import { isObject, type JsonObject } from "../../request/field-rules.ts";

/** The text of an event: what a block begins with, or what is added to it. */
export function textOfEvent({ type, content_block: block, delta }: JsonObject): string {
  if (type === "content_block_start" && isObject(block)) return textOfBlock(block, "");
  return type === "content_block_delta" && isObject(delta) ? textOfDelta(delta) : "";
}

/** The text of a block. `emptyInput`: how an input without members is written. */
export function textOfBlock(block: JsonObject, emptyInput: string): string {
  const { type, text, thinking, name, input } = block;
  if (type === "tool_use") return `${textOf(name)}${isObject(input) ? inputText(input, emptyInput) : ""}`;
  return type === "thinking" ? textOf(thinking) : textOf(text);
}

/** The blocks of a whole message. */
export function blocksOf({ content }: JsonObject): readonly JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function inputText(input: JsonObject, emptyInput: string): string {
  return Object.keys(input).length === 0 ? emptyInput : JSON.stringify(input);
}

function textOfDelta({ text, thinking, partial_json: json }: JsonObject): string {
  return textOf(text) + textOf(thinking) + textOf(json);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
