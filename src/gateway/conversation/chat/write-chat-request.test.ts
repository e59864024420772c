import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import { readRequest } from "../../request/read-request.ts";
import type { CallPart, Conversation, Part, ResultPart, Tool, Turn } from "../conversation.ts";
import { writeChatRequest } from "./write-chat-request.ts";

const EMPTY: Conversation = {
  model: "acme/m",
  stream: false,
  system: [],
  turns: [],
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
};
const text = (words: string) => ({ kind: "text", text: words }) as const;
const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const model = (...parts: Part[]): Turn => ({ role: "assistant", parts });
const call = (id: string, input = "{}", name = "look", namespace: string | null = null): CallPart => ({
  kind: "call",
  id,
  tool: { name, namespace },
  input,
});
const result = (callId: string, words = "", more: Partial<ResultPart> = {}): ResultPart => ({
  kind: "result",
  callId,
  parts: words === "" ? [] : [text(words)],
  isError: false,
  ...more,
});
const tool = (more: Partial<Tool> = {}): Tool => ({
  name: "look",
  namespace: null,
  description: "looks",
  schema: { type: "object" },
  strict: null,
  ...more,
});

type Message = { readonly [name: string]: unknown };

/** The body as upstreams see it, which `request/` accepts. */
function written(conversation: Partial<Conversation>): { messages: Message[] } & Record<string, unknown> {
  const turns = conversation.turns ?? [user(text("hi"))];
  const body = writeChatRequest({ ...EMPTY, ...conversation, turns });
  expect(readRequest(body).model).toBe("acme/m");
  return JSON.parse(body.toString()) as { messages: Message[] };
}
const messagesOf = (...turns: Turn[]): Message[] => written({ turns }).messages;
const chatCall = (id: string, args = "{}", name = "look") => ({
  id,
  type: "function",
  function: { name, arguments: args },
});

describe("the members beside the messages", () => {
  it("are absent where the client sent none", () => {
    expect(written({})).toEqual({ model: "acme/m", messages: [{ role: "user", content: "hi" }] });
  });

  it("have chat's names", () => {
    expect(
      written({
        stream: true,
        outputCap: 900,
        stop: ["END"],
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        effort: "max",
        cacheKey: "session-1",
        outputFormat: { kind: "schema", name: "title", schema: { type: "object" }, strict: true },
      }),
    ).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 900,
      stop: ["END"],
      temperature: 0.5,
      top_p: 0.9,
      reasoning_effort: "xhigh",
      prompt_cache_key: "session-1",
      response_format: {
        type: "json_schema",
        json_schema: { name: "title", schema: { type: "object" }, strict: true },
      },
    });
    expect(written({ topK: 40 })).not.toHaveProperty("top_k");
    expect(written({ outputFormat: { kind: "json" } })["response_format"]).toEqual({ type: "json_object" });
    expect(written({ cacheKey: "k".repeat(65) })["prompt_cache_key"]).toMatch(/^[0-9a-f]{64}$/);
  });

  it("name tools by their flat names, and write freeform ones as functions with one text", () => {
    const tools = [tool({ strict: true }), tool({ namespace: "agents" }), tool({ name: "patch", schema: null })];
    expect(written({ tools })["tools"]).toEqual([
      {
        type: "function",
        function: { name: "look", description: "looks", parameters: { type: "object" }, strict: true },
      },
      { type: "function", function: { name: "agents__look", description: "looks", parameters: { type: "object" } } },
      {
        type: "function",
        function: {
          name: "patch",
          description: "looks",
          parameters: {
            type: "object",
            properties: { input: { type: "string" } },
            required: ["input"],
            additionalProperties: false,
          },
        },
      },
    ]);
    expect(() => written({ tools: [tool({ name: "a__look" }), tool({ namespace: "a" })] })).toThrow("twice");
  });

  it.each<[Conversation["toolChoice"], unknown]>([
    [{ kind: "auto" }, "auto"],
    [{ kind: "any" }, "required"],
    [{ kind: "none" }, "none"],
    [
      { kind: "tool", tool: { name: "look", namespace: "agents" } },
      { type: "function", function: { name: "agents__look" } },
    ],
  ])("choose tools, and only where there are tools: %o", (toolChoice, expected) => {
    const chosen = { toolChoice, parallelCalls: false };
    expect(written({ ...chosen, tools: [tool()] })).toMatchObject({
      tool_choice: expected,
      parallel_tool_calls: false,
    });
    const without = written(chosen);
    expect(without).not.toHaveProperty("tool_choice");
    expect(without).not.toHaveProperty("parallel_tool_calls");
  });
});

