// Reads a request of Anthropic's Messages protocol into a conversation. What only changes how Anthropic's own service works is
// left out, because clients always send some of it; what it would keep or charge for is refused by its field.

import {
  integerBetween,
  isBoolean,
  isFullText,
  isJsonObject,
  isObject,
  type JsonObject,
  numberBetween,
  type Rule,
} from "../../request/field-rules.ts";
import type { Conversation, Effort, OutputFormat, TextPart, Turn } from "../conversation.ts";
import { Problems } from "../problems.ts";
import { refuseOtherSpellings } from "./known-members.ts";
import { refuseProviderMembers } from "./provider-members.ts";
import { readCacheMark, readSystem, withCacheMark } from "./read-blocks.ts";
import { readToolChoice, readTools } from "./read-tools.ts";
import { readTurns } from "./read-turns.ts";

const MAX_TOKENS = 2_147_483_647;
const MAX_MODEL_ID_LENGTH = 200;
const MAX_STOPS = 16;

/** Claude Code's first block of instructions. It differs in each conversation, so other models would cache nothing behind it. */
const BILLING_HEADER = "x-anthropic-billing-header:";

/** What the reader does not take from a request: which of its tokens are counted needs no bound of the answer. */
export type ReadOptions = { readonly isOnlyCounted: boolean };

/** Reads and checks a body. Errors: ValidationError naming each field that is wrong. */
export function readMessagesRequest(body: JsonObject, { isOnlyCounted }: ReadOptions): Conversation {
  const problems = new Problems();
  const model = problems.text(isFullText, body["model"], "model");
  if (model.length > MAX_MODEL_ID_LENGTH) {
    problems.add("model", "max_len", `must have at most ${MAX_MODEL_ID_LENGTH} characters`);
  }
  refuseOtherSpellings(body, "", problems);
  refuseProviderMembers(body, problems);
  const outputCap = isOnlyCounted ? null : readCap(body["max_tokens"], problems);
  const optional = (name: string, rule: Rule): unknown => {
    const value = body[name];
    return value !== undefined && value !== null && problems.holds(rule, value, name) ? value : null;
  };
  const number = (name: string, rule: Rule) => optional(name, rule) as number | null;
  const tools = readTools(body["tools"], problems);
  const conversation: Conversation = {
    model,
    stream: optional("stream", isBoolean) === true,
    system: readInstructions(body["system"], problems),
    turns: withAutomaticMark(readTurns(body["messages"], problems), readCacheMark(body, "", problems)),
    tools,
    ...readToolChoice(body["tool_choice"], tools, problems),
    outputCap,
    stop: readStops(body["stop_sequences"], problems),
    temperature: number("temperature", numberBetween(0, 1)),
    topP: number("top_p", numberBetween(0, 1)),
    topK: number("top_k", integerBetween(0, MAX_TOKENS)),
    ...readOutput(body, problems),
    cacheKey: null,
  };
  problems.refuseAny();
  return conversation;
}

/** The protocol demands a bound. Zero would only write to a cache, which is Anthropic's. */
function readCap(value: unknown, problems: Problems): number | null {
  if (value === undefined || value === null) problems.add("max_tokens", "required", "must be sent");
  else if (problems.holds(integerBetween(1, MAX_TOKENS), value, "max_tokens")) return Number(value);
  return null;
}

function readInstructions(value: unknown, problems: Problems): TextPart[] {
  if (value === undefined || value === null) return [];
  return readSystem(value, "system", problems).filter(({ text }) => !text.startsWith(BILLING_HEADER));
}

/** A mark on the whole request is one on its last text. */
function withAutomaticMark(turns: readonly Turn[], mark: "5m" | "1h" | null): readonly Turn[] {
  const last = turns.at(-1);
  if (last === undefined || mark === null) return turns;
  return [...turns.slice(0, -1), { ...last, parts: withCacheMark(last.parts, mark) }];
}

function readStops(value: unknown, problems: Problems): readonly string[] {
  if (value === undefined || value === null) return [];
  const list = problems.list(value, "stop_sequences", MAX_STOPS);
  return list.map((stop, index) => problems.text(isFullText, stop, `stop_sequences[${index}]`));
}

type Output = Pick<Conversation, "effort" | "outputFormat">;

function readOutput(body: JsonObject, problems: Problems): Output {
  const thinking = optionalObject(body, "thinking", problems);
  const config = optionalObject(body, "output_config", problems);
  const format = config["format"] ?? body["output_format"];
  const field = config["format"] === undefined || config["format"] === null ? "output_format" : "output_config.format";
  return {
    effort: readEffort(thinking, config["effort"], problems),
    outputFormat: format === undefined || format === null ? null : readFormat(format, field, problems),
  };
}

function optionalObject(body: JsonObject, name: string, problems: Problems): JsonObject {
  const value = body[name];
  return value === undefined || value === null ? {} : (problems.object(value, name) ?? {});
}

const EFFORTS: ReadonlySet<unknown> = new Set<Effort>(["low", "medium", "high", "xhigh", "max"]);
const isEffort = (value: unknown): value is Effort => EFFORTS.has(value);
const THINKING_TYPES: ReadonlySet<unknown> = new Set(["enabled", "adaptive", "disabled", "between_tools"]);
const MIN_BUDGET = 1_024;
/** From these budgets on a model thinks with more effort. */
const MEDIUM_BUDGET = 4_000;
const HIGH_BUDGET = 16_000;

/** A named effort wins over a budget. Thinking that is only switched on is left to the model. */
function readEffort(thinking: JsonObject, effort: unknown, problems: Problems): Effort | null {
  const { type, budget_tokens: budget } = thinking;
  if (Object.keys(thinking).length > 0 && !THINKING_TYPES.has(type)) {
    problems.add("thinking.type", "in", `must be one of ${[...THINKING_TYPES].join(", ")}`);
  }
  const isManual = type === "enabled";
  const hasBudget =
    isManual && problems.holds(integerBetween(MIN_BUDGET, MAX_TOKENS), budget, "thinking.budget_tokens");
  if (effort !== undefined && effort !== null && !isEffort(effort)) {
    problems.add("output_config.effort", "in", `must be one of ${[...EFFORTS].join(", ")}`);
  }
  if (type === "disabled") return "none";
  if (isEffort(effort)) return effort;
  if (!hasBudget) return null;
  if (Number(budget) < MEDIUM_BUDGET) return "low";
  return Number(budget) < HIGH_BUDGET ? "medium" : "high";
}

/** The protocol has no name for a schema; others demand one. */
const SCHEMA_NAME = "answer";

/** `strict` is left open: schemas that Anthropic takes may have optional members, which OpenAI refuses where it is set. */
function readFormat(value: unknown, field: string, problems: Problems): OutputFormat | null {
  const format = problems.object(value, field);
  if (format === null) return null;
  const { type, schema } = format;
  if (type !== "json_schema") {
    problems.add(`${field}.type`, "in", "must be json_schema");
    return null;
  }
  if (!problems.holds(isJsonObject, schema, `${field}.schema`) || !isObject(schema)) return null;
  return { kind: "schema", name: SCHEMA_NAME, schema, strict: null };
}
