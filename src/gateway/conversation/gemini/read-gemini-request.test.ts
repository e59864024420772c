import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import type { Conversation } from "../conversation.ts";
import { snakeName } from "./members.ts";
import { writeSignature } from "./opaque-signature.ts";
import { readGeminiRequest } from "./read-gemini-request.ts";

type Body = Readonly<Record<string, unknown>>;

const TARGET = { model: "acme/m", stream: false };
const HI = { role: "user", parts: [{ text: "hi" }] };
const user = (...parts: object[]) => ({ role: "user", parts });
const model = (...parts: object[]) => ({ role: "model", parts });
const called = (name: string, id?: string) => ({ functionCall: { name, args: { path: "a" }, ...(id && { id }) } });
const result = (name: string, response: object, id?: string) => ({
  functionResponse: { name, response, ...(id && { id }) },
});
const LOOK = { name: "look", description: "Looks.", parametersJsonSchema: { type: "object" } };

const read = (body: Body): Conversation => readGeminiRequest({ contents: [HI], ...body }, TARGET).conversation;

/** The wrong fields of a body, empty where it is accepted. */
function wrongFields(body: Body): string[] {
  try {
    read(body);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field }) => field);
  }
  return [];
}

describe("a request of Gemini", () => {
  it("is read as Gemini CLI writes it", () => {
    const { conversation, showsThoughts } = readGeminiRequest(
      {
        contents: [user({ text: "context" }, { text: "say hi" })],
        systemInstruction: { parts: [{ text: "Be brief." }], role: "user" },
        tools: [{ functionDeclarations: [LOOK] }],
        generationConfig: {
          temperature: 1,
          topP: 0.95,
          topK: 64,
          thinkingConfig: { includeThoughts: true, thinkingLevel: "HIGH" },
        },
      },
      { model: "acme/m", stream: true },
    );
    expect(showsThoughts).toBe(true);
    expect(conversation).toEqual({
      model: "acme/m",
      stream: true,
      system: [{ kind: "text", text: "Be brief." }],
      turns: [
        {
          role: "user",
          parts: [
            { kind: "text", text: "context" },
            { kind: "text", text: "say hi" },
          ],
        },
      ],
      tools: [{ name: "look", namespace: null, description: "Looks.", schema: { type: "object" }, strict: null }],
      toolChoice: null,
      parallelCalls: null,
      outputCap: null,
      stop: [],
      temperature: 1,
      topP: 0.95,
      topK: 64,
      effort: "high",
      outputFormat: null,
      cacheKey: null,
    });
  });

  it("is read with the names that Google's documents have", () => {
    expect(
      read({
        system_instruction: { parts: [{ text: "Be brief." }] },
        contents: [user({ inline_data: { mime_type: "image/png", data: "AAAA" } })],
        generation_config: { max_output_tokens: 9, stop_sequences: ["END"], thinking_config: { thinking_budget: 0 } },
        tools: [{ function_declarations: [{ name: "look", parameters: { type: "OBJECT" } }] }],
        tool_config: { function_calling_config: { mode: "ANY", allowed_function_names: ["look"] } },
      }),
    ).toMatchObject({
      system: [{ text: "Be brief." }],
      turns: [{ parts: [{ kind: "image", source: { mediaType: "image/png", data: "AAAA" } }] }],
      outputCap: 9,
      stop: ["END"],
      effort: "none",
      tools: [{ schema: { type: "object" } }],
      toolChoice: { kind: "tool", tool: { name: "look", namespace: null } },
    });
  });

  it("has schemas of Google's kind as JSON schemas", () => {
    const responseSchema = {
      type: "OBJECT",
      propertyOrdering: ["type", "tags"],
      properties: {
        type: { type: "STRING", nullable: true, enum: ["OBJECT", "STRING"] },
        tags: { type: "ARRAY", items: { type: "INTEGER" }, maxItems: "3" },
        either: { anyOf: [{ type: "NUMBER" }, { type: "BOOLEAN" }], nullable: true },
      },
    };
    expect(read({ generationConfig: { responseMimeType: "application/json", responseSchema } }).outputFormat).toEqual({
      kind: "schema",
      name: "answer",
      strict: null,
      schema: {
        type: "object",
        properties: {
          type: { type: ["string", "null"], enum: ["OBJECT", "STRING"] },
          tags: { type: "array", items: { type: "integer" }, maxItems: 3 },
          either: { anyOf: [{ type: "number" }, { type: "boolean" }, { type: "null" }] },
        },
      },
    });
  });

  it("matches results by id, and without ids by name and order", () => {
    const partsOf = (...contents: object[]) =>
      read({ contents: [HI, ...contents] }).turns.flatMap(({ parts }) =>
        parts.map((part) => {
          if (part.kind === "call") return part.id;
          return part.kind === "result" ? `${part.callId}:${JSON.stringify(part.parts)}` : part.kind;
        }),
      );
    const text = (words: string) => JSON.stringify([{ kind: "text", text: words }]);
    expect(
      partsOf(
        model(called("a", "x"), called("a", "y")),
        user(result("a", { output: "2" }, "y"), result("a", { output: "1" }, "x")),
      ),
    ).toEqual(["text", "x", "y", `y:${text("2")}`, `x:${text("1")}`]);
    expect(
      partsOf(
        model(called("a"), called("b"), called("a")),
        user(result("b", { output: "b" }), result("a", { output: "1" })),
        user(result("a", { output: "2" })),
        model({ text: "and" }, called("a")),
        { role: "function", parts: [result("a", { output: "3" })] },
      ),
    ).toEqual([
      "text",
      "call_0",
      "call_1",
      "call_2",
      `call_1:${text("b")}`,
      `call_0:${text("1")}`,
      `call_2:${text("2")}`,
      "text",
      "call_3",
      `call_3:${text("3")}`,
    ]);
  });

  it.each([
    [{ output: "done" }, [{ kind: "text", text: "done" }], false],
    [{ output: '{"a":1}' }, [{ kind: "text", text: '{"output":"{\\"a\\":1}"}' }], false],
    [{ a: 1, b: 2 }, [{ kind: "text", text: '{"a":1,"b":2}' }], false],
    [{ error: "no" }, [{ kind: "text", text: "no" }], true],
    [{}, [], false],
  ])("reads the result %o", (response, parts, isError) => {
    const { turns } = read({ contents: [HI, model(called("a")), user(result("a", response))] });
    expect(turns.at(-1)?.parts).toEqual([{ kind: "result", callId: "call_0", parts, isError }]);
  });

  it("has pictures, sounds, documents and texts by their media types, also in results", () => {
    const data = (mimeType: string, content = "AAAA") => ({ inlineData: { mimeType, data: content } });
    const words = Buffer.from("a,b").toString("base64");
    const image = { functionResponse: { name: "a", response: {}, parts: [data("image/png")] } };
    const { turns } = read({
      contents: [
        user(data("image/webp"), data("audio/mpeg"), data("application/pdf"), data("text/csv", words)),
        model(called("a")),
        user(image),
      ],
    });
    expect(turns[0]?.parts).toEqual([
      { kind: "image", source: { kind: "data", mediaType: "image/webp", data: "AAAA" }, detail: null },
      { kind: "audio", format: "mp3", data: "AAAA" },
      {
        kind: "document",
        mediaType: "application/pdf",
        data: "AAAA",
        name: null,
        where: expect.stringMatching(/^contents\[\d\]\.parts\[\d\]\.inlineData\.data$/),
      },
      { kind: "text", text: "a,b" },
    ]);
    expect(turns[2]?.parts).toMatchObject([{ kind: "result", parts: [{ kind: "image" }] }]);
  });

  it("keeps what a provider wants back where it is of this service, and nothing of others", () => {
    const opaque = { origin: "anthropic.eu", blob: "c2ln" };
    const signed = (thoughtSignature: string) => ({ ...called("a"), thoughtSignature });
    const partsOf = (...parts: object[]) => read({ contents: [HI, model(...parts)] }).turns[1]?.parts;
    expect(partsOf(signed(writeSignature("call", opaque)))).toMatchObject([{ kind: "call", opaque }]);
    expect(partsOf(signed(writeSignature("thought", opaque)))).toMatchObject([
      { kind: "reasoning", text: "", opaque },
      { kind: "call" },
    ]);
    expect(partsOf(signed("U0lHTU9DSw=="))).toEqual([expect.not.objectContaining({ opaque: expect.anything() })]);
    expect(
      partsOf({ text: "hm", thought: true, thoughtSignature: "U0lHTU9DSw==" }, { text: "", thought: true }),
    ).toEqual([{ kind: "reasoning", text: "hm", opaque: null }]);
  });

  it("offers the allowed functions alone where there are several", () => {
    const tools = [{ functionDeclarations: [LOOK, { ...LOOK, name: "write" }, { ...LOOK, name: "run" }] }];
    const functionCallingConfig = { mode: "ANY", allowedFunctionNames: ["look", "run"] };
    expect(read({ tools, toolConfig: { functionCallingConfig } })).toMatchObject({
      tools: [{ name: "look" }, { name: "run" }],
      toolChoice: { kind: "any" },
    });
  });

  it.each([
    [{ thinkingBudget: -1 }, null],
    [{ thinkingBudget: 512 }, "low"],
    [{ thinkingBudget: 8_192 }, "medium"],
    [{ thinkingBudget: 24_576 }, "high"],
    [{ thinkingLevel: "minimal" }, "minimal"],
    [{ thinkingLevel: "LOW", thinkingBudget: 24_576 }, "low"],
    [{ includeThoughts: true }, null],
  ])("reads %o as the effort %s", (thinkingConfig, effort) => {
    expect(read({ generationConfig: { thinkingConfig } }).effort).toBe(effort);
  });
});

