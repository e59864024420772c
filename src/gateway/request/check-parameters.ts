// The parameters of a request beside its messages. Known ones are checked, unknown ones pass on to the upstream, and those
// that would change what the upstream charges are refused until they have a price here.

import type { FieldProblem } from "../../kernel/errors.ts";
import {
  checkMembers,
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
  const asked = value["include_usage"];
  return asked === undefined || asked === null ? null : isBoolean(asked, `${field}.include_usage`);
};

/** The upstream charges for what its own tools do, so only tools that the client runs are let through. */
const isTools: Rule = (value, field) => {
  if (!Array.isArray(value)) return problem(field, "array", "must be an array of tools");
  for (const [index, tool] of value.entries()) {
    const found = toolProblem(tool, `${field}[${index}]`);
    if (found !== null) return found;
  }
  return null;
};

function toolProblem(tool: unknown, field: string): FieldProblem | null {
  if (!isObject(tool)) return problem(field, "object", "must be an object");
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

/** A rule that lets one kind of value through because that one does not change the price. */
const unpriced: Rule = (_value, field) =>
  problem(field, "unpriced", "is not offered, because it changes what the upstream charges");
const unpricedUnless =
  (harmless: (value: unknown) => boolean): Rule =>
  (value, field) =>
    harmless(value) ? null : unpriced(value, field);

const UNPRICED: readonly [string, Rule][] = [
  ["service_tier", unpricedUnless((tier) => tier === "auto" || tier === "default")],
  ["modalities", unpricedUnless((list) => Array.isArray(list) && list.every((kind) => kind === "text"))],
  ["best_of", unpricedUnless((count) => count === 1)],
  ["audio", unpriced],
  ["prediction", unpriced],
  // Searches and plug-ins that run, and are charged, at the upstream.
  ["web_search_options", unpriced],
  ["search_parameters", unpriced],
  ["enable_search", unpricedUnless((enabled) => enabled === false)],
  ["plugins", unpricedUnless((list) => Array.isArray(list) && list.length === 0)],
  // Choosing another model or a dearer provider behind the one that is priced.
  ["models", unpriced],
  ["route", unpriced],
  ["provider", unpriced],
  ["speed", unpricedUnless((speed) => speed === "standard")],
];

const RULES: ReadonlyMap<string, Rule> = new Map([...KNOWN, ...UNPRICED]);

/** Checks every parameter but the messages. What is wrong is added to `problems`. */
export function checkParameters(body: JsonObject, problems: FieldProblem[]): void {
  const model = body["model"];
  const wrongModel = isFullText(model, "model");
  if (wrongModel !== null) problems.push(wrongModel);
  else if (typeof model === "string" && model.length > MAX_MODEL_ID_LENGTH) {
    problems.push(problem("model", "max_len", `must have at most ${MAX_MODEL_ID_LENGTH} characters`));
  }
  checkMembers(body, RULES, problems);
}
