import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import type { Conversation, Part, Turn } from "../conversation.ts";
import { type MessagesRequestFacts, writeMessagesRequest } from "./write-messages-request.ts";

const ASKED: Conversation = {
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
const FACTS: MessagesRequestFacts = {
  model: "opus",
  origin: "claude",
  outputBound: 8_000,
  accepts: { thinking: "none", sampling: false, prefill: false, cacheMarkers: true },
  cacheWrites: "none",
  takesDocuments: false,
  takesServiceTier: false,
  userTag: null,
};
const LOOK = { name: "look", namespace: null, description: "looks", schema: { type: "object" }, strict: null };

const text = (words: string, more: object = {}): Part => ({ kind: "text", text: words, ...more });
const call = (id: string, input = "{}"): Part => ({ kind: "call", id, tool: { name: "look", namespace: null }, input });
const result = (callId: string, ...parts: Part[]): Part => ({ kind: "result", callId, parts, isError: false }) as Part;
const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const assistant = (...parts: Part[]): Turn => ({ role: "assistant", parts });
const HI = user(text("hi"));

type Body = { readonly [name: string]: unknown; readonly messages: { role: string; content: { type: string }[] }[] };

function written(conversation: Partial<Conversation>, facts: Partial<MessagesRequestFacts> = {}): Body {
  const body = writeMessagesRequest({ ...ASKED, turns: [HI], ...conversation }, { ...FACTS, ...facts });
  return JSON.parse(body.toString()) as Body;
}
const messagesOf = (...turns: Turn[]) => written({ turns }).messages;
const accepts = (more: Partial<MessagesRequestFacts["accepts"]>) => ({ accepts: { ...FACTS.accepts, ...more } });
const problemOf = (conversation: Partial<Conversation>, facts: Partial<MessagesRequestFacts> = {}) => {
  try {
    written(conversation, facts);
    return null;
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ rule }) => rule).join();
  }
};

