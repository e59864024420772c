// A complete JSON answer that comes where a stream was asked for, read as the one event that a stream would have had.

import { readAnswer } from "../answer/collect-answer.ts";
import { isObject, type JsonObject } from "../request/field-rules.ts";
import type { UpstreamFailure } from "../upstreams/chat-upstream.ts";
import { type ChunkMeaning, parseObject } from "./chunk.ts";
import { type ReadEvent, readEvent } from "./read-event.ts";
import { cut } from "./relay-outcome.ts";
import { eventOf } from "./sse.ts";

type Unstreamed =
  | { readonly kind: "failed"; readonly failure: UpstreamFailure }
  | { readonly kind: "answer"; readonly read: ReadEvent; readonly meaning: Extract<ChunkMeaning, { kind: "chunk" }> };

export function readUnstreamed(json: Buffer): Unstreamed {
  const answer = readAnswer(json);
  if (answer.kind === "failed") return { kind: "failed", failure: answer.failure };
  const written = answer.kind === "complete" ? chunkEventOf(answer.json) : null;
  if (answer.kind !== "complete" || written === null) return NO_ANSWER;
  const event = readEvent(written);
  if (event.meaning.kind !== "chunk") return NO_ANSWER;
  const meaning = { ...event.meaning, usage: isObject(answer.usage) ? answer.usage : null };
  return { kind: "answer", read: { ...event, meaning }, meaning };
}

const NO_ANSWER: Unstreamed = { kind: "failed", failure: cut("the stream held no answer") };

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