describe("a request that is refused", () => {
  const config = (members: object) => ({ generationConfig: members });
  const part = (members: object, role = "user") => ({ contents: [HI, { role, parts: [members] }] });
  const tool = (members: object) => ({ tools: [members] });

  it.each<[string, Body]>([
    // Kept in the provider's account, run or priced by it.
    ["cachedContent", { cachedContent: "cachedContents/1" }],
    ["serviceTier", { serviceTier: "priority" }],
    ...[
      "generationOutputConfig",
      "continuationToken",
      "automaticContinuation",
      "modelSelectionConfig",
      "audioTranscriptionConfig",
    ].flatMap((name): [string, Body][] => [
      [name, { [name]: { a: 1 } }],
      [`generationConfig.${name}`, config({ [snakeName(name)]: { a: 1 } })],
    ]),
    ["store", { store: true }],
    ["tools[0].googleSearch", tool({ googleSearch: {} })],
    ["tools[0].googleSearch", tool({ google_search: {} })],
    ["tools[0].codeExecution", tool({ codeExecution: {} })],
    ["tools[0].urlContext", tool({ urlContext: {} })],
    ["tools[0].computerUse", tool({ computerUse: {} })],
    ["contents[1].parts[0].fileData", part({ fileData: { fileUri: "https://x.example/a.pdf" } })],
    ["contents[1].parts[0].executableCode", part({ executableCode: { code: "1" } }, "model")],
    ["contents[1].parts[0].codeExecutionResult", part({ codeExecutionResult: {} }, "model")],
    ["generationConfig.candidateCount", config({ candidateCount: 2 })],
    ["generationConfig.responseModalities", config({ responseModalities: ["TEXT", "IMAGE"] })],
    ["generationConfig.speechConfig", config({ speechConfig: { languageCode: "en" } })],
    // No form in other protocols, or none at all.
    ["generationConfig.presencePenalty", config({ presencePenalty: 0.5 })],
    ["generationConfig.responseLogprobs", config({ responseLogprobs: true })],
    ["generationConfig.responseMimeType", config({ responseMimeType: "text/x.enum", responseSchema: {} })],
    ["generationConfig.responseJsonSchema", config({ responseJsonSchema: "a" })],
    ["generationConfig.maxOutputTokens", config({ maxOutputTokens: 0 })],
    ["generationConfig.temperature", config({ temperature: 2.1 })],
    ["generationConfig.topP", config({ topP: "much" })],
    ["generationConfig.stopSequences", config({ stopSequences: [""] })],
    ["generationConfig.thinkingConfig.thinkingLevel", config({ thinkingConfig: { thinkingLevel: "HUGE" } })],
    ["generationConfig.thinkingConfig.thinkingBudget", config({ thinkingConfig: { thinkingBudget: -2 } })],
    ["generationConfig", { generationConfig: [] }],
    ["generationConfig", { generationConfig: {}, generation_config: {} }],
    ["contents", { contents: [] }],
    ["contents", { contents: null }],
    ["contents[0].role", { contents: [{ role: "system", parts: [] }] }],
    ["contents[0]", { contents: ["hi"] }],
    ["contents[1].parts[0].text", part({})],
    ["contents[1].parts[0].inlineData.mimeType", part({ inlineData: { mimeType: "video/mp4", data: "AAAA" } })],
    ["contents[1].parts[0].inlineData.data", part({ inlineData: { mimeType: "image/png" } })],
    ["contents[1].parts[0].inlineData", part({ inlineData: { mimeType: "image/png", data: "AAAA" } }, "model")],
    ["contents[1].parts[0].functionCall", part(called("a"))],
    ["contents[1].parts[0].functionResponse", part(result("a", {}))],
    ["contents[1].parts[0].functionResponse", part(result("a", {}), "model")],
    ["contents[1].parts[0].functionCall.name", part({ functionCall: { args: {} } }, "model")],
    ["contents[1].parts[0].functionCall.args", part({ functionCall: { name: "a", args: "b" } }, "model")],
    ["tools[0].functionDeclarations[0].name", tool({ functionDeclarations: [{ name: "a.b" }] })],
    ["tools[0].functionDeclarations[1].name", tool({ functionDeclarations: [LOOK, LOOK] })],
    ["tools[0].functionDeclarations[0].parameters", tool({ functionDeclarations: [{ name: "a", parameters: 1 }] })],
    ["toolConfig.functionCallingConfig.mode", { toolConfig: { functionCallingConfig: { mode: "SOME" } } }],
    [
      "toolConfig.functionCallingConfig.allowedFunctionNames",
      { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["nobody"] } } },
    ],
  ])("names %s", (field, body) => {
    expect(wrongFields(body)).toEqual([field]);
  });

  it.each<Body>([
    config({ candidateCount: 1, responseModalities: ["TEXT"], presencePenalty: 0, responseLogprobs: false, seed: 1 }),
    { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }], labels: { a: "b" } },
    { serviceTier: "standard", store: false, cachedContent: "", tools: [], unknown: 1 },
    { tools: null, toolConfig: null, generationConfig: null, systemInstruction: null },
  ])("is not one with %o", (body) => {
    expect(wrongFields(body)).toEqual([]);
  });

  it("names only the first of many problems", () => {
    expect(wrongFields({ contents: Array.from({ length: 50 }, () => ({ role: "nobody" })) })).toHaveLength(20);
  });
});
