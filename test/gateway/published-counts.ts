// Requests with the input tokens that their providers have counted. `fixtures/token-counts.md` has the sources.

import type { Json } from "./fakes/anthropic-wire.ts";

/** A request and its count. `source` is a line of the list of sources. */
export type PublishedCount = {
  readonly source: string;
  readonly protocol: "messages" | "responses" | "gemini";
  readonly tokens: number;
  readonly body: Json;
};

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
const strings = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { type: "string" }]));
const object = (properties: Json, required: readonly string[], more: Json = {}) => {
  return { type: "object", properties, required, ...more };
};
const CLOSED = { additionalProperties: false };
const result = (id: string, content: unknown) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const call = (id: string, name: string, input: Json, text?: string) => ({
  role: "assistant",
  content: [...(text === undefined ? [] : [{ type: "text", text }]), { type: "tool_use", id, name, input }],
});

const FINAL = {
  name: "final_result",
  description: "The final response which ends this conversation",
  input_schema: object(strings("city", "country"), ["city", "country"]),
};
const COUNTRY = { name: "get_user_country", description: "", input_schema: object({}, [], CLOSED) };
const SOURCE = { name: "country_source", description: "", input_schema: object({}, [], CLOSED), strict: true };
const CAPITAL = {
  name: "capital_lookup",
  description: "",
  input_schema: object(strings("country"), ["country"], CLOSED),
};
const WEATHER = {
  name: "get_weather",
  description: "Get the current weather in a given location",
  input_schema: object({ location: { type: "string", description: "The city and state, e.g. San Francisco, CA" } }, [
    "location",
  ]),
};
const CALL_FIRST = {
  system: "Always call `country_source` first, then call `capital_lookup` with that result before replying.",
  tools: [SOURCE, CAPITAL],
};
const CAPITAL_ASKED = user("Use the registered tools and respond exactly as `Capital: <city>`.");
const CAPITAL_CALLED = [
  CAPITAL_ASKED,
  call("toolu_a", "country_source", {}, "I'll help you find the capital city using the available tools."),
  result("toolu_a", "Japan"),
];
const LARGEST_CITY = user("What is the largest city in the user country?");

