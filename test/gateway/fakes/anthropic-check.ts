// What Anthropic refuses in a request: our own requests must never have it. Newer models refuse more, as `accepts` of the catalog has it.

import type { Accepts } from "../../../src/catalog/catalog-model.ts";
import { type Json, textIn } from "./anthropic-wire.ts";

const FIELDS: ReadonlySet<string> = new Set(
  (
    "model max_tokens messages system tools tool_choice thinking output_config temperature top_p top_k stop_sequences " +
    "metadata service_tier stream cache_control"
  ).split(" "),
);
const BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["source"],
  document: ["source", "title"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  tool_use: ["id", "name", "input"],
  tool_result: ["tool_use_id", "content", "is_error"],
};
const OF_ROLE: Readonly<Record<string, readonly string[]>> = {
  user: ["text", "image", "document", "tool_result"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use"],
};
const TOOL_FIELDS: ReadonlySet<string> = new Set("name description input_schema strict cache_control type".split(" "));
const ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const SAMPLING = ["temperature", "top_p", "top_k"] as const;
const LEAST_BUDGET = 1_024;

/** `isWithBetas`: the request asks for what Claude Code has, by its header. */
export type CheckFacts = {
  readonly accepts: Accepts;
  readonly isOurs: (signature: string) => boolean;
  readonly isWithBetas?: boolean;
};

/** What a request may have with Claude Code's betas. */
const BETA_FIELDS: ReadonlySet<string> = new Set(["context_management"]);
const BETA_TOOL_FIELDS: ReadonlySet<string> = new Set(["defer_loading", "eager_input_streaming", "input_examples"]);

/** Why a request is refused, or null. */
export function refusalOf(body: Json, facts: CheckFacts): string | null {
  for (const found of problemsOf(body, facts)) return found;
  return null;
}

function* problemsOf(body: Json, facts: CheckFacts): Generator<string> {
  const { isWithBetas = false } = facts;
  for (const name of Object.keys(body)) {
    if (!FIELDS.has(name) && !(isWithBetas && BETA_FIELDS.has(name))) yield `${name}: Extra inputs are not permitted`;
  }
  const bound = body["max_tokens"];
  if (!Number.isInteger(bound) || Number(bound) < 1) yield "max_tokens: Field required";
  yield* systemProblems(body["system"]);
  yield* toolProblems((body["tools"] ?? []) as Json[], isWithBetas);
  yield* thinkingProblems(body, facts.accepts);
  const hasTools = ((body["tools"] ?? []) as Json[]).length > 0;
  const messages = body["messages"] as Json[];
  // The system may speak behind a turn of the user.
  const turns = isWithBetas
    ? messages.filter(({ role }, at) => role !== "system" || messages[at - 1]?.["role"] !== "user")
    : messages;
  yield* turnProblems(turns, { ...facts, hasTools });
  yield* markProblems(body);
}

function* systemProblems(system: unknown): Generator<string> {
  if (system === undefined || typeof system === "string") return;
  for (const block of system as Json[]) yield* blockProblems(block, ["text"], "system");
}

function* toolProblems(tools: readonly Json[], isWithBetas: boolean): Generator<string> {
  const names = new Set<unknown>();
  for (const [at, tool] of tools.entries()) {
    if (!TOOL_NAME.test(String(tool["name"]))) yield `tools.${at}.name: String should match pattern`;
    if (names.has(tool["name"])) yield "tools: Tool names must be unique.";
    names.add(tool["name"]);
    if ((tool["input_schema"] as Json | undefined)?.["type"] !== "object") {
      yield `tools.${at}.custom.input_schema.type: Input should be 'object'`;
    }
    for (const name of Object.keys(tool)) {
      const isKnown = TOOL_FIELDS.has(name) || (isWithBetas && BETA_TOOL_FIELDS.has(name));
      if (!isKnown) {
        yield `tools.${at}.custom.${name}: Extra inputs are not permitted`;
      }
    }
  }
}

function* thinkingProblems(body: Json, accepts: Accepts): Generator<string> {
  const thinking = body["thinking"] as Json | undefined;
  const type = thinking?.["type"];
  const isForced = ["any", "tool"].includes(String((body["tool_choice"] as Json | undefined)?.["type"]));
  if (type === "adaptive" && accepts.thinking !== "adaptive") yield "adaptive thinking is not supported on this model";
  if ((body["output_config"] as Json | undefined)?.["effort"] !== undefined && accepts.thinking !== "adaptive") {
    yield "output_config.effort: This model does not support the effort parameter.";
  }
  if (type === "enabled") {
    const budget = Number(thinking?.["budget_tokens"]);
    if (accepts.thinking !== "manual") yield '"thinking.type.enabled" is not supported for this model.';
    if (budget < LEAST_BUDGET) yield "thinking.budget_tokens: Input should be greater than or equal to 1024";
    if (budget >= Number(body["max_tokens"])) yield "`max_tokens` must be greater than `thinking.budget_tokens`.";
    if (isForced) yield "Thinking may not be enabled when tool_choice forces tool use.";
  }
  for (const name of SAMPLING) {
    if (body[name] === undefined) continue;
    if (!accepts.sampling || type !== undefined) yield `${name}: is deprecated for this model`;
  }
  if (Number(body["temperature"] ?? 0) > 1) yield "temperature: range: 0..1";
}

function* turnProblems(
  messages: readonly Json[],
  { accepts, isOurs, hasTools }: CheckFacts & { readonly hasTools: boolean },
): Generator<string> {
  const ids = new Set<unknown>();
  let open: unknown[] = [];
  for (const [at, message] of messages.entries()) {
    const where = `messages.${at}`;
    const role = at % 2 === 0 ? "user" : "assistant";
    if (message["role"] !== role) yield `${where}: roles must alternate, and the first must be user`;
    const content = message["content"];
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as Json[]);
    if (blocks.length === 0) yield `${where}: must have non-empty content`;
    for (const block of blocks) yield* blockProblems(block, OF_ROLE[role] ?? [], where);
    if (role === "user") yield* resultProblems(blocks, open, where);
    open = [];
    for (const block of blocks) {
      if (block["type"] === "thinking" && !isOurs(String(block["signature"]))) {
        yield `${where}: Invalid \`signature\` in \`thinking\` block`;
      }
      if (block["type"] !== "tool_use") continue;
      if (ids.has(block["id"])) yield "`tool_use` ids must be unique";
      ids.add(block["id"]);
      open.push(block["id"]);
    }
  }
  yield* lastTurnProblems(messages.at(-1), accepts);
  if (open.length > 0) yield "`tool_use` ids were found without `tool_result` blocks immediately after";
  if (ids.size > 0 && !hasTools) yield "Requests which include `tool_use` or `tool_result` blocks must define tools.";
}

