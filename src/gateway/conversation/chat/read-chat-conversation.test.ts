import { describe, expect, it } from "vitest";
import { readRequest } from "../../request/read-request.ts";
import { upstreamBody } from "../../request/upstream-body.ts";
import { readChatConversation } from "./read-chat-conversation.ts";

const HI = { role: "user", content: "hi" };
const LOOK = { type: "function", function: { name: "look", parameters: { type: "object" } } };
const MARK = { cache_control: { type: "ephemeral" } };
const HOUR = { cache_control: { type: "ephemeral", ttl: "1h" } };
const text = (words: string) => ({ kind: "text", text: words });
const call = (id: string, args = "{}", name = "look") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

/** As `request/` reads and checks it. */
const read = (more: object = {}) =>
  readChatConversation(readRequest(Buffer.from(JSON.stringify({ model: "acme/m", messages: [HI], ...more }))));
const conversationOf = (more: object = {}) => read(more).conversation;
const turnsOf = (...messages: object[]) => conversationOf({ messages }).turns;

describe("a chat request in the form of a conversation", () => {
  it("has nothing that the client did not send", () => {
    expect(read()).toEqual({
      chatAlone: [],
      hasFunctions: false,
      conversation: {
        model: "acme/m",
        stream: false,
        system: [],
        turns: [{ role: "user", parts: [text("hi")] }],
        tools: [],
        toolChoice: null,
        parallelCalls: null,
        outputCap: null,
        stop: [],
        temperature: null,
        topP: null,
        topK: null,
        effort: null,
        outputFormat: null,
        cacheKey: null,
      },
    });
  });

  it("has the instructions before the first turn, and later ones as turns", () => {
    const messages = [
      { role: "system", content: "a" },
      { role: "developer", content: [{ type: "text", text: "b", ...HOUR }] },
      HI,
      { role: "developer", content: "later" },
    ];
    expect(conversationOf({ messages })).toMatchObject({
      system: [text("a"), { ...text("b"), cacheMark: "1h" }],
      turns: [{ role: "user" }, { role: "system", parts: [text("later")] }],
    });
  });

  it("has parts of every kind that other protocols know, and no empty ones", () => {
    const image = (url: string, more = {}) => ({ type: "image_url", image_url: { url, ...more } });
    const parts = [
      { type: "text", text: "" },
      { type: "text", text: "see" },
      image("data:image/png;base64,AAAA", { detail: "low" }),
      image("https://x.example/i.png"),
      { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
    ];
    expect(turnsOf({ role: "user", content: parts }, { role: "assistant", content: "" })).toEqual([
      {
        role: "user",
        parts: [
          text("see"),
          { kind: "image", source: { kind: "data", mediaType: "image/png", data: "AAAA" }, detail: "low" },
          { kind: "image", source: { kind: "url", url: "https://x.example/i.png" }, detail: null },
          { kind: "audio", format: "wav", data: "AAAA" },
        ],
      },
    ]);
  });

  it("has results behind the turn with their calls, in whatever order they came", () => {
    const messages = [
      HI,
      { role: "assistant", content: null, tool_calls: [call("a", '{"x":1}'), call("functions.Bash:0", "")] },
      { role: "tool", tool_call_id: "functions.Bash:0", content: [{ type: "text", text: "2" }] },
      { role: "user", content: "go on" },
      { role: "tool", tool_call_id: "a", content: "1" },
    ];
    const tool = { name: "look", namespace: null };
    const result = (callId: string, words: string) => ({
      kind: "result",
      callId,
      parts: [text(words)],
      isError: false,
    });
    expect(turnsOf(...messages).slice(1)).toEqual([
      {
        role: "assistant",
        parts: [
          { kind: "call", id: "a", tool, input: '{"x":1}' },
          { kind: "call", id: "functions.Bash:0", tool, input: "{}" },
        ],
      },
      { role: "user", parts: [result("functions.Bash:0", "2"), result("a", "1")] },
      { role: "user", parts: [text("go on")] },
    ]);
  });

  it("has calls and results of the older form, each result at the call of its tool", () => {
    const older = { role: "assistant", content: null, function_call: { name: "look", arguments: '{"x":1}' } };
    const messages = [
      HI,
      older,
      { role: "function", name: "look", content: "1" },
      older,
      { role: "function", name: "look", content: "2" },
    ];
    const { conversation, hasFunctions } = read({
      messages,
      functions: [{ name: "look", description: "looks" }],
      function_call: { name: "look" },
    });
    expect(hasFunctions).toBe(true);
    expect(conversation).toMatchObject({
      tools: [{ name: "look", description: "looks", schema: { type: "object" } }],
      toolChoice: { kind: "tool", tool: { name: "look" } },
      parallelCalls: false,
    });
    const parts = conversation.turns.slice(1).flatMap((turn) => turn.parts);
    expect(parts).toMatchObject([
      { kind: "call", id: "function_call_1", input: '{"x":1}' },
      { kind: "result", callId: "function_call_1", parts: [text("1")] },
      { kind: "call", id: "function_call_2" },
      { kind: "result", callId: "function_call_2", parts: [text("2")] },
    ]);
  });

  it("has freeform tools, whose calls have any text in either form", () => {
    const custom = { id: "b", type: "custom", custom: { name: "patch", input: "*** Begin" } };
    const messages = [
      HI,
      { role: "assistant", tool_calls: [call("a", '{"input":"*** End"}', "patch"), custom] },
      { role: "tool", tool_call_id: "a", content: "ok" },
      { role: "tool", tool_call_id: "b", content: "ok" },
    ];
    const grammar = { syntax: "lark", definition: "start: /.+/" };
    const definition = { name: "patch", description: "patches", format: { type: "grammar", grammar } };
    const tools = [{ type: "custom", custom: definition }];
    const { tools: known, turns } = conversationOf({ messages, tools });
    expect(known).toMatchObject([{ name: "patch", description: "patches", schema: null, grammar }]);
    expect(turns[1]?.parts).toMatchObject([{ input: "*** End" }, { input: "*** Begin" }]);
    expect(conversationOf({ messages }).turns[1]?.parts).toMatchObject([
      { input: '{"input":"*** End"}' },
      { input: '{"input":"*** Begin"}' },
    ]);
  });

  it("has cache marks of parts, messages and the whole request on their last text", () => {
    const messages = [
      {
        role: "user",
        content: [
          { type: "text", text: "a", ...MARK },
          { type: "text", text: "b" },
        ],
        ...HOUR,
      },
      { role: "assistant", content: "c", ...MARK },
      {
        role: "user",
        content: [
          { type: "text", text: "d" },
          { type: "text", text: "e", prompt_cache_breakpoint: {} },
        ],
      },
      { role: "user", content: "f" },
    ];
    const marks = conversationOf({ messages, ...MARK }).turns.flatMap(({ parts }) =>
      parts.map((part) => (part.kind === "text" ? (part.cacheMark ?? null) : null)),
    );
    expect(marks).toEqual(["5m", "1h", "5m", null, "5m", "5m"]);
  });

  it("has the reasoning that was shown, and what its provider wants back", () => {
    const messages = [
      HI,
      { role: "assistant", content: "x", reasoning_content: "plain" },
      { role: "assistant", content: "x", reasoning: "other name" },
      {
        role: "assistant",
        content: "x",
        reasoning_content: "hm",
        reasoning_details: [
          { type: "reasoning.encrypted", data: 'anthropic.["U0lH","hm"]' },
          { type: "reasoning.encrypted", data: 'my~openai.["R0FB",""]' },
          { type: "reasoning.text", text: "foreign", signature: "U0lHTg==" },
          { type: "reasoning.summary", summary: "summed up" },
          { type: "reasoning.encrypted", data: "Rk9SRUlHTg==" },
          { type: "reasoning.encrypted", data: "foreign.JSON" },
        ],
      },
      { role: "assistant", tool_calls: [call("call_1.saldo.gemini.R0VN")] },
      { role: "tool", tool_call_id: "call_1.saldo.gemini.R0VN", content: "1" },
    ];
    const parts = turnsOf(...messages).flatMap((turn) => turn.parts);
    expect(parts.filter(({ kind }) => kind !== "text")).toMatchObject([
      { kind: "reasoning", text: "plain", opaque: null },
      { kind: "reasoning", text: "other name", opaque: null },
      { kind: "reasoning", text: "hm", opaque: { origin: "anthropic", blob: "U0lH" } },
      { kind: "reasoning", text: "", opaque: { origin: "my.openai", blob: "R0FB" } },
      { kind: "reasoning", text: "foreign", opaque: null },
      { kind: "reasoning", text: "summed up", opaque: null },
      { kind: "call", id: "call_1", opaque: { origin: "gemini", blob: "R0VN" } },
      { kind: "result", callId: "call_1" },
    ]);
  });

  it.each<[object, object]>([
    [{ reasoning_effort: "high" }, { effort: "high" }],
    [{ reasoning: { effort: "low" } }, { effort: "low" }],
    [{ reasoning: { enabled: false } }, { effort: "none" }],
    [{ thinking: { type: "disabled" } }, { effort: "none" }],
    [{ thinking: { type: "enabled" }, reasoning_effort: "default" }, { effort: null }],
    [{ max_tokens: 5, max_completion_tokens: 7 }, { outputCap: 7 }],
    [{ max_tokens: 5 }, { outputCap: 5 }],
    [{ stop: "a" }, { stop: ["a"] }],
    [{ stop: ["a", "b"] }, { stop: ["a", "b"] }],
    [
      { temperature: 0.5, top_p: 0.9, top_k: 4 },
      { temperature: 0.5, topP: 0.9, topK: 4 },
    ],
    [{ verbosity: "low" }, { verbosity: "low" }],
    [{ top_k: -1 }, { topK: null }],
    [{ prompt_cache_key: "k" }, { cacheKey: "k" }],
    [{ response_format: { type: "text" } }, { outputFormat: null }],
    [{ response_format: { type: "json_object" } }, { outputFormat: { kind: "json" } }],
    [{ response_format: { type: "json_schema", json_schema: { name: "a" } } }, { outputFormat: { kind: "json" } }],
    [
      { response_format: { type: "json_schema", json_schema: { name: "a", schema: {}, strict: true } } },
      { outputFormat: { kind: "schema", name: "a", schema: {}, strict: true } },
    ],
    [{ tools: [LOOK], tool_choice: "required" }, { toolChoice: { kind: "any" } }],
    [
      { tools: [LOOK], tool_choice: "auto", parallel_tool_calls: false },
      { toolChoice: { kind: "auto" }, parallelCalls: false },
    ],
    [
      { tools: [LOOK], tool_choice: { type: "function", function: { name: "look" } } },
      { toolChoice: { kind: "tool", tool: { name: "look", namespace: null } } },
    ],
    [{ tool_choice: "required" }, { toolChoice: null }],
    [{ seed: 1, user: "u", metadata: {}, store: true, min_p: 0.1 }, { effort: null }],
  ])("reads %o", (sent, expected) => {
    expect(read(sent).chatAlone).toEqual([]);
    expect(conversationOf(sent)).toMatchObject(expected);
  });

  it("keeps the client's names and bounds where an attempt on another route has written over the body", () => {
    const long = "w".repeat(100_000);
    const body = { model: "acme/m-of-a-long-name", messages: [{ role: "user", content: long }], max_tokens: 9_000 };
    const request = readRequest(Buffer.from(JSON.stringify(body)));
    const written = upstreamBody(request, {
      model: "m",
      outputBound: 5,
      outputCapField: "max_tokens",
      takesServiceTier: false,
      cacheKey: null,
      userTag: "tag",
    });
    expect(written.toString()).toContain('"max_tokens":5');
    expect(readChatConversation(request).conversation).toMatchObject({
      model: "acme/m-of-a-long-name",
      outputCap: 9_000,
      turns: [{ parts: [text(long)] }],
    });
  });

  it("is refused where a long string is no JSON, which only a whole parse shows", () => {
    const body = JSON.stringify({ model: "acme/m", messages: [{ role: "user", content: "w".repeat(2_000) }] });
    const request = readRequest(Buffer.from(body.replace("www", "\\q ")));
    expect(() => readChatConversation(request)).toThrow("must be valid JSON");
  });
});
