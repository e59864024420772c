// What the demo models write beside plain text: calls of tools and what follows them, thoughts, and JSON that was asked for.

import { describe, expect, it } from "vitest";
import { chat, openBench } from "./support.ts";

const parameters = {
  type: "object",
  properties: { path: { type: "string" }, depth: { type: "integer", minimum: 3 } },
  required: ["path", "depth"],
};
const tool = (name: string) => ({ type: "function", function: { name, parameters } });
const TOOLS = [tool("read"), tool("list")];

type Message = {
  readonly content: string | null;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
};
type Answer = {
  readonly choices: readonly [{ readonly message: Message; readonly finish_reason: string }];
  readonly usage: {
    readonly completion_tokens: number;
    readonly completion_tokens_details?: { reasoning_tokens: number };
  };
};

async function answerTo(model: string, prompt: string, more: Record<string, unknown> = {}): Promise<Answer> {
  const { sink, error } = await openBench().send(chat(model, prompt, more));
  expect(error).toBeNull();
  return sink.json as unknown as Answer;
}
const messageTo = async (prompt: string, more: Record<string, unknown> = {}) =>
  (await answerTo("demo/small", prompt, more)).choices[0];
const namesIn = ({ tool_calls: calls = [] }: Message) => calls.map((call) => call.function.name);

describe("tools of the demo", () => {
  it("are called several at once, each with an input that fits and an id of its own", async () => {
    const { message, finish_reason: reason } = await messageTo("!tools=3", { tools: TOOLS });
    expect(reason).toBe("tool_calls");
    expect(namesIn(message)).toEqual(["read", "list", "read"]);
    expect(new Set(message.tool_calls?.map(({ id }) => id)).size).toBe(3);
    expect(message.tool_calls?.map((call) => call.function.arguments)).toEqual(
      Array.from({ length: 3 }, () => '{"path":"demo","depth":3}'),
    );
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ["without a word for it", {}, []],
    ["of its choice, required", { tool_choice: "required" }, ["read"]],
    ["of its choice, named", { tool_choice: { type: "function", function: { name: "list" } } }, ["list"]],
    ["of its choice, one that is not offered", { tool_choice: { type: "function", function: { name: "x" } } }, []],
  ])("are called where a client asks %s", async (_name, more, names) => {
    expect(namesIn((await messageTo("hi", { tools: TOOLS, ...more })).message)).toEqual(names);
  });

  it.each<[string, Record<string, unknown>, number]>([
    ["none are to be", { tool_choice: "none" }, 0],
    ["one at a time is to be", { parallel_tool_calls: false }, 1],
  ])("are called less where %s", async (_name, more, count) => {
    expect(namesIn((await messageTo("!tools=4", { tools: TOOLS, ...more })).message)).toHaveLength(count);
  });

  it("stream as they are in one piece", async () => {
    const bench = openBench();
    const { sink } = await bench.send(chat("demo/small", "!tools=2", { tools: TOOLS, stream: true }));
    const pieces = sink.events.flatMap((event) => (event.startsWith("{") ? [JSON.parse(event) as object] : []));
    expect(JSON.stringify(pieces)).toContain('"index":1,"id":"call_');
    const whole = await openBench().send(chat("demo/small", "!tools=2", { tools: TOOLS }));
    expect(bench.ledger.settlement.outputTokens).toBe((whole.sink.json as unknown as Answer).usage.completion_tokens);
  });

  it("are not called again once their results are there: the answer has them", async () => {
    const messages = [
      { role: "user", content: "!tools=2" },
      {
        role: "assistant",
        content: null,
        tool_calls: ["a", "b"].map((id) => ({ id, type: "function", function: { name: "read", arguments: "{}" } })),
      },
      { role: "tool", tool_call_id: "a", content: "twelve files" },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "no files" }] },
    ];
    const { sink } = await openBench().send({ model: "demo/small", messages, tools: TOOLS });
    expect(sink.json).toMatchObject({
      choices: [{ finish_reason: "stop", message: { content: "2 tools returned: twelve files | no files" } }],
    });
  });
});

describe("thoughts of the demo", () => {
  it("are shown, counted and billed where a prompt asks for them", async () => {
    const bench = openBench();
    const { sink } = await bench.send(chat("demo/small", "!think"));
    const { choices, usage } = sink.json as unknown as Answer;
    expect(choices[0].message.reasoning_content).toMatch(/^Thought 1 .* Thought 4 /);
    const thought = usage.completion_tokens_details?.reasoning_tokens ?? 0;
    expect(thought).toBeGreaterThan(20);
    const plain = await answerTo("demo/small", "hello");
    expect(bench.ledger.settlement.outputTokens).toBe(plain.usage.completion_tokens + thought);
  });

  it.each([
    ["none", 0],
    ["low", 2],
    ["high", 8],
    [undefined, 4],
  ])("are as long as the effort %s asks the model that thinks", async (effort, sentences) => {
    const { choices } = await answerTo("demo/thinking", "hi", { reasoning_effort: effort });
    expect([...(choices[0].message.reasoning_content ?? "").matchAll(/Thought/g)]).toHaveLength(sentences);
  });

  it("come before the text in a stream, and are what a bound leaves over first", async () => {
    const { sink } = await openBench().send(chat("demo/thinking", "hi", { stream: true }));
    const all = sink.events.join("\n");
    expect(all.indexOf("reasoning_content")).toBeLessThan(all.indexOf("This"));
    const cut = await answerTo("demo/thinking", "hi", { max_tokens: 3 });
    expect(cut.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "" } });
    expect(cut.usage).toMatchObject({ completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 3 } });
  });
});

describe("JSON of the demo", () => {
  it("is an object, or what a schema asks for", async () => {
    const any = await messageTo("hi", { response_format: { type: "json_object" } });
    expect(JSON.parse(any.message.content ?? "")).toEqual({ answer: expect.stringContaining("demo model") });
    const format = { type: "json_schema", json_schema: { name: "place", schema: parameters } };
    const { message } = await messageTo("hi", { response_format: format });
    expect(message.content).toBe('{"path":"demo","depth":3}');
  });
});