function* lastTurnProblems(last: Json | undefined, accepts: Accepts): Generator<string> {
  if (last?.["role"] !== "assistant") return;
  if (!accepts.prefill) yield "This model does not support assistant message prefill.";
  const block = Array.isArray(last["content"]) ? (last["content"] as Json[]).at(-1) : { text: last["content"] };
  if (/\s$/.test(textIn(block, "text"))) yield "final assistant content cannot end with trailing whitespace";
}

function* resultProblems(blocks: readonly Json[], open: readonly unknown[], where: string): Generator<string> {
  const results = blocks.filter(({ type }) => type === "tool_result");
  if (blocks.slice(0, results.length).some(({ type }) => type !== "tool_result")) {
    yield `${where}: tool_result blocks must come first`;
  }
  const answered = results.map(({ tool_use_id: id }) => id);
  if (answered.some((id) => !open.includes(id)))
    yield `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks`;
  if (open.some((id) => !answered.includes(id))) {
    yield `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after`;
  }
}

function* blockProblems(block: Json, allowed: readonly string[], where: string): Generator<string> {
  const type = String(block["type"]);
  if (!allowed.includes(type)) yield `${where}: ${type} is not permitted there`;
  for (const name of Object.keys(block)) {
    if (name === "type" || name === "cache_control" || BLOCKS[type]?.includes(name) === true) continue;
    yield `${where}.${type}.${name}: Extra inputs are not permitted`;
  }
  if (type === "text" && String(block["text"]).trim() === "")
    yield "messages: text content blocks must contain non-whitespace text";
  const idName = { tool_use: "id", tool_result: "tool_use_id" }[type];
  if (idName !== undefined && !ID.test(textIn(block, idName)))
    yield `${where}.${type}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
  if (type === "tool_use" && (typeof block["input"] !== "object" || block["input"] === null)) {
    yield `${where}.tool_use.input: Input should be a valid dictionary`;
  }
  if (type === "tool_result" && Array.isArray(block["content"])) {
    for (const inner of block["content"] as Json[]) yield* blockProblems(inner, ["text", "image", "document"], where);
  }
}

const MOST_MARKS = 4;

function* markProblems(body: Json): Generator<string> {
  const marks = marksIn([body["tools"], body["system"], body["messages"]]);
  if (marks.length > MOST_MARKS)
    yield `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`;
  const firstShort = marks.indexOf("5m");
  if (firstShort >= 0 && marks.lastIndexOf("1h") > firstShort)
    yield "a ttl='1h' cache_control block must not come after a ttl='5m' one";
}

/** The lifetimes of all marks, in the order of the prompt. */
function marksIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(marksIn);
  const { cache_control: mark, ...members } = value as Json;
  const own = mark === undefined || mark === null ? [] : [textIn(mark as Json, "ttl") || "5m"];
  return [...Object.values(members).flatMap(marksIn), ...own];
}