describe("a Messages request", () => {
  it("has the upstream's model, a bound and a turn", () => {
    expect(written({})).toEqual({
      model: "opus",
      max_tokens: 8_000,
      messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    });
    expect(written({ stream: true }, { userTag: "u-1" })).toMatchObject({ stream: true, metadata: { user_id: "u-1" } });
  });

  it("has turns in alternation, the user's first, without empty texts", () => {
    const messages = messagesOf(
      assistant(text("Welcome.")),
      user(text("a"), text(" \n")),
      { role: "system", parts: [text("Be brief.")] },
      user(text("")),
      assistant(text("")),
      user(text("b")),
      assistant(text("c"), text("d")),
      assistant(text("e")),
      user(text("f")),
    );
    expect(messages.map(({ role, content }) => [role, content.length])).toEqual([
      ["user", 1],
      ["assistant", 1],
      ["user", 3],
      ["assistant", 3],
      ["user", 1],
    ]);
    expect(problemOf({ turns: [user(text(" "))] })).toBe("min_items");
    expect(problemOf({ turns: [] })).toBe("min_items");
  });

  it("answers each call in the next turn, in the order of the calls and before all else", () => {
    const messages = messagesOf(
      HI,
      assistant(text("Looking."), call("a", '{"path":"x"}'), call("b"), call("c")),
      user(text("By the way"), result("c", text("third")), result("a")),
      assistant(call("d")),
      assistant(text("and on")),
    );
    expect(messages.slice(1)).toEqual([
      {
        role: "assistant",
        content: [
          { type: "text", text: "Looking." },
          { type: "tool_use", id: "a", name: "look", input: { path: "x" } },
          { type: "tool_use", id: "b", name: "look", input: {} },
          { type: "tool_use", id: "c", name: "look", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a" },
          { type: "tool_result", tool_use_id: "b", content: "no result" },
          { type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: "third" }] },
          { type: "text", text: "By the way" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "tool_use", id: "d", name: "look", input: {} },
          { type: "text", text: "and on" },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "d", content: "no result" }] },
    ]);
    for (const turns of [
      [HI, user(result("a"))],
      [HI, assistant(call("a")), user(result("a"), result("a"))],
    ]) {
      expect(problemOf({ turns })).toBe("result");
    }
  });

  it("has ids that are valid and differ", () => {
    const [first, second] = [assistant(call("functions.look:0")), user(result("functions.look:0"))];
    const messages = messagesOf(HI, first, second, first, second);
    const ids = messages.flatMap(({ content }) =>
      content.flatMap((block) => ("id" in block ? [String(block.id)] : [])),
    );
    const answered = messages.flatMap(({ content }) =>
      content.flatMap((block) => ("tool_use_id" in block ? [String(block.tool_use_id)] : [])),
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]{1,64}$/);
    expect(answered).toEqual(ids);
  });

  it("goes on with a begun answer where the model does, without blanks at its end", () => {
    const turns = [HI, assistant(text("Once"), text("upon \n"), text(" "))];
    expect(written({ turns }, accepts({ prefill: true })).messages.at(-1)).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "Once" },
        { type: "text", text: "upon" },
      ],
    });
    expect(problemOf({ turns })).toBe("prefill");
    expect(problemOf({ turns: [HI, assistant(text("\n"))] })).toBeNull();
  });

  it("has the thoughts of its own upstream alone", () => {
    const thought = (origin: string | null, blob = "Sig+/=="): Part => ({
      kind: "reasoning",
      text: "hm",
      opaque: origin === null ? null : { origin, blob },
    });
    const parts = [
      thought("claude"),
      thought("other"),
      thought(null),
      thought("claude", "redacted:data"),
      text("Yes."),
    ];
    expect(messagesOf(HI, assistant(...parts), HI)[1]?.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "Sig+/==" },
      { type: "redacted_thinking", data: "data" },
      { type: "text", text: "Yes." },
    ]);
  });

  it("has flat names of tools, and a text for freeform ones", () => {
    const shell = { ...LOOK, name: "shell", namespace: "agent", description: "runs", schema: null };
    const turns = [HI, assistant({ kind: "call", id: "a", tool: shell, input: "ls -l" }, call("b", "{oops"))];
    const { tools, messages } = written({ tools: [LOOK, { ...shell, strict: true }], turns });
    expect(tools).toEqual([
      { name: "look", description: "looks", input_schema: { type: "object" } },
      {
        name: "agent__shell",
        description: "runs",
        input_schema: expect.objectContaining({ required: ["input"] }),
        strict: true,
      },
    ]);
    expect(messages[1]?.content).toMatchObject([{ input: { input: "ls -l" } }, { input: { input: "{oops" } }]);
    expect(problemOf({ tools: [{ ...LOOK, name: "a.b" }] })).toBe("pattern");
  });

  it("has the tools that were called where the client sends none, and lets none be called", () => {
    const turns = [HI, assistant(call("a"), call("b")), user(result("a"), result("b"), text("Summarize."))];
    expect(written({ turns })).toMatchObject({
      tools: [{ name: "look", input_schema: { type: "object" } }],
      tool_choice: { type: "none" },
    });
    expect(written({ turns: [HI] })["tools"]).toBeUndefined();
  });

  it.each([
    [{ kind: "auto" }, null, { type: "auto" }],
    [{ kind: "any" }, false, { type: "any", disable_parallel_tool_use: true }],
    [{ kind: "none" }, false, { type: "none" }],
    [{ kind: "tool", tool: { name: "look", namespace: null } }, true, { type: "tool", name: "look" }],
    [null, false, { type: "auto", disable_parallel_tool_use: true }],
    [null, true, undefined],
  ] as const)("has the choice %j with parallel calls %j", (toolChoice, parallelCalls, expected) => {
    expect(written({ tools: [LOOK], toolChoice, parallelCalls })["tool_choice"]).toEqual(expected);
    expect(written({ toolChoice, parallelCalls })["tool_choice"]).toBeUndefined();
  });

  it("has pictures, and documents where they are held for", () => {
    const image: Part = {
      kind: "image",
      source: { kind: "data", mediaType: "image/png", data: "AAAA" },
      detail: "low",
    };
    const linked: Part = { kind: "image", source: { kind: "url", url: "https://a.example/b.png" }, detail: null };
    const pdf: Part = { kind: "document", mediaType: "application/pdf", data: "AAAA", name: "a.pdf", where: "file" };
    const turns = [user(image, linked), assistant(call("a")), user(result("a", text("see"), image))];
    const [first, , last] = messagesOf(...turns);
    const block = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    expect(first?.content).toEqual([block, { type: "image", source: { type: "url", url: "https://a.example/b.png" } }]);
    expect(last?.content).toMatchObject([{ content: [{ type: "text" }, block] }]);
    expect(problemOf({ turns: [user(pdf)] })).toBe("modality");
    expect(written({ turns: [user(pdf)] }, { takesDocuments: true }).messages[0]?.content).toEqual([
      { type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" }, title: "a.pdf" },
    ]);
    expect(problemOf({ turns: [user({ ...pdf, mediaType: "text/csv" })] }, { takesDocuments: true })).toBe("modality");
    expect(problemOf({ turns: [user({ kind: "audio", format: "wav", data: "AAAA" })] })).toBe("modality");
    const bmp: Part = { kind: "image", source: { kind: "data", mediaType: "image/bmp", data: "AAAA" }, detail: null };
    expect(problemOf({ turns: [user(bmp)] })).toBe("media_type");
  });

  it("marks which results are errors", () => {
    const failed: Part = { kind: "result", callId: "a", parts: [], isError: true };
    expect(messagesOf(HI, assistant(call("a")), user(failed))[2]?.content).toEqual([
      { type: "tool_result", tool_use_id: "a", is_error: true },
    ]);
  });

  it("has sampling values where the model takes them", () => {
    const sampling = { temperature: 1.5, topP: 0.9, topK: 40 };
    expect(written(sampling)).not.toHaveProperty("temperature");
    expect(written(sampling, accepts({ sampling: true }))).toMatchObject({ temperature: 1, top_k: 40 });
    expect(written(sampling, accepts({ sampling: true }))).not.toHaveProperty("top_p");
    expect(written({ topP: 0.9 }, accepts({ sampling: true }))["top_p"]).toBe(0.9);
    const thinks = accepts({ sampling: true, thinking: "adaptive" });
    expect(written({ ...sampling, effort: "low" }, thinks)).not.toHaveProperty("temperature");
  });

  it("has a schema of the answer, stops, and none that is blank", () => {
    const schema = { type: "object" };
    expect(written({ outputFormat: { kind: "schema", name: "a", schema, strict: true }, stop: ["END"] })).toMatchObject(
      { output_config: { format: { type: "json_schema", schema } }, stop_sequences: ["END"] },
    );
    expect(written({ outputFormat: { kind: "json" } })).not.toHaveProperty("output_config");
    expect(problemOf({ stop: ["\n"] })).toBe("blank");
  });
});

