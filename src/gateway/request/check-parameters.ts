// The parameters of a request beside its messages. Known ones are checked, unknown ones are passed on to the upstream, and
// those that would change the upstream's charge are refused until they have a price here.

import type { FieldProblem } from "../../kernel/errors.ts";
import {
  integerBetween,
  isBoolean,
  isFullText,
  isJsonObject,
  isObject,
  isText,
  isTextOrObject,
  numberBetween,
  problem,
  type JsonObject,
  type Rule,
} from "./field-rules.ts";
import { otherSpelling, otherSpellingIn, otherSpellingInTool, STREAM_OPTION_NAMES } from "./known-names.ts";

/** More than any model writes, and far from what arithmetic would get wrong. */
const MAX_TOKENS = 2_147_483_647;
const MAX_CHOICES = 128;
const MAX_STOPS = 16;
const MAX_MODEL_ID_LENGTH = 200;

const isStop: Rule = (value, field) => {
  if (typeof value === "string") return null;
  if (!Array.isArray(value) || !value.every((stop) => typeof stop === "string")) {
    return problem(field, "type", "must be a string or an array of strings");
  }
  return value.length <= MAX_STOPS ? null : problem(field, "max_items", `must hold at most ${MAX_STOPS} strings`);
};

const isResponseFormat: Rule = (value, field) => {
  if (!isObject(value)) return problem(field, "object", "must be an object");
  return isFullText(value["type"], `${field}.type`);
};

const isStreamOptions: Rule = (value, field) => {
  if (!isObject(value)) return problem(field, "object", "must be an object");
  const misspelled = otherSpellingIn(value, STREAM_OPTION_NAMES, field);
  if (misspelled !== null) return misspelled;
  const asked = value["include_usage"];
  return asked === undefined || asked === null ? null : isBoolean(asked, `${field}.include_usage`);
};

/** The bound of the contract of RPC callers. */
const MAX_TOOLS = 1_000;

/** The upstream charges for its own tools, so only tools that the client runs are accepted. */
const isTools: Rule = (value, field) => {
  if (!Array.isArray(value)) return problem(field, "array", "must be an array of tools");
  if (value.length > MAX_TOOLS) return problem(field, "max_items", `must hold at most ${MAX_TOOLS} tools`);
  for (const [index, tool] of value.entries()) {
    const found = toolProblem(tool, `${field}[${index}]`);
    if (found !== null) return found;
  }
  return null;
};

function toolProblem(tool: unknown, field: string): FieldProblem | null {
  if (!isObject(tool)) return problem(field, "object", "must be an object");
  const misspelled = otherSpellingInTool(tool, field);
  if (misspelled !== null) return misspelled;
  if (tool["type"] === "custom") return null;
  if (tool["type"] !== "function") return problem(`${field}.type`, "in", "must be function or custom");
  const definition = tool["function"];
  if (!isObject(definition)) return problem(`${field}.function`, "object", "must be an object");
  const parameters = definition["parameters"];
  return (
    isFullText(definition["name"], `${field}.function.name`) ??
    (parameters === undefined || parameters === null ? null : isJsonObject(parameters, `${field}.function.parameters`))
  );
}

const KNOWN: readonly [string, Rule][] = [
  ["temperature", numberBetween(0, 2)],
  ["top_p", numberBetween(0, 1)],
  ["frequency_penalty", numberBetween(-2, 2)],
  ["presence_penalty", numberBetween(-2, 2)],
  ["max_tokens", integerBetween(1, MAX_TOKENS)],
  ["max_completion_tokens", integerBetween(1, MAX_TOKENS)],
  ["n", integerBetween(1, MAX_CHOICES)],
  ["stop", isStop],
  ["stream", isBoolean],
  ["stream_options", isStreamOptions],
  ["tools", isTools],
  ["tool_choice", isTextOrObject],
  ["parallel_tool_calls", isBoolean],
  ["response_format", isResponseFormat],
  ["seed", integerBetween(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)],
  ["logprobs", isBoolean],
  ["top_logprobs", integerBetween(0, 20)],
  ["logit_bias", isJsonObject],
  ["metadata", isJsonObject],
  ["store", isBoolean],
  ["user", isText],
  ["reasoning_effort", isText],
  ["prompt_cache_key", isText],
];

/** A rule that accepts one kind of value because it does not change the price. */
const unpriced: Rule = (_value, field) =>
  problem(field, "unpriced", "is not offered, because it changes what the upstream charges");
const unpricedUnless =
  (harmless: (value: unknown) => boolean): Rule =>
  (value, field) =>
    harmless(value) ? null : unpriced(value, field);