describe("the messages", () => {
  it("keep instructions in their places, and texts as one", () => {
    const turns = [
      user(text("a"), text("b")),
      { role: "system", parts: [text("now this")] } as const,
      model(text("c")),
      user(text("d")),
    ];
    expect(written({ system: [text("be"), text(""), text("brief")], turns }).messages).toEqual([
      { role: "system", content: "be\n\nbrief" },
      { role: "user", content: "a\n\nb" },
      { role: "system", content: "now this" },
      { role: "assistant", content: "c" },
      { role: "user", content: "d" },
    ]);
  });

  it("have pictures and sound as parts", () => {
    const data = { kind: "data", mediaType: "image/png", data: "AAAA" } as const;
    expect(
      messagesOf(
        user(
          text("see"),
          { kind: "image", source: data, detail: "low" },
          { kind: "image", source: { kind: "url", url: "https://x.example/i.png" }, detail: null },
          { kind: "audio", format: "wav", data: "BBBB" },
        ),
      ),
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
          { type: "image_url", image_url: { url: "https://x.example/i.png" } },
          { type: "input_audio", input_audio: { data: "BBBB", format: "wav" } },
        ],
      },
    ]);
  });

  it("answer each call directly behind the calls, in their order", () => {
    expect(
      messagesOf(
        user(text("go")),
        model({ kind: "reasoning", text: "hm", opaque: null }, call("a", '{"x":1}'), call("b"), call("c")),
        user(text("by the way"), result("c", "third"), result("a", "first")),
        { role: "system", parts: [text("note")] },
        model(text("done")),
      ),
    ).toEqual([
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: [chatCall("a", '{"x":1}'), chatCall("b"), chatCall("c")] },
      { role: "tool", tool_call_id: "a", content: "first" },
      { role: "tool", tool_call_id: "b", content: "no result" },
      { role: "tool", tool_call_id: "c", content: "third" },
      { role: "user", content: "by the way" },
      { role: "system", content: "note" },
      { role: "assistant", content: "done" },
    ]);
  });

  it("join turns of the model that follow each other, and leave out one that only thought", () => {
    expect(
      messagesOf(
        user(text("go")),
        model({ kind: "reasoning", text: "hm", opaque: null }),
        user(text("and?")),
        model(text("I look")),
        model(call("a")),
        model(call("b")),
        user(result("a", "1")),
        user(result("b", "2")),
      ),
    ).toEqual([
      { role: "user", content: "go" },
      { role: "user", content: "and?" },
      { role: "assistant", content: "I look", tool_calls: [chatCall("a"), chatCall("b")] },
      { role: "tool", tool_call_id: "a", content: "1" },
      { role: "tool", tool_call_id: "b", content: "2" },
    ]);
  });

  it("show pictures of results behind all results, and empty errors as errors", () => {
    const image = { kind: "image", source: { kind: "url", url: "https://x.example/i" }, detail: null } as const;
    expect(
      messagesOf(
        model(call("a"), call("b"), call("c")),
        user(
          result("a", "", { parts: [text("seen"), image] }),
          result("b", "", { isError: true }),
          result("c", "bad", { isError: true }),
        ),
      ).slice(1),
    ).toEqual([
      { role: "tool", tool_call_id: "a", content: "seen" },
      { role: "tool", tool_call_id: "b", content: "error" },
      { role: "tool", tool_call_id: "c", content: "bad" },
      {
        role: "user",
        content: [
          { type: "text", text: "The pictures in the result of a:" },
          { type: "image_url", image_url: { url: "https://x.example/i" } },
        ],
      },
    ]);
  });

  it("have ids that every upstream takes, the same for a call and its result", () => {
    const [called, answered, other] = messagesOf(
      model(call("functions.Bash:0"), call("x".repeat(65))),
      user(result("functions.Bash:0", "ok")),
    );
    const ids = ((called?.["tool_calls"] ?? []) as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual([answered?.["tool_call_id"], other?.["tool_call_id"]]);
    for (const id of ids) expect(id).toMatch(/^call_[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(2);
  });

  it("answer two calls of one id in their order", () => {
    const messages = messagesOf(model(call("a"), call("a")), user(result("a", "1"), result("a", "2")));
    expect(messages.slice(1).map(({ content }) => content)).toEqual(["1", "2"]);
  });

  it.each<[string, string, string]>([
    ["nothing", "", "{}"],
    ["JSON text, kept byte by byte", '{ "x": 1.50 }', '{ "x": 1.50 }'],
    ["a text that is no JSON", '{"x":', '{"input":"{\\"x\\":"}'],
  ])("have arguments that upstreams can parse, of %s", (_name, input, args) => {
    expect(messagesOf(model(call("a", input)))[0]).toMatchObject({ tool_calls: [chatCall("a", args)] });
  });

  it("have the text of a freeform call in its one member, JSON or not", () => {
    const tools = [tool({ schema: null, namespace: "fn" })];
    const { messages } = written({ tools, turns: [model(call("a", '{"x":1}', "look", "fn"))] });
    expect(messages[0]).toMatchObject({ tool_calls: [chatCall("a", '{"input":"{\\"x\\":1}"}', "fn__look")] });
  });

  it.each<[string, readonly Turn[], string]>([
    ["a result without a call", [user(result("a"))], '"a" answers no call'],
    ["a second result", [model(call("a")), user(result("a"), result("a"))], "answers one again"],
    [
      "a result for an older turn",
      [model(call("a")), user(text("x")), model(text("y")), user(result("a"))],
      "answers no call",
    ],
    [
      "a picture by the model",
      [model({ kind: "image", source: { kind: "url", url: "u" }, detail: null })],
      "takes no image",
    ],
  ])("are refused with %s", (_name, turns, message) => {
    const write = () => writeChatRequest({ ...EMPTY, turns });
    expect(write).toThrow(ValidationError);
    expect(write).toThrow(message);
  });

  it("have a text in the place of a document, which no upstream of chat gets", () => {
    const pdf: Part = { kind: "document", mediaType: "application/pdf", data: "AA", name: null, where: "a" };
    const { messages } = JSON.parse(writeChatRequest({ ...EMPTY, turns: [user(pdf)] }).toString());
    expect(messages).toEqual([{ role: "user", content: "(a document)" }]);
  });
});