describe("how much a model is asked to think", () => {
  const thinkingOf = (conversation: Partial<Conversation>, facts: Partial<MessagesRequestFacts>) => {
    const { thinking, output_config: output } = written({ tools: [LOOK], ...conversation }, facts);
    return { thinking, output };
  };
  const none = { thinking: undefined, output: undefined };

  it("is an effort where it decides by itself", () => {
    const adaptive = accepts({ thinking: "adaptive" });
    expect(thinkingOf({ effort: "high" }, adaptive)).toEqual({
      thinking: { type: "adaptive", display: "summarized" },
      output: { effort: "high" },
    });
    for (const effort of ["none", "minimal", null] as const) expect(thinkingOf({ effort }, adaptive)).toEqual(none);
  });

  it("is a budget below the bound where it is given one", () => {
    const budgetOf = (effort: Conversation["effort"], outputBound: number) =>
      (
        thinkingOf({ effort }, { ...accepts({ thinking: "manual" }), outputBound }).thinking as {
          budget_tokens?: number;
        }
      )?.budget_tokens;
    expect(budgetOf("low", 64_000)).toBe(2_048);
    expect(budgetOf("max", 64_000)).toBe(32_768);
    expect(budgetOf("max", 4_000)).toBe(3_000);
    expect(budgetOf("low", 1_200)).toBeUndefined();
  });

  it("is nothing where the rest of the request contradicts it", () => {
    const manual = accepts({ thinking: "manual", prefill: true });
    const effort = "high";
    const signed: Part = { kind: "reasoning", text: "hm", opaque: { origin: "claude", blob: "s" } };
    const loop = (...before: Part[]) => [HI, assistant(...before, call("a")), user(result("a"))];
    expect(thinkingOf({ effort }, FACTS)).toEqual(none);
    expect(thinkingOf({ effort, toolChoice: { kind: "any" } }, manual)).toEqual(none);
    expect(thinkingOf({ effort, turns: [HI, assistant(text("Once"))] }, manual)).toEqual(none);
    expect(thinkingOf({ effort, turns: loop() }, manual)).toEqual(none);
    expect(thinkingOf({ effort, turns: loop(signed) }, manual).thinking).toMatchObject({ type: "enabled" });
    expect(thinkingOf({ effort, turns: loop() }, accepts({ thinking: "adaptive" })).thinking).toBeDefined();
  });
});

