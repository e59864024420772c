import { describe, expect, it } from "vitest";
import { ValidationError } from "../../kernel/errors.ts";
import { readRequest } from "./read-request.ts";
import { upstreamBody } from "./upstream-body.ts";

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
    ["a user who says null", { messages: [{ role: "user", content: null }] }, "messages[0].content: type"],
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
    ["too many stops", { stop: Array.from({ length: 17 }, String) }, "stop: max_items"],
    ["tools as an object", { tools: {} }, "tools: array"],
    ["a tool without a name", { tools: [{ type: "function", function: {} }] }, "tools[0].function.name: string"],
    ["a tool the upstream would run", { tools: [{ type: "web_search" }] }, "tools[0].type: in"],
    ["a dearer service tier", { service_tier: "priority" }, "service_tier: unpriced"],
    ["a prediction", { prediction: { type: "content", content: "x" } }, "prediction: unpriced"],
    ["web search", { web_search_options: {} }, "web_search_options: unpriced"],
    ["spoken output", { modalities: ["text", "audio"], audio: { voice: "a" } }, "modalities: unpriced,audio: unpriced"],
    ["other models behind the one that is priced", { models: ["dear/model"] }, "models: unpriced"],
  ])("%s", (_name, more, expected) => {
    expect(problemsOf(bodyOf(more)).join()).toBe(expected);
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

  it("says no more than twenty problems of a body with a million", () => {
    expect(problemsOf(bodyOf({ messages: Array.from({ length: 100_000 }, () => 1) }))).toHaveLength(20);
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
    [
      "members nobody knows",
      { prompt_cache_key: "k", store: false, thinking: { type: "x" }, chat_template_kwargs: {} },
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

describe("upstreamBody", () => {
  const facts = { model: "up-1", outputCap: null, outputCapField: "max_tokens" } as const;
  const spaced =
    '{ "messages" : [{"role":"user","content":"a\\u00e9 \\"model\\": 1.50"}] ,\n "model": "acme/m" , "max_tokens": 5e2, "x": 1.000 }';

  it("replaces the model and touches nothing else", () => {
    const body = upstreamBody(readRequest(Buffer.from(spaced)), facts);
    expect(body.toString()).toBe(spaced.replace('"acme/m"', '"up-1"'));
  });

  it("is the client's own bytes where nothing has to change", () => {
    const request = readRequest(Buffer.from(spaced));
    expect(upstreamBody(request, { ...facts, model: "acme/m" })).toBe(request.body);
  });

  it("writes over a large body instead of copying it, also for a retry under another name", () => {
    const body = bodyOf({ messages: [{ role: "user", content: "x".repeat(70_000) }] });
    const request = readRequest(body);
    const first = upstreamBody(request, { ...facts, model: "u" });
    expect(first).toBe(body);
    expect(JSON.parse(first.toString())).toMatchObject({ model: "u" });
    expect(JSON.parse(upstreamBody(request, { ...facts, model: "acme/m" }).toString())).toMatchObject({
      model: "acme/m",
    });
    expect(JSON.parse(upstreamBody(request, { ...facts, model: "a-longer-name" }).toString())).toMatchObject({
      model: "a-longer-name",
    });
  });

  it.each<[string, object, object]>([
    ["no options", {}, { include_usage: true }],
    ["null options", { stream_options: null }, { include_usage: true }],
    [
      "other options",
      { stream_options: { include_obfuscation: false } },
      { include_obfuscation: false, include_usage: true },
    ],
    ["usage declined", { stream_options: { include_usage: false } }, { include_usage: true }],
  ])("asks a stream for usage: %s", (_name, more, expected) => {
    const body = upstreamBody(readRequest(bodyOf({ stream: true, ...more })), facts);
    expect(JSON.parse(body.toString())).toMatchObject({ model: "up-1", stream: true, stream_options: expected });
  });

  it.each<[string, object, object]>([
    ["the client's own field", { max_tokens: 900 }, { max_tokens: 300 }],
    ["the client's newer field", { max_completion_tokens: 900 }, { max_completion_tokens: 300 }],
    [
      "both, the smaller one as it was",
      { max_tokens: 200, max_completion_tokens: 900 },
      { max_tokens: 200, max_completion_tokens: 300 },
    ],
    ["the upstream's field where the client has none", {}, { max_tokens: 300 }],
    ["the upstream's field in place of null", { max_tokens: null }, { max_tokens: 300 }],
  ])("writes a cap into %s", (_name, more, expected) => {
    const body = upstreamBody(readRequest(bodyOf(more)), { ...facts, outputCap: 300 });
    expect(JSON.parse(body.toString())).toEqual({ model: "up-1", messages: [USER], ...expected });
  });
});