/** What is kept in the account at a provider is of all customers: nothing there can be named. */
const kept: Rule = (_value, field) => problem(field, "kept", "is not offered, because nothing is kept at the upstream");

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Gemini's own options are in it. Proxies merge every other member of it into the request, refused names included. */
const isExtraBody: Rule = (value, field) =>
  isObject(value) && Object.keys(value).every((name) => name === "google") ? null : unpriced(value, field);

/** Names of the bound that some upstream would read instead of the one in which it is sent. */
const isOtherBound: Rule = (_value, field) => problem(field, "bound", "is not read; use max_tokens");

/** Parameters that change what an upstream charges, with the values that do not. */
export const UNPRICED: readonly (readonly [string, Rule])[] = [
  ["service_tier", unpricedUnless((tier) => tier === "auto" || tier === "default")],
  ["speed", unpricedUnless((speed) => speed === "standard")],
  ["inference_geo", unpricedUnless((place) => place === "global")],
  // Whether the model has a price for pictures in the answer is checked once the model is known.
  [
    "modalities",
    unpricedUnless((list) => Array.isArray(list) && list.every((kind) => kind === "text" || kind === "image")),
  ],
  ["best_of", unpricedUnless((count) => count === 1)],
  ["n_cmpl", unpricedUnless((count) => count === 1)],
  ["num_return_sequences", unpricedUnless((count) => count === 1)],
  ["audio", unpriced],
  ["prediction", unpriced],
  // An answer that is fetched later does not pass here, and neither does its usage.
  ["deferred", unpricedUnless((deferred) => deferred === false)],
  ["prompt_cache_options", unpriced],
  // Searches, data and tools that run, and are charged, at the upstream.
  ["web_search_options", unpriced],
  ["web_search", unpricedUnless((enabled) => enabled === false)],
  ["search_parameters", unpriced],
  ["search_options", unpriced],
  ["search_settings", unpriced],
  ["enable_search", unpricedUnless((enabled) => enabled === false)],
  ["data_sources", unpricedUnless(isEmptyList)],
  ["connectors", unpricedUnless(isEmptyList)],
  ["plugins", unpricedUnless(isEmptyList)],
  ["mcp_servers", unpricedUnless(isEmptyList)],
  ["compound_custom", unpriced],
  // Choosing another model or a dearer provider behind the one that is priced, or another address.
  ["models", unpriced],
  ["model_list", unpriced],
  ["route", unpriced],
  ["provider", unpriced],
  ["custom_llm_provider", unpriced],
  ["preset", unpriced],
  ["transforms", unpricedUnless(isEmptyList)],
  ["fallbacks", unpricedUnless(isEmptyList)],
  ["context_window_fallbacks", unpricedUnless(isEmptyList)],
  ["content_policy_fallbacks", unpricedUnless(isEmptyList)],
  ["user_config", unpriced],
  ["api_base", unpriced],
  ["base_url", unpriced],
  ["extra_body", isExtraBody],
  ...["n_predict", "num_predict", "max_new_tokens", "max_output_tokens", "max_tokens_to_sample"].map(
    (name): [string, Rule] => [name, isOtherBound],
  ),
];

/** Names of what an account at a provider may have: answers, conversations, machines, files and stores of them. */
const KEPT = [
  "previous_response_id",
  "conversation",
  "conversation_id",
  "container",
  "file_ids",
  "vector_store_ids",
  "thread",
  "thread_id",
].map((name): [string, Rule] => [name, kept]);

const RULES: ReadonlyMap<string, Rule> = new Map([...KNOWN, ["safety_identifier", isText], ...UNPRICED, ...KEPT]);
/** Checked elsewhere: the messages by themselves, cache marks against the routes of the model. */
const ALSO_KNOWN = ["model", "messages", "cache_control", "prompt_cache_breakpoint", "prompt_cache_retention"];
const NAMES: ReadonlySet<string> = new Set([...RULES.keys(), ...ALSO_KNOWN]);

/** The id of a model, sold or not. */
export const isModelId: Rule = (value, field) => {
  if (typeof value !== "string" || value.length <= MAX_MODEL_ID_LENGTH) return isFullText(value, field);
  return problem(field, "max_len", `must have at most ${MAX_MODEL_ID_LENGTH} characters`);
};

/** Checks every parameter but the messages. Errors are added to `problems`. */
export function checkParameters(body: JsonObject, problems: FieldProblem[]): void {
  const wrongModel = isModelId(body["model"], "model");
  if (wrongModel !== null) problems.push(wrongModel);
  for (const name of Object.keys(body)) {
    const rule = RULES.get(name);
    const value = body[name];
    // Null is as good as absent.
    const found =
      rule === undefined
        ? otherSpelling(name, NAMES)
        : value === null || value === undefined
          ? null
          : rule(value, name);
    if (found !== null) problems.push(found);
  }
}
