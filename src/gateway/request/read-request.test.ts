import { describe, expect, it } from "vitest";
import { ValidationError } from "../../kernel/errors.ts";
import { readRequest } from "./read-request.ts";

const USER = { role: "user", content: "hi" };
const bodyOf = (more: object) => Buffer.from(JSON.stringify({ model: "acme/m", messages: [USER], ...more }));

function problemsOf(body: string | Buffer): string[] {
  try {
    readRequest(Buffer.from(body));
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.details.map(({ field, rule }) => `${field}: ${rule}`);
    throw error;
  }
}

describe("readRequest refuses", () => {
  it.each<[string, object, string]>([
    ["empty messages", { messages: [] }, "messages: min_items"],
    ["messages that are no array", { messages: "hi" }, "messages: array"],
    ["no messages", { messages: undefined }, "messages: array"],
    ["a message that is no object", { messages: ["hi"] }, "messages[0]: object"],
    ["an unknown role", { messages: [USER, { role: "robot", content: "hi" }] }, "messages[1].role: in"],
    ["content of a wrong type", { messages: [{ role: "user", content: 5 }] }, "messages[0].content: type"],
    ["a user message of null", { messages: [{ role: "user", content: null }] }, "messages[0].content: type"],
    [
      "an unknown part",
      { messages: [{ role: "user", content: [{ type: "smell" }] }] },
      "messages[0].content[0].type: in",
    ],
    [
      "a text part without text",
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      "messages[0].content[0].text: string",
    ],
    [
      "an image without an address",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      "messages[0].content[0].image_url.url: string",
    ],
    [
      "tool calls that are none",
      { messages: [{ role: "assistant", tool_calls: [{ function: {} }] }] },
      "messages[0].tool_calls[0].function.name: string",
    ],
    ["a model that is no text", { model: 5 }, "model: string"],
    ["an empty model", { model: "" }, "model: string"],
    ["temperature below 0", { temperature: -0.1 }, "temperature: range"],
    ["temperature above 2", { temperature: 2.1 }, "temperature: range"],
    ["temperature as text", { temperature: "1" }, "temperature: number"],
    ["top_p above 1", { top_p: 1.5 }, "top_p: range"],
    ["max_tokens 0", { max_tokens: 0 }, "max_tokens: range"],
    ["max_tokens -1", { max_tokens: -1 }, "max_tokens: range"],
    ["max_tokens 1.5", { max_tokens: 1.5 }, "max_tokens: integer"],
    ["max_tokens as text", { max_tokens: "100" }, "max_tokens: integer"],
    ["max_tokens 2^63", { max_tokens: 2 ** 63 }, "max_tokens: range"],
    ["max_completion_tokens 0", { max_completion_tokens: 0 }, "max_completion_tokens: range"],
    ["n 0", { n: 0 }, "n: range"],
    ["n 129", { n: 129 }, "n: range"],
    ["stream as text", { stream: "true" }, "stream: boolean"],
    ["stream_options as text", { stream_options: "usage" }, "stream_options: object"],
    ["include_usage as a number", { stream_options: { include_usage: 1 } }, "stream_options.include_usage: boolean"],
    ["stop as a number", { stop: 5 }, "stop: type"],
    ["too many messages", { messages: Array.from({ length: 10_001 }, () => USER) }, "messages: max_items"],
    ["too many tools", { tools: Array.from({ length: 1_001 }, () => ({})) }, "tools: max_items"],
    ["too many stops", { stop: Array.from({ length: 17 }, String) }, "stop: max_items"],
    ["tools as an object", { tools: {} }, "tools: array"],
    ["a tool without a name", { tools: [{ type: "function", function: {} }] }, "tools[0].function.name: string"],
    ["a tool the upstream would run", { tools: [{ type: "web_search" }] }, "tools[0].type: in"],
    ["a dearer service tier", { service_tier: "priority" }, "service_tier: unpriced"],
    ["an answer that is kept", { previous_response_id: "resp_1" }, "previous_response_id: kept"],
    ["a file that is kept", { file_ids: ["file-1"] }, "file_ids: kept"],
    ["a prediction", { prediction: { type: "content", content: "x" } }, "prediction: unpriced"],
    ["web search", { web_search_options: {} }, "web_search_options: unpriced"],
    [
      "an answer in sound that the provider keeps",
      { messages: [USER, { role: "assistant", audio: { id: "audio_1" } }] },
      "messages[1].audio: stored",
    ],
    ["spoken output", { modalities: ["text", "audio"], audio: { voice: "a" } }, "modalities: unpriced,audio: unpriced"],
    ["other models behind the one that is priced", { models: ["dear/model"] }, "models: unpriced"],
    ["an answer that is fetched later", { deferred: true }, "deferred: unpriced"],
    ["data that the upstream looks up", { data_sources: [{ type: "x" }] }, "data_sources: unpriced"],
    ["its own options of the cache", { prompt_cache_options: { mode: "explicit" } }, "prompt_cache_options: unpriced"],
    ["a dearer place", { inference_geo: "us" }, "inference_geo: unpriced"],
    ["another address behind a proxy", { api_base: "https://x.example" }, "api_base: unpriced"],
    ["a model to fall back to", { fallbacks: ["dear/model"] }, "fallbacks: unpriced"],
    ["names inside extra_body", { extra_body: { service_tier: "priority" } }, "extra_body: unpriced"],
    ["another name of the bound", { n_predict: 9_000 }, "n_predict: bound"],
  ])("%s", (_name, more, expected) => {
    expect(problemsOf(bodyOf(more)).join()).toBe(expected);
  });

  it.each<[string, object, string]>([
    ["MODEL", {}, "MODEL"],
    ["Max_Tokens", {}, "Max_Tokens"],
    ["max_to\u212Aens", {}, "max_to\u212Aens"],
    ["max_completion_tokenſ", {}, "max_completion_tokenſ"],
    ["N", {}, "N"],
    ["Meſſages", {}, "Meſſages"],
    ["Service_Tier", {}, "Service_Tier"],
    ["Cache_Control", {}, "Cache_Control"],
    ["Extra_Body", {}, "Extra_Body"],
    ["Content", { messages: [{ ...USER, Content: "x" }] }, "messages[0].Content"],
    [
      "Type",
      { messages: [{ role: "user", content: [{ type: "text", text: "x", Type: "image_url" }] }] },
      "messages[0].content[0].Type",
    ],
    [
      "URL",
      {
        messages: [
          { role: "user", content: [{ type: "image_url", image_url: { url: "https://x.example", URL: "y" } }] },
        ],
      },
      "messages[0].content[0].image_url.URL",
    ],
    ["TYPE", { tools: [{ type: "custom", TYPE: "web_search" }] }, "tools[0].TYPE"],
    ["Name", { tools: [{ type: "function", function: { name: "f", Name: "g" } }] }, "tools[0].function.Name"],
    ["Include_Usage", { stream_options: { Include_Usage: false } }, "stream_options.Include_Usage"],
  ])("the name %s, which differs from a known one by case or a look-alike letter alone", (name, more, field) => {
    const body = Object.keys(more).length === 0 ? { [name]: 1 } : more;
    expect(problemsOf(bodyOf(body))).toEqual([`${field}: spelling`]);
    // An escaped name is the same name.
    const escaped = JSON.stringify({ model: "m", messages: [USER], ...body }).replace(`"${name}"`, () => {
      const code = name.charCodeAt(0).toString(16).padStart(4, "0");
      return `"\\u${code}${name.slice(1)}"`;
    });
    expect(problemsOf(escaped)).toEqual([`${field}: spelling`]);
  });

  it("a misspelled name with a message that names both", () => {
    expect(() => readRequest(bodyOf({ MAX_TOKENS: 5 }))).toThrow("MAX_TOKENS must be written max_tokens");
  });

  it.each([
    ["no JSON", "{nonsense}", ": json"],
    ["JSON that is cut", '{"model":"m","messages":[', ": json"],
    ["something behind the object", '{"model":"m","messages":[{"role":"user","content":"x"}]} {}', ": json"],
    ["an array", "[]", ": object"],
    ["nothing", "", ": object"],
    ["bytes that are no UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), ": utf8"],
    ["nesting 200 000 deep", `{"model":"m","messages":${"[".repeat(200_000)}${"]".repeat(200_000)}}`, ": depth"],
    [
      "__proto__ as a key, spelled with an escape",
      '{"model":"m","messages":[{"role":"user","content":"x","__p\\u0072oto__" : {}}]}',
      "__proto__: forbidden",
    ],
    [
      "__proto__ as a key",
      '{"model":"m","messages":[{"role":"user","content":"x","__proto__" : {}}]}',
      "__proto__: forbidden",
    ],
    ["the model twice", '{"model":"cheap","messages":[{"role":"user","content":"x"}],"model":"dear"}', "model: unique"],
    [
      "max_tokens twice",
      '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"max_tokens":9}',
      "max_tokens: unique",
    ],
  ])("%s", (_name, body, expected) => {
    expect(problemsOf(body).join()).toBe(expected);
  });

  it("reports at most twenty problems of a body with thousands", () => {
    expect(problemsOf(bodyOf({ messages: Array.from({ length: 10_000 }, () => 1) }))).toHaveLength(20);
  });
});

const data = (bytes: number) => `data:image/png;base64,${"A".repeat(bytes)}`;

describe("readRequest accepts", () => {
  it.each<[string, object]>([
    [
      "every role",
      {
        messages: ["system", "developer", "user", "assistant", "tool", "function"].map((role) => ({
          role,
          content: "x",
          tool_call_id: "c",
        })),
      },
    ],
    ["empty content", { messages: [{ role: "assistant", content: "" }] }],
    [
      "null beside tool calls",
      {
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
          },
        ],
      },
    ],
    [
      "tool content in parts",
      { messages: [{ role: "tool", tool_call_id: "a", content: [{ type: "text", text: "x" }] }] },
    ],
    ["nulls where nothing was chosen", { temperature: null, max_tokens: null, stop: null, tools: null, stream: null }],
    ["the harmless values of refused members", { service_tier: "auto", modalities: ["text"], best_of: 1 }],
    ["unknown members", { prompt_cache_key: "k", store: false, thinking: { type: "x" }, chat_template_kwargs: {} }],
    [
      "lists of nothing, and a place that costs no more",
      { plugins: [], fallbacks: [], transforms: [], deferred: false },
    ],
    ["Gemini's own options", { extra_body: { google: { thinking_config: { thinking_budget: 100 } } } }],
    ["capitals in names that are not checked", { Temperature2: 1, myKey: 1, metadata: { MODEL: "x" } }],
    [
      "capitals in the schema of a tool",
      { tools: [{ type: "function", function: { name: "f", parameters: { Type: "object", URL: {} } } }] },
    ],
    ["__proto__ in text", { messages: [{ role: "user", content: '{"__proto__": 1}' }], user: "__proto__" }],
    ["max_tokens as large as a context window", { max_tokens: 131_072 }],
  ])("%s", (_name, more) => {
    expect(problemsOf(bodyOf(more))).toEqual([]);
  });

  it("media data without counting it as text, also when its string is long", () => {
    const parts = [5, 500, 50_000].map((bytes) => ({ type: "image_url", image_url: { url: data(bytes) } }));
    const body = bodyOf({ messages: [{ role: "user", content: [{ type: "text", text: "look é" }, ...parts] }] });
    const request = readRequest(body);
    expect(request.media.parts.get("image")).toBe(3);
    expect(request.media.dataBytes).toBe(50_505 + 3 * data(0).length);
    expect(request.asciiBytes).toBe(body.length - request.media.dataBytes - 2);
    expect(request.otherBytes).toBe(2);
  });

  it("a text that only looks like media as text", () => {
    const body = bodyOf({ messages: [{ role: "user", content: `data:image/png;base64,${"A".repeat(5_000)}` }] });
    expect(readRequest(body).asciiBytes).toBe(body.length);
  });
});

