// A complete JSON answer that comes where a stream was asked for, read as the one event that a stream would have had.

import { isObject, type JsonObject } from "../../request/field-rules.ts";
import { parseObject } from "../../request/parse-object.ts";
import { eventOf } from "../../stream/sse.ts";
import type { Unstreamed } from "../answer-format.ts";
import type { ShownNames } from "../shown-format.ts";
import { NO_ANSWER } from "../find-list.ts";
import { readChunk } from "./read-chunk.ts";
import { shownChunk } from "./shown-chunk.ts";
import { readWholeChat } from "./whole-chat.ts";

/** The answer as one chunk, or why it is none. */
export function readUnstreamedChat(json: Buffer, names: ShownNames): Unstreamed {
  const answer = readWholeChat(json);
  if ("kind" in answer) return answer;
  const written = chunkEventOf(answer.json);
  const event = written === null ? null : readChunk(written);
  if (event?.meaning.kind !== "part") return NO_ANSWER;
  const part = { ...event.meaning, usage: answer.usage };
  const shown = shownChunk({ event: event.event, data: event.data, chunk: part.object }, names);
  return shown === null ? NO_ANSWER : { kind: "answer", read: { ...event, meaning: part }, part, shown: shown.event };
}

/** A complete answer as one chunk of a stream. Null: it is no JSON object. */
function chunkEventOf(json: Buffer): Buffer | null {
  const parsed = parseObject(json.toString("utf8"));
  if (parsed === null) return null;
  const { usage: _usage, choices, ...answer } = parsed;
  const chunk = {
    ...answer,
    object: "chat.completion.chunk",
    choices: Array.isArray(choices) ? choices.filter(isObject).map(toChunkChoice) : [],
  };
  return eventOf(JSON.stringify(chunk));
}

function toChunkChoice({ message, ...choice }: JsonObject): JsonObject {
  if (!isObject(message) || !Array.isArray(message["tool_calls"])) return { ...choice, delta: message ?? {} };
  const calls = message["tool_calls"].filter(isObject).map((call, index) => ({ index, ...call }));
  return { ...choice, delta: { ...message, tool_calls: calls } };
}
