// How an answer is to be made: the members of `generationConfig`.

import { integerBetween, isObject, isText, numberBetween, type Rule } from "../../request/field-rules.ts";
import type { Conversation, Effort, OutputFormat } from "../conversation.ts";
import { refuseUnpriced } from "./known-members.ts";
import { checkResolution } from "./media-resolution.ts";
import type { Members } from "./members.ts";
import { plainSchema } from "./read-schema.ts";

const MAX_INTEGER = 2_147_483_647;
const MAX_STOPS = 16;
const NO_FORM = "is not offered here";
const OTHER_MODELS = "is not offered, because other models may answer, which have other prices";
const UNPRICED = "is not offered, because it changes what the upstream charges";

type Sampling = Pick<Conversation, "outputCap" | "stop" | "temperature" | "topP" | "topK" | "effort" | "outputFormat">;

/** `showsThoughts`: whether the client wants to see what the model thinks. */
export type AnswerConfig = Sampling & { readonly showsThoughts: boolean };

const UNSET: AnswerConfig = {
  outputCap: null,
  stop: [],
  temperature: null,
  topP: null,
  topK: null,
  effort: null,
  outputFormat: null,
  showsThoughts: false,
};

/** Reads the configuration of an answer. */
export function readConfig(body: Members): AnswerConfig {
  const config = body.object("generationConfig");
  if (config === null) return UNSET;
  refuseMembers(config);
  checkResolution(config, false);
  const number = (name: string, rule: Rule) => config.optional(name, rule) as number | null;
  const thinking = config.object("thinkingConfig");
  return {
    outputCap: number("maxOutputTokens", integerBetween(1, MAX_INTEGER)),
    stop: readStops(config),
    temperature: number("temperature", numberBetween(0, 2)),
    topP: number("topP", numberBetween(0, 1)),
    topK: number("topK", integerBetween(0, MAX_INTEGER)),
    effort: thinking === null ? null : readEffort(thinking),
    outputFormat: readFormat(config),
    showsThoughts: thinking?.value("includeThoughts") === true,
  };
}

/** Values that change nothing pass. */
const REFUSED: readonly (readonly [string, string, (value: unknown) => boolean])[] = [
  ["candidateCount", "must be 1", (value) => value === 1],
  ["responseModalities", UNPRICED, (value) => Array.isArray(value) && value.every(isTextModality)],
  ["speechConfig", UNPRICED, isEmpty],
  ["imageConfig", UNPRICED, isEmpty],
  ["routingConfig", OTHER_MODELS, isEmpty],
  ["modelConfig", OTHER_MODELS, isEmpty],
  ["responseLogprobs", NO_FORM, (value) => value === false],
  ["logprobs", NO_FORM, () => false],
  ["presencePenalty", NO_FORM, (value) => value === 0],
  ["frequencyPenalty", NO_FORM, (value) => value === 0],
];

function refuseMembers(config: Members): void {
  refuseUnpriced(config);
  for (const [name, message, isHarmless] of REFUSED) {
    const value = config.value(name);
    if (value !== null && !isHarmless(value)) config.refuse(name, "unpriced", message);
  }
}

function isTextModality(modality: unknown): boolean {
  return modality === "TEXT" || modality === "MODALITY_UNSPECIFIED";
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function readStops(config: Members): readonly string[] {
  const value = config.value("stopSequences");
  if (value === null) return [];
  if (
    Array.isArray(value) &&
    value.length <= MAX_STOPS &&
    value.every((stop) => typeof stop === "string" && stop !== "")
  )
    return value as string[];
  config.refuse("stopSequences", "array", `must be a list of at most ${MAX_STOPS} texts that are not empty`);
  return [];
}

const LEVELS = new Map<unknown, Effort | null>([
  ["THINKING_LEVEL_UNSPECIFIED", null],
  ["MINIMAL", "minimal"],
  ["LOW", "low"],
  ["MEDIUM", "medium"],
  ["HIGH", "high"],
]);
/** From these budgets on a model thinks with more effort. */
const MEDIUM_BUDGET = 4_000;
const HIGH_BUDGET = 16_000;

/** A level wins over a budget. A budget of -1 leaves it to the model. */
function readEffort(thinking: Members): Effort | null {
  const level = thinking.value("thinkingLevel");
  const named: unknown = typeof level === "string" ? level.toUpperCase() : level;
  if (level !== null && !LEVELS.has(named)) {
    thinking.refuse("thinkingLevel", "in", `must be one of ${[...LEVELS.keys()].join(", ")}`);
  }
  const budget = thinking.optional("thinkingBudget", integerBetween(-1, MAX_INTEGER)) as number | null;
  const effort = LEVELS.get(named) ?? null;
  if (effort !== null || budget === null || budget === -1) return effort;
  if (budget === 0) return "none";
  if (budget < MEDIUM_BUDGET) return "low";
  return budget < HIGH_BUDGET ? "medium" : "high";
}

/** The protocol has no name for a schema; others demand one. */
const SCHEMA_NAME = "answer";
const JSON_TYPE = "application/json";

function readFormat(config: Members): OutputFormat | null {
  const type = config.optional("responseMimeType", isText);
  const name = ["responseJsonSchema", "_responseJsonSchema", "responseSchema"].find(
    (each) => config.value(each) !== null,
  );
  if (type !== null && type !== "" && type !== JSON_TYPE && (type !== "text/plain" || name !== undefined)) {
    config.refuse("responseMimeType", "in", `must be ${JSON_TYPE}, or text/plain without a schema`);
    return null;
  }
  if (name === undefined) return type === JSON_TYPE ? { kind: "json" } : null;
  const schema = config.value(name);
  if (isObject(schema)) return { kind: "schema", name: SCHEMA_NAME, schema: plainSchema(schema), strict: null };
  config.refuse(name, "object", "must be an object");
  return null;
}