/** JSON with a space behind each colon and comma. */
const spaced = (value: Json): string => JSON.stringify(value).replaceAll(/([:,])(?=["{[ft])/g, "$1 ");
const dataOf = (...names: string[]) => ({ properties: strings(...names), required: names, type: "object" });
/** How the two recordings write a member with one value. */
const constOf = (kind: string) => ({ type: "string", const: kind });
const enumOf = (kind: string) => ({ type: "string", enum: [kind] });

/** Instructions with a schema in them. */
function schemaPrompt(kindOf: (kind: string) => Json): string {
  const choices = [
    ["CityLocation", dataOf("city", "country")] as const,
    ["CountryLanguage", dataOf("country", "language")] as const,
  ].map(([kind, data]) => ({
    ...object({ kind: kindOf(kind), data }, ["kind", "data"], CLOSED),
    ...(kindOf === constOf ? { title: kind } : {}),
  }));
  const schema = object({ result: { anyOf: choices } }, ["result"], CLOSED);
  return (
    `Always respond with a JSON object that's compatible with this schema:\n\n${spaced(schema)}\n\n` +
    "Don't include any text or Markdown fencing before or after.\n"
  );
}

export const PUBLISHED_COUNTS: readonly PublishedCount[] = [
  {
    source: "anthropic-guide, opus",
    protocol: "messages",
    tokens: 14,
    body: { system: "You are a scientist", messages: [user("Hello, Claude")] },
  },
  {
    source: "anthropic-guide, tools",
    protocol: "messages",
    tokens: 403,
    body: { tools: [WEATHER], messages: [user("What's the weather like in San Francisco?")] },
  },
  {
    source: "usage_limit_exceeded",
    protocol: "messages",
    tokens: 19,
    body: { model: "claude-sonnet-4-5", messages: [user("The quick brown fox jumps over the lazydog.")] },
  },
  {
    source: "cache_count_tokens",
    protocol: "messages",
    tokens: 1_114,
    body: {
      model: "claude-sonnet-4-5",
      system: "You are a helpful assistant.",
      messages: [user("Please explain what Python is and its main use cases. ".repeat(100))],
    },
  },
  {
    source: "opus_46_features",
    protocol: "messages",
    tokens: 14,
    body: { model: "claude-opus-4-6", messages: [user("What is 2+2?")] },
  },
  {
    source: "opus_5_features",
    protocol: "messages",
    tokens: 13,
    body: { model: "claude-opus-5", messages: [user("What is 2+2?")] },
  },
  {
    source: "prompted_output_multiple",
    protocol: "messages",
    tokens: 265,
    body: {
      model: "claude-sonnet-4-5",
      system: `${schemaPrompt(constOf)}\n`,
      messages: [user("What is the largest city in Mexico?")],
    },
  },
  {
    source: "fable_5_1_drops_a_stale_thinking_block",
    protocol: "messages",
    tokens: 41,
    body: {
      model: "claude-fable-5-1",
      system: "You are a helpful assistant. Answer briefly.",
      messages: [user("Think about it, then say what 17*23 is.")],
    },
  },
  {
    source: "count_tokens_with_adaptive_thinking_and_output_tools",
    protocol: "messages",
    tokens: 671,
    body: {
      model: "claude-opus-4-6",
      messages: [user("What is the capital of France?")],
      tools: [FINAL],
      tool_choice: { type: "any" },
    },
  },
  {
    source: "tool_output, 1",
    protocol: "messages",
    tokens: 711,
    body: {
      model: "claude-sonnet-4-5",
      messages: [LARGEST_CITY],
      tools: [COUNTRY, FINAL],
      tool_choice: { type: "any" },
    },
  },
  {
    source: "tool_output, 2",
    protocol: "messages",
    tokens: 762,
    body: {
      model: "claude-sonnet-4-5",
      messages: [LARGEST_CITY, call("toolu_a", "get_user_country", {}), result("toolu_a", "Mexico")],
      tools: [COUNTRY, FINAL],
      tool_choice: { type: "any" },
    },
  },
  {
    source: "mixed_strict_tool_run, 1",
    protocol: "messages",
    tokens: 628,
    body: { model: "claude-sonnet-4-5", ...CALL_FIRST, messages: [CAPITAL_ASKED], tool_choice: { type: "auto" } },
  },
  {
    source: "mixed_strict_tool_run, 2",
    protocol: "messages",
    tokens: 691,
    body: { model: "claude-sonnet-4-5", ...CALL_FIRST, messages: CAPITAL_CALLED, tool_choice: { type: "auto" } },
  },
  {
    source: "mixed_strict_tool_run, 3",
    protocol: "messages",
    tokens: 757,
    body: {
      model: "claude-sonnet-4-5",
      ...CALL_FIRST,
      messages: [
        ...CAPITAL_CALLED,
        call("toolu_b", "capital_lookup", { country: "Japan" }),
        result("toolu_b", "Tokyo"),
      ],
      tool_choice: { type: "auto" },
    },
  },
  {
    source: "extended_thinking_with_tool_use, 1",
    protocol: "messages",
    tokens: 443,
    body: {
      model: "claude-sonnet-4-0",
      messages: [user("Generate a random user for me.")],
      tools: [
        {
          ...FINAL,
          input_schema: object({ age: { type: "integer" }, ...strings("email", "name") }, ["name", "email", "age"], {
            title: "User",
          }),
        },
      ],
      tool_choice: { type: "auto" },
    },
  },
  {
    source: "extended_thinking_with_tool_use, 2",
    protocol: "messages",
    tokens: 508,
    body: {
      model: "claude-sonnet-4-0",
      messages: [user("What is a banana?")],
      tools: [
        {
          name: "return_fruit",
          description: "Fruit: The final response which ends this conversation",
          input_schema: object(strings("color", "name"), ["name", "color"], { title: "Fruit" }),
        },
        {
          name: "return_vehicle",
          description: "Vehicle: The final response which ends this conversation",
          input_schema: object({ ...strings("name"), wheels: { type: "integer" } }, ["name", "wheels"], {
            title: "Vehicle",
          }),
        },
      ],
      tool_choice: { type: "auto" },
    },
  },
  {
    source: "openai_responses_model_instructions",
    protocol: "responses",
    tokens: 24,
    body: {
      instructions: "You are a helpful assistant.",
      input: [{ role: "user", content: "What is the capital of France?" }],
    },
  },
  {
    source: "openai_responses_output_type",
    protocol: "responses",
    tokens: 66,
    body: {
      input: [{ role: "user", content: "Give me the name and age of Brazil, Argentina, and Chile." }],
      tools: [
        {
          type: "function",
          name: FINAL.name,
          description: FINAL.description,
          parameters: object({ age: { type: "integer" }, ...strings("name") }, ["name", "age"], CLOSED),
          strict: true,
        },
      ],
      tool_choice: "required",
    },
  },
  {
    source: "google_prompted_output_multiple",
    protocol: "gemini",
    tokens: 230,
    body: {
      systemInstruction: { parts: [{ text: `\n${schemaPrompt(enumOf)}` }] },
      contents: [{ role: "user", parts: [{ text: "What is the largest city in Mexico?" }] }],
    },
  },
  {
    source: "google_model_count_tokens",
    protocol: "gemini",
    tokens: 10,
    body: { contents: [{ parts: [{ text: "The quick brown fox jumps over the lazy dog." }] }] },
  },
  {
    source: "google_model_usage_limit_exceeded",
    protocol: "gemini",
    tokens: 12,
    body: { contents: [{ role: "user", parts: [{ text: "The quick brown fox jumps over the lazydog." }] }] },
  },
];