describe("what a request asks to be written to a prompt cache", () => {
  const part = (control: unknown) => ({
    messages: [{ role: "user", content: [{ type: "text", text: "x", cache_control: control }] }],
  });
  const short = { type: "ephemeral" };
  const long = { type: "ephemeral", ttl: "1h" };
  it.each<[string, object, [string, string]]>([
    ["nothing", {}, ["none", ""]],
    ["null", { ...part(null), cache_control: null, prompt_cache_retention: null }, ["none", ""]],
    ["the memory that all requests have", { prompt_cache_retention: "in_memory" }, ["none", ""]],
    ["a key alone", { prompt_cache_key: "k" }, ["none", ""]],
    ["a mark of the whole", { cache_control: short }, ["short", "cache_control"]],
    ["a mark of a part", part(short), ["short", "messages[0].content[0].cache_control"]],
    ["five minutes by name", part({ ...short, ttl: "5m" }), ["short", "messages[0].content[0].cache_control"]],
    ["an hour", part(long), ["long", "messages[0].content[0].cache_control"]],
    ["an unknown lifetime", part({ ttl: 86_400 }), ["long", "messages[0].content[0].cache_control"]],
    ["a mark of a message", { messages: [{ ...USER, cache_control: short }] }, ["short", "messages[0].cache_control"]],
    [
      "a break in a message",
      { messages: [{ ...USER, prompt_cache_breakpoint: {} }] },
      ["short", "messages[0].prompt_cache_breakpoint"],
    ],
    ["a mark of a tool", { tools: [{ type: "custom", cache_control: long }] }, ["long", "tools[0].cache_control"]],
    [
      "a mark of a definition",
      { tools: [{ type: "function", function: { name: "f", cache_control: short } }] },
      ["short", "tools[0].function.cache_control"],
    ],
    ["longer retention", { prompt_cache_retention: "24h" }, ["short", "prompt_cache_retention"]],
    [
      "several, of which the longest counts",
      { ...part(long), cache_control: short },
      ["long", "messages[0].content[0].cache_control"],
    ],
  ])("follows from its members: %s", (_name, more, expected) => {
    const { cacheWrites, cacheField } = readRequest(bodyOf(more));
    expect([cacheWrites, cacheField]).toEqual(expected);
  });
});

describe("a body that cannot fit the context window", () => {
  const models = new Map([["acme/m", { contextLength: 20_000 }]]);
  const reasonOf = (body: string): string | null => {
    try {
      readRequest(Buffer.from(body), models);
      return null;
    } catch (error) {
      if (error instanceof ValidationError) return error.reason ?? error.details[0]?.rule ?? "";
      throw error;
    }
  };
  const bodyWith = (text: string, model = "acme/m") =>
    `{"model":"${model}","messages":[{"role":"user","content":"hi"}],"metadata":{"a":[${text}]}}`;
  const short = `"${"x".repeat(900)}",`;

  it("is refused before it is parsed where its short strings are too long, and otherwise is not", () => {
    // What is not JSON is found by parsing alone.
    const broken = `${short.repeat(300)}nonsense`;
    expect(reasonOf(bodyWith(broken))).toBe("context_length_exceeded");
    expect(reasonOf(bodyWith(broken, "acme/unknown"))).toBe("json");
    expect(reasonOf(bodyWith(`${short.repeat(200)}nonsense`))).toBe("json");
    // It may be a picture: what a long string is shows after parsing.
    expect(reasonOf(bodyWith(`"${"x".repeat(300_000)}"`))).toBeNull();
  });
});
