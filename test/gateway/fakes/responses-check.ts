// What OpenAI refuses in a request: our own requests must never have it. The fake is stricter than some upstreams are.

import type { Json } from "./responses-wire.ts";

const FIELDS: ReadonlySet<string> = new Set(
  (
    "model input instructions tools tool_choice parallel_tool_calls max_output_tokens temperature top_p reasoning text " +
    "include store stream stream_options prompt_cache_key prompt_cache_retention safety_identifier service_tier metadata truncation " +
    "user max_tool_calls top_logprobs"
  ).split(" "),
);
const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const CALL_ID = /^[\w-]{1,64}$/;

/** What a request may refer to: the encrypted reasoning that was given out, and whether the model thinks. */
export type CheckFacts = { readonly isOurs: (encrypted: string) => boolean; readonly thinks: boolean };

/** Why a request is refused, and the code of it; null: it is sound. */
export function refusalOf(
  body: Json,
  facts: CheckFacts,
): { readonly message: string; readonly code: string | null } | null {
  for (const found of problemsOf(body, facts)) {
    return typeof found === "string" ? { message: found, code: null } : found;
  }
  return null;
}

type Problem = string | { readonly message: string; readonly code: string };

function* problemsOf(body: Json, facts: CheckFacts): Generator<Problem> {
  for (const name of Object.keys(body)) if (!FIELDS.has(name)) yield `Unknown parameter: '${name}'.`;
  if (body["store"] !== false) yield "This account keeps no responses: store must be false.";
  if (typeof body["max_output_tokens"] !== "number") yield "max_output_tokens must be sent.";
  if (!facts.thinks && body["include"] !== undefined) yield "Encrypted content is not supported with this model.";
  if (!facts.thinks && body["reasoning"] !== undefined) yield "Unsupported parameter: 'reasoning.effort'.";
  for (const tool of (body["tools"] ?? []) as Json[]) yield* toolProblems(tool);
  if (!Array.isArray(body["input"]) && typeof body["input"] !== "string") yield "input must be a text or a list.";
  yield* itemProblems(Array.isArray(body["input"]) ? (body["input"] as Json[]) : [], facts);
}

/** `isInItem`: it lies in an item of the input, where Codex sends namespaces with an empty description. */
function* toolProblems(tool: Json, isInItem = false): Generator<Problem> {
  if (tool["type"] === "tool_search") {
    if (tool["execution"] !== "client") yield "A search that runs here is charged for.";
    return;
  }
  if (!NAME.test(String(tool["name"]))) yield `Invalid name of a tool: ${String(tool["name"])}.`;
  if (tool["type"] === "namespace") {
    const isDescribed = typeof tool["description"] === "string" && (isInItem || tool["description"] !== "");
    if (!isDescribed) yield "A namespace needs a description.";
    for (const inner of tool["tools"] as Json[]) yield* toolProblems(inner);
    return;
  }
  if (tool["type"] === "function" && typeof tool["parameters"] !== "object") yield "A function needs its parameters.";
  if (tool["type"] !== "function" && tool["type"] !== "custom") yield `Unknown tool: ${String(tool["type"])}.`;
}

/** Each call is answered, each result has a call, and reasoning is followed by the output that it led to. */
function* itemProblems(items: readonly Json[], { isOurs }: CheckFacts): Generator<Problem> {
  const open = new Map<unknown, unknown>();
  for (const [at, item] of items.entries()) {
    const type = item["type"] ?? "message";
    if (item["id"] !== undefined) yield `Item with id ${JSON.stringify(item["id"])} not found: nothing is stored.`;
    if (type === "additional_tools") {
      for (const tool of item["tools"] as Json[]) yield* toolProblems(tool, true);
    } else if (type === "message") yield* messageProblems(item);
    else if (type === "reasoning") {
      const follower = items[at + 1];
      if (!isOurs(String(item["encrypted_content"]))) {
        yield { message: "The encrypted content could not be verified.", code: "invalid_encrypted_content" };
      }
      if (follower === undefined || String(follower["type"]).endsWith("_output")) {
        yield "Item of type 'reasoning' was provided without its required following item.";
      }
    } else if (type === "function_call" || type === "custom_tool_call") {
      if (!CALL_ID.test(String(item["call_id"]))) yield `Invalid call_id: ${String(item["call_id"])}.`;
      if (open.has(item["call_id"])) yield "A call_id was sent twice.";
      open.set(item["call_id"], `${type}_output`);
    } else if (type === "function_call_output" || type === "custom_tool_call_output") {
      if (open.get(item["call_id"]) !== type) yield `No tool call found for the output ${String(item["call_id"])}.`;
      open.delete(item["call_id"]);
    } else if (type === "tool_search_call") {
      if (item["execution"] !== "client") yield "A search that runs here is charged for.";
      open.set(item["call_id"], "tool_search_output");
    } else if (type === "tool_search_output") {
      if (open.get(item["call_id"]) !== type) yield `No search found for ${String(item["call_id"])}.`;
      for (const tool of item["tools"] as Json[]) yield* toolProblems(tool, true);
      open.delete(item["call_id"]);
    } else yield `Unknown item: ${JSON.stringify(type)}.`;
  }
  for (const id of open.keys()) yield `No tool output found for function call ${String(id)}.`;
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  assistant: ["output_text", "refusal"],
  user: ["input_text", "input_image", "input_file"],
  developer: ["input_text"],
  system: ["input_text"],
};

function* messageProblems({ role, content }: Json): Generator<Problem> {
  const allowed = PARTS[String(role)];
  if (allowed === undefined) yield `Invalid role: ${String(role)}.`;
  if (typeof content === "string") return;
  if (!Array.isArray(content) || content.length === 0) yield "A message needs content.";
  for (const part of content as Json[]) {
    if (allowed?.includes(String(part["type"])) === false) yield `Invalid part: ${String(part["type"])}.`;
  }
}
