// Fits an answer of an upstream into the contract that RPC callers get it in. The contract has one form for each member and
// upstreams have several: content in parts, thinking among them, arguments as an object. The answer is billed by then, so what
// does not fit is left out and never an error.

import { isObject, type JsonObject } from "../request/field-rules.ts";

const MAX_UINT32 = 4_294_967_295;

/** A complete answer, or a chunk of a stream, in the contract's JSON. Half of a character, which a proxy may have cut, has no form there. */
export function contractAnswer(answer: JsonObject): JsonObject {
  return answerIn(answer, (text) => text.toWellFormed());
}

/** The same with halves of characters, for readers that join them. */
export function cutAnswer(answer: JsonObject): JsonObject {
  return answerIn(answer, (text) => text);
}

/** What becomes of a text that may have been cut. */
type Formed = (text: string) => string;

function answerIn(answer: JsonObject, formed: Formed): JsonObject {
  return {
    id: textOf(answer["id"]),
    object: textOf(answer["object"]),
    created: countOf(answer["created"]),
    model: textOf(answer["model"]),
    choices: objectsIn(answer["choices"]).map((choice) => choiceOf(choice, formed)),
    ...(isObject(answer["usage"]) ? { usage: usageOf(answer["usage"]) } : {}),
  };
}

function choiceOf(choice: JsonObject, formed: Formed): JsonObject {
  const { finish_reason: reason, message, delta } = choice;
  return {
    index: countOf(choice["index"]),
    ...(typeof reason === "string" ? { finish_reason: reason } : {}),
    ...(isObject(message) ? { message: messageOf(message, formed) } : {}),
    ...(isObject(delta) ? { delta: messageOf(delta, formed) } : {}),
  };
}

function messageOf(message: JsonObject, formed: Formed): JsonObject {
  const { content, refusal } = message;
  const parts = objectsIn(content);
  const text = Array.isArray(content) ? joined(parts.map((part) => part["text"])) : content;
  const reasoning = reasoningOf(message, parts);
  const details = objectsIn(message["reasoning_details"]).map(flatDetail);
  return {
    role: textOf(message["role"]),
    ...(typeof text === "string" ? { content: formed(text) } : {}),
    ...(typeof refusal === "string" ? { refusal: formed(refusal) } : {}),
    ...(reasoning === "" ? {} : { reasoning_content: formed(reasoning) }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    tool_calls: objectsIn(message["tool_calls"]).map((call) => toolCallOf(call, formed)),
  };
}

/** The reasoning, in whichever member an upstream writes it: Mistral among the parts of the content. */
function reasoningOf(message: JsonObject, parts: readonly JsonObject[]): string {
  for (const name of ["reasoning_content", "reasoning"] as const) {
    const reasoning = message[name];
    if (typeof reasoning === "string" && reasoning !== "") return reasoning;
  }
  const thoughts = parts.map(({ thinking }) =>
    Array.isArray(thinking) ? joined(objectsIn(thinking).map((part) => part["text"])) : thinking,
  );
  return (
    joined(thoughts) || joined(objectsIn(message["reasoning_details"]).map((part) => part["text"] ?? part["summary"]))
  );
}

/** Texts and numbers alone: no upstream nests what it wants back. */
function flatDetail(detail: JsonObject): JsonObject {
  const members = Object.entries(detail).flatMap(([name, value]): [string, unknown][] => {
    if (typeof value === "string") return [[name.toWellFormed(), value.toWellFormed()]];
    return typeof value === "number" ? [[name.toWellFormed(), value]] : [];
  });
  return Object.fromEntries(members);
}

function toolCallOf(call: JsonObject, formed: Formed): JsonObject {
  const called = isObject(call["function"]) ? call["function"] : {};
  const given = called["arguments"];
  const isAbsent = given === undefined || given === null;
  return {
    id: textOf(call["id"]),
    type: textOf(call["type"]),
    function: {
      name: textOf(called["name"]),
      arguments: formed(typeof given === "string" ? given : isAbsent ? "" : JSON.stringify(given)),
    },
    ...(isCount(call["index"]) ? { index: call["index"] } : {}),
  };
}

function usageOf(usage: JsonObject): JsonObject {
  const prompt = usage["prompt_tokens_details"];
  const completion = usage["completion_tokens_details"];
  return {
    prompt_tokens: countOf(usage["prompt_tokens"]),
    completion_tokens: countOf(usage["completion_tokens"]),
    total_tokens: countOf(usage["total_tokens"]),
    ...(isObject(prompt) ? { prompt_tokens_details: { cached_tokens: countOf(prompt["cached_tokens"]) } } : {}),
    ...(isObject(completion)
      ? { completion_tokens_details: { reasoning_tokens: countOf(completion["reasoning_tokens"]) } }
      : {}),
    cost_idr: textOf(usage["cost_idr"]),
  };
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function joined(texts: readonly unknown[]): string {
  return texts.map(textOf).join("");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function countOf(value: unknown): number {
  return isCount(value) ? value : 0;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_UINT32;
}
