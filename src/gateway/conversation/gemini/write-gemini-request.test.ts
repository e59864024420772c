import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import type { Conversation, Part, Tool, Turn } from "../conversation.ts";
import { writeGeminiRequest } from "./write-gemini-request.ts";

const LOOK: Tool = {
  name: "look",
  namespace: null,
  description: "Looks.",
  schema: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { at: { type: "number" } },
  },
  strict: null,
};
const PATCH: Tool = { ...LOOK, name: "patch", namespace: "files", description: "", schema: null };
const EMPTY: Conversation = {
  model: "acme/gemini",
  stream: true,
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
const FACTS = { origin: "google", outputBound: 1_000, thinks: false };
const OWN = { origin: "google", blob: "U2ln" };
const text = (words: string): Part => ({ kind: "text", text: words });
const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const model = (...parts: Part[]): Turn => ({ role: "assistant", parts });
const call = (id: string, more: object = {}): Part => ({ kind: "call", id, tool: LOOK, input: '{"at":1}', ...more });
const result = (callId: string, words: string, isError = false): Part => ({
  kind: "result",
  callId,
  parts: words === "" ? [] : [{ kind: "text", text: words }],
  isError,
});
const written = (conversation: Partial<Conversation>, facts: Partial<typeof FACTS> = {}) =>
  JSON.parse(
    writeGeminiRequest({ ...EMPTY, turns: [user(text("hi"))], ...conversation }, { ...FACTS, ...facts }).toString(),
  ) as Record<string, unknown>;
const contents = (turns: readonly Turn[], facts: Partial<typeof FACTS> = {}, more: Partial<Conversation> = {}) =>
  written({ turns, ...more }, facts)["contents"];
const called = (args: object, more: object = {}) => ({ functionCall: { name: "look", args }, ...more });
const answered = (response: object) => ({ functionResponse: { name: "look", response } });

describe("the members of a request", () => {
  it("are as few as can be", () => {
    expect(written({})).toEqual({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: { maxOutputTokens: 1_000 },
    });
  });

  it("have what the conversation has", () => {
    const conversation = {
      system: [
        { kind: "text", text: "Be brief." },
        { kind: "text", text: "" },
      ],
      tools: [LOOK, PATCH],
      toolChoice: { kind: "tool", tool: PATCH },
      stop: ["END"],
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      outputFormat: { kind: "schema", name: "answer", schema: { $schema: "x", type: "object" }, strict: true },
    } as const;
    expect(written(conversation)).toMatchObject({
      systemInstruction: { parts: [{ text: "Be brief." }] },
      tools: [
        {
          functionDeclarations: [
            { name: "look", description: "Looks.", parametersJsonSchema: { type: "object", properties: { at: {} } } },
            { name: "files__patch", parametersJsonSchema: { required: ["input"] } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["files__patch"] } },
      generationConfig: {
        maxOutputTokens: 1_000,
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        stopSequences: ["END"],
        responseMimeType: "application/json",
        responseJsonSchema: { type: "object" },
      },
    });
    expect(JSON.stringify(written(conversation))).not.toContain("$schema");
  });

  it.each(["auto", "any", "none"] as const)("have the choice %s of tools", (kind) => {
    const config = { functionCallingConfig: { mode: kind.toUpperCase() } };
    expect(written({ tools: [LOOK], toolChoice: { kind } })).toMatchObject({ toolConfig: config });
    expect(written({ toolChoice: { kind } })).not.toHaveProperty("toolConfig");
  });

  it.each([
    [null, 100_000, { includeThoughts: true }],
    ["none", 100_000, { includeThoughts: true, thinkingBudget: 512 }],
    ["low", 100_000, { includeThoughts: true, thinkingBudget: 2_048 }],
    ["max", 100_000, { includeThoughts: true, thinkingBudget: 24_576 }],
    ["high", 4_000, { includeThoughts: true, thinkingBudget: 3_000 }],
    ["high", 600, { includeThoughts: true }],
  ] as const)("ask a model that thinks for the effort %s within %i tokens", (effort, outputBound, thinkingConfig) => {
    const config = (facts: Partial<typeof FACTS>) => written({ effort }, { outputBound, ...facts })["generationConfig"];
    expect(config({ thinks: true })).toEqual({ maxOutputTokens: outputBound, thinkingConfig });
    expect(config({})).toEqual({ maxOutputTokens: outputBound });
  });
});

describe("contents", () => {
  it("have the results of all calls in their order, and what follows them", () => {
    const image = {
      kind: "image",
      source: { kind: "data", mediaType: "image/png", data: "aW1n" },
      detail: null,
    } as const;
    const second = {
      kind: "result",
      callId: "b",
      parts: [{ kind: "text", text: "two" }, image],
      isError: false,
    } as const;
    expect(
      contents([
        user(text("go")),
        model(text("I look."), call("a"), call("b"), call("c")),
        user(second, text("and?")),
        user(result("a", "", true)),
      ]),
    ).toEqual([
      { role: "user", parts: [{ text: "go" }] },
      { role: "model", parts: [{ text: "I look." }, called({ at: 1 }), called({ at: 1 }), called({ at: 1 })] },
      {
        role: "user",
        parts: [
          answered({ error: "error" }),
          answered({ output: "two" }),
          answered({ output: "no result" }),
          { inlineData: { mimeType: "image/png", data: "aW1n" } },
          { text: "and?" },
        ],
      },
    ]);
  });

  it("give back signatures to their maker alone, on the call that they belong to", () => {
    const other = { origin: "claude", blob: "x" };
    const turns = [
      user(text("go")),
      model(
        { kind: "reasoning", text: "hm", opaque: OWN },
        text("I look."),
        { kind: "reasoning", text: "other", opaque: other },
        { kind: "reasoning", text: "hm", opaque: { ...OWN, blob: "MQ==" } },
        call("a"),
        call("b", { opaque: { ...OWN, blob: "Mg==" } }),
        call("c", { opaque: other }),
        { kind: "reasoning", text: "", opaque: OWN },
      ),
      user(result("a", "1"), result("b", "2"), result("c", "3")),
    ];
    expect(contents(turns)).toMatchObject([
      {},
      {
        parts: [
          { text: "", thoughtSignature: "U2ln" },
          { text: "I look." },
          called({ at: 1 }, { thoughtSignature: "MQ==" }),
          called({ at: 1 }, { thoughtSignature: "Mg==" }),
          called({ at: 1 }),
          { text: "", thoughtSignature: "U2ln" },
        ],
      },
      {},
    ]);
    expect(JSON.stringify(contents(turns))).not.toMatch(/other|hm|"x"/);
  });

  it("have the mark for a lost signature on the first call of each turn, where the model thinks", () => {
    const turns = [
      user(text("go")),
      model(call("a"), call("b")),
      user(result("a", "1"), result("b", "2")),
      model(call("c")),
    ];
    const marks = (facts: Partial<typeof FACTS>) =>
      (contents(turns, facts) as { parts: { functionCall?: object; thoughtSignature?: string }[] }[])
        .flatMap(({ parts }) => parts)
        .filter(({ functionCall }) => functionCall !== undefined)
        .map(({ thoughtSignature = null }) => thoughtSignature);
    const mark = "skip_thought_signature_validator";
    expect(marks({ thinks: true })).toEqual([mark, null, mark]);
    expect(marks({})).toEqual([null, null, null]);
  });

  it("begin with a turn of the user, and merge turns of one role", () => {
    expect(contents([model(text("a")), { role: "system", parts: [text("b")] }, user(text(""), text("c"))])).toEqual([
      { role: "user", parts: [{ text: "(The conversation begins here.)" }] },
      { role: "model", parts: [{ text: "a" }] },
      { role: "user", parts: [{ text: "b" }, { text: "c" }] },
    ]);
  });

  it("have sound, and inputs that are no JSON, as they can", () => {
    const odd = [
      { kind: "call", id: "a", tool: PATCH, input: "*** patch" },
      { kind: "call", id: "b", tool: LOOK, input: '{"at' },
      { kind: "call", id: "c", tool: LOOK, input: " " },
    ] as const;
    expect(
      contents([user({ kind: "audio", format: "mp3", data: "c25k" }), model(...odd)], {}, { tools: [LOOK, PATCH] }),
    ).toMatchObject([
      { parts: [{ inlineData: { mimeType: "audio/mp3", data: "c25k" } }] },
      { parts: [{ functionCall: { args: { input: "*** patch" } } }, called({ input: '{"at' }), called({})] },
      {},
    ]);
  });

  it.each<[string, Partial<Conversation>]>([
    ["nothing to answer", { turns: [user(text(""))] }],
    ["a result without its call", { turns: [user(result("x", "1"))] }],
    [
      "a result for the second time",
      { turns: [user(text("go")), model(call("a")), user(result("a", "1"), result("a", "2"))] },
    ],
    [
      "a picture by its address",
      { turns: [user({ kind: "image", source: { kind: "url", url: "https://a/b" }, detail: null })] },
    ],
    ["a table", { turns: [user({ kind: "document", mediaType: "text/csv", data: "", name: null, where: "a" })] }],
    ["more than five stops", { stop: ["a", "b", "c", "d", "e", "f"] }],
  ])("are refused with %s", (_what, conversation) => {
    expect(() => written(conversation)).toThrow(ValidationError);
  });
});
