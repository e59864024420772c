// Reads a checked chat request into a conversation, for routes whose upstreams speak another protocol. Of the parameters that no other
// protocol has, those that change the answer are named; unknown ones, the client's own tags and `seed` are left out.

import { type FieldProblem, ValidationError } from "../../../kernel/errors.ts";
import { isObject, type JsonObject, problem } from "../../request/field-rules.ts";
import type { ChatRequest } from "../../request/read-request.ts";
import type { Conversation, Effort, OutputFormat, Turn, Verbosity } from "../conversation.ts";
import { ChatAlone, findChatAlone } from "./chat-alone.ts";
import { readToolChoice, readTools } from "./read-chat-tools.ts";
import { readTurns } from "./read-chat-turns.ts";
import { withMark } from "./read-chat-parts.ts";

/** A chat request in the form of a conversation. */
export type ChatConversation = {
  readonly conversation: Conversation;
  /** What of it only chat has, by its fields. Where there is any, only routes that speak chat may take the request. */
  readonly chatAlone: readonly FieldProblem[];
  /** Whether calls are in the older form of chat, with one `function_call` in place of `tool_calls`. */
  readonly hasFunctions: boolean;
};

/** Reads a request that `request/` has checked. Errors: ValidationError where a long string is no JSON. */
export function readChatConversation(request: ChatRequest): ChatConversation {
  const body = parse(request.body);
  const found = new ChatAlone();
  findChatAlone(body, found);
  const { tools, hasFunctions } = readTools(body);
  const freeform = new Set(tools.flatMap(({ name, schema }) => (schema === null ? name : [])));
  const messages = Array.isArray(body["messages"]) ? body["messages"] : [];
  const { system, turns } = readTurns(messages, (name) => freeform.has(name), found);
  const conversation: Conversation = {
    // An attempt on another route may have written over these in the body.
    model: request.model,
    stream: request.stream,
    outputCap: capOf(request),
    system,
    turns: withBodyMark(turns, body),
    tools,
    toolChoice: tools.length === 0 ? null : readToolChoice(body, found),
    // The older form has room for one call in each answer.
    parallelCalls: hasFunctions ? false : booleanOf(body["parallel_tool_calls"]),
    stop: stopsOf(body["stop"]),
    temperature: numberOf(body["temperature"]),
    topP: numberOf(body["top_p"]),
    topK: wholeNumberOf(body["top_k"]),
    effort: effortOf(body),
    ...verbosityOf(body),
    outputFormat: formatOf(body["response_format"], found),
    cacheKey: textOf(body["prompt_cache_key"]),
  };
  return { conversation, chatAlone: found.fields, hasFunctions };
}

/** Of a checked body only the long strings can still be wrong. */
function parse(body: Buffer): JsonObject {
  try {
    const parsed: unknown = JSON.parse(body.toString("utf8"));
    return isObject(parsed) ? parsed : {};
  } catch (cause) {
    throw new ValidationError([problem("", "json", "The body must be valid JSON")], { cause });
  }
}

/** The larger of two bounds is the one that is held. */
function capOf({ maxTokens, maxCompletionTokens }: ChatRequest): number | null {
  if (maxTokens === null || maxCompletionTokens === null) return maxTokens ?? maxCompletionTokens;
  return Math.max(maxTokens, maxCompletionTokens);
}

/** A mark on the whole request is one on its last text. */
function withBodyMark(turns: readonly Turn[], body: JsonObject): readonly Turn[] {
  const last = turns.at(-1);
  return last === undefined ? turns : [...turns.slice(0, -1), { ...last, parts: withMark(last.parts, body) }];
}

function stopsOf(stop: unknown): readonly string[] {
  if (typeof stop === "string") return [stop];
  return Array.isArray(stop) ? stop.map(String) : [];
}

const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** In OpenAI's member, or in those of other services that clients know. */
function effortOf({ reasoning_effort: effort, reasoning, thinking }: JsonObject): Effort | null {
  const named = [effort, isObject(reasoning) ? reasoning["effort"] : null];
  const found = EFFORTS.find((each) => named.includes(each));
  if (found !== undefined) return found;
  const isOff =
    (isObject(thinking) && thinking["type"] === "disabled") || (isObject(reasoning) && reasoning["enabled"] === false);
  return isOff ? "none" : null;
}

const VERBOSITIES: readonly Verbosity[] = ["low", "medium", "high"];

function verbosityOf(body: JsonObject): Pick<Conversation, "verbosity"> {
  const verbosity = VERBOSITIES.find((each) => each === body["verbosity"]);
  return verbosity === undefined ? {} : { verbosity };
}

/** The protocols beside chat know JSON of any kind, and JSON of a schema. */
function formatOf(format: unknown, found: ChatAlone): OutputFormat | null {
  if (!isObject(format) || format["type"] === "text") return null;
  if (format["type"] === "json_object") return { kind: "json" };
  if (format["type"] !== "json_schema") {
    found.add("response_format.type", "in", "must be one of text, json_object, json_schema");
    return null;
  }
  const { name, schema, strict } = isObject(format["json_schema"]) ? format["json_schema"] : {};
  if (!isObject(schema)) return { kind: "json" };
  return { kind: "schema", name: textOf(name) ?? SCHEMA_NAME, schema, strict: booleanOf(strict) };
}

const SCHEMA_NAME = "answer";

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function booleanOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Other values are the client's mistake, which chat does not check. */
function wholeNumberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
