// The text of a request that passes to an upstream and has no place in the chat form, by which holds are sized: what a client has found for
// its model, and members of tools and items that only OpenAI reads.

import { isObject, type JsonObject } from "../../request/field-rules.ts";

const namesIn = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Members whose text the chat form has, or that have none. */
const OF_TOOLS = namesIn("type name description parameters strict format tools execution");
const OF_ITEMS = namesIn(
  "type role content id status phase call_id name namespace arguments input output summary encrypted_content tools execution",
);
const OF_PARTS = namesIn("type text refusal image_url detail file_data logprobs");
const OF_FORMATS = namesIn("type name schema strict");
const SEARCHES: ReadonlySet<unknown> = new Set(["tool_search_call", "tool_search_output"]);

/** Its bytes, at most: no tokenizer makes more tokens of a text. */
export function unseenTokens({ input, tools, text, tool_choice: choice }: JsonObject): number {
  const format = isObject(text) ? text["format"] : null;
  // The chat form has none of the tools that may not be called now; the client's bytes have all.
  return (
    sumOver(input, ofItem) +
    sumOver(tools, isOfSome(choice) ? bytesOf : ofTool) +
    (isObject(format) ? bytesBeside(format, OF_FORMATS) : 0)
  );
}

function isOfSome(choice: unknown): boolean {
  return isObject(choice) && choice["type"] === "allowed_tools";
}

function ofItem(item: JsonObject): number {
  const { type, content, output, summary, tools } = item;
  if (SEARCHES.has(type)) return bytesOf(item);
  // Servers other than OpenAI's read what a model has thought.
  if (type === "reasoning") return bytesOf(item);
  return (
    bytesBeside(item, OF_ITEMS) + [content, output, summary].reduce<number>(sumOfParts, 0) + sumOver(tools, ofTool)
  );
}

function sumOfParts(sum: number, parts: unknown): number {
  return sum + sumOver(parts, (part) => bytesBeside(part, OF_PARTS));
}

function ofTool(tool: JsonObject): number {
  // One that is searched with is none that is called.
  if (tool["type"] === "tool_search") return bytesOf(tool);
  const ofNamespace = tool["type"] === "namespace" ? bytesOf(tool["description"] ?? "") : 0;
  return ofNamespace + bytesBeside(tool, OF_TOOLS) + sumOver(tool["tools"], ofTool);
}

function sumOver(list: unknown, count: (object: JsonObject) => number): number {
  return Array.isArray(list) ? list.filter(isObject).reduce((sum, object) => sum + count(object), 0) : 0;
}

function bytesBeside(object: JsonObject, seen: ReadonlySet<string>): number {
  let bytes = 0;
  for (const name in object) if (!seen.has(name) && object[name] !== null) bytes += name.length + bytesOf(object[name]);
  return bytes;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
