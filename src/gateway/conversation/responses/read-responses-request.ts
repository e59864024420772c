// Reads the body of a Responses request. Answers are not stored here, so a request has to hold its whole conversation. What has no
// price is refused; a field that is not named here changes nothing and does not reach an upstream.

import type { Conversation, Effort, OutputFormat } from "../conversation.ts";
import { integerBetween, numberBetween, problem, type JsonObject } from "../../request/field-rules.ts";
import { ObjectReader, Problems } from "./object-reader.ts";
import { readInput } from "./read-input.ts";
import { readToolChoice, ToolList } from "./read-tools.ts";

/** A request, and the members of it that its answer repeats. */
export type ResponsesRequest = { readonly conversation: Conversation; readonly repeated: JsonObject };

const MAX_MODEL_ID_LENGTH = 200;
const MAX_TOKENS = 2_147_483_647;
const SUMMARIES = ["auto", "concise", "detailed"] as const;
const VERBOSITIES = ["low", "medium", "high"] as const;
const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

type Refusal = { readonly isHarmless: (value: unknown) => boolean; readonly rule: string; readonly message: string };
const never = (): boolean => false;
const stateless = (message: string, isHarmless: Refusal["isHarmless"] = never): Refusal => ({
  isHarmless,
  rule: "stateless",
  message: `is not offered, because no answers are stored here; ${message}`,
});
const unpriced = (...harmless: readonly unknown[]): Refusal => ({
  isHarmless: (value) => harmless.includes(value),
  rule: "unpriced",
  message: "is not offered, because it changes what the upstream charges",
});
const notRead = (message: string, ...harmless: readonly unknown[]): Refusal => ({
  isHarmless: (value) => harmless.includes(value),
  rule: "unsupported",
  message: `is not read here; ${message}`,
});

/** Fields whose loss would change the answer or its price. Null is as good as absent. */
const REFUSED: Readonly<Record<string, Refusal>> = {
  background: stateless("leave it out", (value) => value === false),
  previous_response_id: stateless("send the whole conversation in input"),
  conversation: stateless("send the whole conversation in input"),
  prompt: stateless("send the instructions and the input themselves"),
  service_tier: unpriced("auto", "default", "standard"),
  speed: unpriced("standard"),
  inference_geo: unpriced("global"),
  prompt_cache_options: unpriced(),
  audio: unpriced(),
  modalities: {
    ...unpriced(),
    isHarmless: (value) => Array.isArray(value) && value.every((kind) => kind === "text"),
  },
  stop: notRead("the Responses protocol has no stop sequences"),
  n: notRead("there is one answer to a request", 1),
  logprobs: notRead("leave it out", false),
  logit_bias: notRead("leave it out"),
  frequency_penalty: notRead("leave it out", 0),
  presence_penalty: notRead("leave it out", 0),
  max_tokens: notRead("use max_output_tokens"),
  max_completion_tokens: notRead("use max_output_tokens"),
  reasoning_effort: notRead("use reasoning.effort"),
  response_format: notRead("use text.format"),
  messages: notRead("use input"),
};

/** Reads and checks a body. Errors: ValidationError naming each field that is wrong. */
export function readResponsesRequest(object: JsonObject): ResponsesRequest {
  const problems = new Problems();
  const body = new ObjectReader(object, "", problems);
  refuseFields(body);
  const tools = new ToolList();
  if (body.has("tools")) tools.read(body);
  const { system, turns } = readInput(body, tools);
  const toolChoice = readToolChoice(body, tools);
  const instructions = body.text("instructions");
  const reasoning = body.member("reasoning");
  const summary = SUMMARIES.find((each) => each === reasoning?.object["summary"]);
  const verbosity = VERBOSITIES.find((each) => each === body.member("text")?.object["verbosity"]);
  // It is checked though it changes nothing: answers are stored in neither case.
  body.boolean("store");
  const conversation: Conversation = {
    model: readModel(body),
    stream: body.boolean("stream") === true,
    system: instructions === "" ? system : [{ kind: "text", text: instructions }, ...system],
    turns,
    tools: tools.all(),
    toolChoice,
    parallelCalls: tools.all().length === 0 ? null : body.boolean("parallel_tool_calls"),
    outputCap: body.number("max_output_tokens", integerBetween(1, MAX_TOKENS)),
    stop: [],
    temperature: body.number("temperature", numberBetween(0, 2)),
    topP: body.number("top_p", numberBetween(0, 1)),
    topK: null,
    effort: reasoning?.oneOf("effort", EFFORTS) ?? null,
    ...(summary === undefined ? {} : { reasoningSummary: summary }),
    ...(verbosity === undefined ? {} : { verbosity }),
    outputFormat: readFormat(body),
    cacheKey: body.text("prompt_cache_key") || null,
  };
  problems.refuseAny();
  return { conversation, repeated: repeatedOf(body) };
}

function refuseFields(body: ObjectReader): void {
  for (const name of Object.keys(body.object)) {
    const refusal = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (refusal === undefined || !body.has(name) || refusal.isHarmless(body.object[name])) continue;
    body.problems.add(problem(name, refusal.rule, refusal.message));
  }
}

function readModel(body: ObjectReader): string {
  const model = body.fullText("model");
  if (model.length > MAX_MODEL_ID_LENGTH) {
    body.refuse("model", "max_len", `must have at most ${MAX_MODEL_ID_LENGTH} characters`);
  }
  return model;
}

function readFormat(body: ObjectReader): OutputFormat | null {
  const format = body.member("text")?.member("format") ?? null;
  if (format === null) return null;
  const kind = format.oneOf("type", ["text", "json_object", "json_schema"]);
  if (kind === null && !format.has("type")) format.refuse("type", "required", "must be a string that is not empty");
  if (kind === "json_object") return { kind: "json" };
  if (kind !== "json_schema") return null;
  const schema = format.member("schema");
  if (schema === null && !format.has("schema")) format.refuse("schema", "required", "must be an object");
  const [name, strict] = [format.fullText("name"), format.boolean("strict")];
  return { kind: "schema", name, schema: schema?.object ?? {}, strict };
}

const REPEATED = [
  "max_output_tokens",
  "metadata",
  "parallel_tool_calls",
  "prompt_cache_key",
  "reasoning",
  "temperature",
  "text",
  "tool_choice",
  "top_p",
] as const;

/** The most characters of JSON of a setting that an answer shows again: an answer is not billed for them. */
const MOST_REPEATED_CHARACTERS = 16_384;

function isSmall(value: unknown): boolean {
  return value === undefined || JSON.stringify(value).length <= MOST_REPEATED_CHARACTERS;
}

/** The settings that an answer shows again, where they are small. Tools and instructions are most of a request, so they are left out. */
function repeatedOf({ object: sent }: ObjectReader): JsonObject {
  const object: JsonObject = Object.fromEntries(
    REPEATED.filter((name) => isSmall(sent[name])).map((name) => [name, sent[name]]),
  );
  return {
    max_output_tokens: object["max_output_tokens"] ?? null,
    metadata: object["metadata"] ?? {},
    parallel_tool_calls: object["parallel_tool_calls"] ?? true,
    prompt_cache_key: object["prompt_cache_key"] ?? null,
    reasoning: object["reasoning"] ?? null,
    temperature: object["temperature"] ?? null,
    text: object["text"] ?? { format: { type: "text" } },
    tool_choice: object["tool_choice"] ?? "auto",
    top_p: object["top_p"] ?? null,
  };
}