describe("marks for the prompt cache", () => {
  const LONG = "word ".repeat(1_000);
  const conversation = {
    tools: [LOOK, { ...LOOK, name: "see" }],
    system: [{ kind: "text", text: LONG } as const, { kind: "text", text: "b" } as const],
    turns: [HI, assistant(text("c")), user(text("d"), text("e"))],
  };
  const marksIn = (body: Body): string[] =>
    Array.from(
      JSON.stringify(body).matchAll(/"(?:name|text)":"(\w*)[^{}]*(?:\{[^{}]*\})?[^{}]*"cache_control":(\{[^}]*\})/g),
      ([, of, mark]) => `${of} ${mark?.includes("1h") === true ? "1h" : "5m"}`,
    );
  const short = { cacheWrites: "short" } as const;

  it("end the tools, the instructions and the last turn of a long request", () => {
    expect(marksIn(written(conversation, short)).toSorted()).toEqual(["b 5m", "e 5m", "see 5m"]);
    const loop = { ...conversation, turns: [HI, assistant(call("a")), user(result("a", text("f")))] };
    expect(written(loop, short).messages.at(-1)?.content.at(-1)).toHaveProperty("cache_control", { type: "ephemeral" });
  });

  it("are not added to a short request, without a price, or where the operator switched them off", () => {
    expect(marksIn(written({ ...conversation, system: [] }, short))).toEqual([]);
    expect(marksIn(written(conversation))).toEqual([]);
    expect(marksIn(written(conversation, { ...short, ...accepts({ cacheMarkers: false }) }))).toEqual([]);
  });

  it("are the client's own where it has some: the last four, and an hour only where it is held for", () => {
    const marked = (words: string, cacheMark: "5m" | "1h") => text(words, { cacheMark });
    const turns = [user(marked("a", "1h"), marked("b", "1h"), marked("c", "5m"), marked("d", "1h"), marked("e", "5m"))];
    expect(marksIn(written({ turns }, { cacheWrites: "long" }))).toEqual(["b 1h", "c 5m", "d 5m", "e 5m"]);
    expect(marksIn(written({ turns }, short))).toEqual(["b 5m", "c 5m", "d 5m", "e 5m"]);
    expect(marksIn(written({ turns }))).toEqual([]);
    const inResult = [HI, assistant(call("a")), user(result("a", marked("f", "1h")))];
    expect(written({ turns: inResult }, { cacheWrites: "long" }).messages.at(-1)?.content).toEqual([
      {
        type: "tool_result",
        tool_use_id: "a",
        content: [{ type: "text", text: "f" }],
        cache_control: { type: "ephemeral", ttl: "1h" },
      },
    ]);
  });
});
