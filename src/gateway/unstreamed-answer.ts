import { parseObject } from "./chunk.ts";
import { isObject, type JsonObject } from "./request/field-rules.ts";
import { eventOf } from "./sse.ts";

/** Tells a complete answer as the one chunk of a stream, for an upstream that does not stream. */
export function chunkEventsOf(json: Buffer): { chunk: JsonObject; event: Buffer } {
  const { usage: _usage, choices, ...answer } = parseObject(json.toString("utf8")) ?? {};
  const chunk = {
    ...answer,
    object: "chat.completion.chunk",
    choices: Array.isArray(choices) ? choices.filter(isObject).map(toChunkChoice) : [],
  };
  return { chunk, event: eventOf(JSON.stringify(chunk)) };
}

function toChunkChoice({ message, ...choice }: JsonObject): JsonObject {
  if (!isObject(message) || !Array.isArray(message["tool_calls"])) return { ...choice, delta: message ?? {} };
  const calls = message["tool_calls"].filter(isObject).map((call, index) => ({ index, ...call }));
  return { ...choice, delta: { ...message, tool_calls: calls } };
}
