// What Google's protocol may ask of its provider and cannot be had here, like `refused-shapes.test.ts` for the other protocols: each
// is a 400 in Google's envelope that names its field, for an answer, a stream and a count, before anything is asked or held.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createCountWindows } from "../../../src/gateway/conversation/count-window.ts";
import { createGeminiService } from "../../../src/gateway/gemini-service.ts";
import type { Gateway } from "../../../src/gateway/chat.ts";
import { uuidv7 } from "../../../src/kernel/ids.ts";
import { usePlayground } from "../../gateway/playground.ts";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import { KEY, modelOf } from "../../gateway/support.ts";
import { type Running, SECRET, startServers } from "../fakes.ts";

const playground = usePlayground();
const SOLD = modelOf("local/m");
let running: Running;
beforeAll(async () => {
  // The gateway of the test that runs: the servers are those of all.
  const gateway: Gateway = { answerChat: (call, sink) => playground.bench.gateway.answerChat(call, sink) };
  const gemini = createGeminiService({
    gateway,
    keys: { takeSlot: async () => Promise.reject(new Error("a slot was taken")) },
    catalog: { snapshot: async () => ({ models: new Map([[SOLD.id, SOLD]]), upstreams: new Map(), takenAtMs: 0 }) },
    allowedModelsOf: () => null,
    ...createCountWindows(),
    caller: async () => ({ key: KEY, requestId: uuidv7(), receivedAtMs: 0 }),
  });
  running = await startServers({ gateway, implementations: { gemini } });
});
beforeEach(() => {
  playground.upstream.run(json(completion()));
});
afterAll(() => running.servers.close(1_000));

type Shape = readonly [field: string, body: Readonly<Record<string, unknown>>];

function post(path: string, body: string): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${SECRET}` };
  return fetch(running.http + path, { method: "POST", headers, body });
}

/** Nothing was sent, held or recorded, and no slot of the key was taken. */
function expectNothingHappened(): void {
  const { ledger } = playground.bench;
  expect(playground.upstream.received).toHaveLength(0);
  expect([ledger.admissions, ledger.settlements, running.keys.slots]).toEqual([[], [], 0]);
}

describe("a request of Gemini", () => {
  const HI = { role: "user", parts: [{ text: "hi" }] };
  const part = (value: object) => ({ contents: [HI, { role: "user", parts: [value] }] });
  const said = (value: object) => ({ contents: [HI, { role: "model", parts: [value] }, HI] });
  const config = (value: object) => ({ generationConfig: value });
  const tool = (name: string) => ({ tools: [{ [name]: {} }] });
  const result = (value: object) => ({ functionResponse: { name: "a", response: {}, ...value } });
  const FIRST = "contents[1].parts[0]";
  const file = { fileData: { mimeType: "application/pdf", fileUri: "https://x.example/v1beta/files/1" } };

  const shapes: readonly Shape[] = [
    // Tools that the provider runs.
    ["tools[0].googleSearch", tool("googleSearch")],
    ["tools[0].googleSearch", tool("google_search")],
    ["tools[0].googleSearchRetrieval", tool("googleSearchRetrieval")],
    ["tools[0].codeExecution", tool("codeExecution")],
    ["tools[0].urlContext", tool("urlContext")],
    ["tools[0].fileSearch", tool("fileSearch")],
    ["tools[0].googleMaps", tool("googleMaps")],
    ["tools[0].computerUse", tool("computerUse")],
    ["tools[0].mcpServers", tool("mcpServers")],
    ["tools[0].retrieval", tool("retrieval")],
    [`${FIRST}.executableCode`, said({ executableCode: { language: "PYTHON", code: "1" } })],
    [`${FIRST}.codeExecutionResult`, said({ codeExecutionResult: { outcome: "OUTCOME_OK" } })],
    [`${FIRST}.toolCall`, said({ toolCall: { id: "a" } })],
    [`${FIRST}.toolResponse`, said({ toolResponse: { id: "a" } })],
    // What is kept in the provider's account.
    ["cachedContent", { cachedContent: "cachedContents/1" }],
    ["cachedContent", { cached_content: "cachedContents/1" }],
    ["store", { store: true }],
    ["continuationToken", { continuationToken: "a" }],
    [`${FIRST}.fileData`, part(file)],
    [`${FIRST}.fileData`, part({ file_data: { file_uri: "https://x.example/v1beta/files/1" } })],
    [`${FIRST}.functionResponse.parts[0].fileData`, part(result({ parts: [file] }))],
    ["systemInstruction.parts[0].fileData", { systemInstruction: { parts: [file] } }],
    // Other models, other prices.
    ["serviceTier", { serviceTier: "flex" }],
    ["serviceTier", { service_tier: "PRIORITY" }],
    ["modelArmorConfig", { modelArmorConfig: { promptTemplateName: "a" } }],
    ["modelSelectionConfig", { modelSelectionConfig: { featureSelectionPreference: "PRIORITIZE_COST" } }],
    ["generationConfig.routingConfig", config({ routingConfig: { autoMode: {} } })],
    ["generationConfig.modelConfig", config({ modelConfig: { name: "a" } })],
    ["generationConfig.responseModalities", config({ responseModalities: ["IMAGE"] })],
    ["generationConfig.responseModalities", config({ responseModalities: ["TEXT", "AUDIO"] })],
    ["generationConfig.speechConfig", config({ speechConfig: { voiceConfig: {} } })],
    ["generationConfig.imageConfig", config({ imageConfig: { aspectRatio: "1:1" } })],
    ["generationConfig.audioTranscriptionConfig", config({ audioTranscriptionConfig: {} })],
    ["generationConfig.candidateCount", config({ candidateCount: 2 })],
    // Results of no call, twice the same name, no form.
    [`${FIRST}.functionResponse`, part(result({}))],
    [`${FIRST}.functionResponse`, part(result({ id: "none" }))],
    [`${FIRST}.functionCall`, part({ functionCall: { name: "a", args: {} } })],
    [`${FIRST}.inlineData.mimeType`, part({ inlineData: { mimeType: "application/zip", data: "AAAA" } })],
    [`${FIRST}.inlineData.mimeType`, part({ inlineData: { mimeType: "video/mp4", data: "AAAA" } })],
    ["contents[1].role", { contents: [HI, { role: "system", parts: [{ text: "hi" }] }] }],
    ["contents", { contents: [] }],
    ["tools[0].functionDeclarations[1].name", { tools: [{ functionDeclarations: [{ name: "a" }, { name: "a" }] }] }],
    ["toolConfig.functionCallingConfig.mode", { toolConfig: { functionCallingConfig: { mode: "SOME" } } }],
    ["generationConfig.logprobs", config({ logprobs: 3 })],
    ["generationConfig.responseLogprobs", config({ responseLogprobs: true })],
    ["generationConfig.presencePenalty", config({ presencePenalty: 1 })],
    ["generationConfig.frequencyPenalty", config({ frequency_penalty: 1 })],
    ["generationConfig.stopSequences", config({ stopSequences: Array.from({ length: 17 }, (_, at) => `${at}`) })],
    ["generationConfig.maxOutputTokens", config({ maxOutputTokens: 0 })],
    ["generationConfig.temperature", config({ temperature: "warm" })],
  ];

  const pathOf = (action: string) => `/v1beta/models/local/m:${action}`;
  /** A request where an answer, a stream and a count have it. */
  const PLACES: Readonly<Record<string, (body: object) => object>> = {
    generateContent: (body) => body,
    "streamGenerateContent?alt=sse": (body) => body,
    countTokens: (body) => ({ generateContentRequest: { model: "models/local/m", ...body } }),
  };

  type Refusal = {
    readonly error: { readonly message: string; readonly details: readonly [unknown, { fieldViolations: object[] }] };
  };

  /** A refusal without its texts, and whether a person and a program can read the field in it. */
  async function refusalOf(response: Response, field: string): Promise<object> {
    const { error } = (await response.json()) as Refusal;
    const { message, details, ...others } = error;
    const isMarked = details[1].fieldViolations.some((each) => "field" in each && each.field === field);
    return { http: response.status, ...others, isNamed: message.includes(field), isMarked };
  }
  const REFUSED = { http: 400, code: 400, status: "INVALID_ARGUMENT", isNamed: true, isMarked: true };

  it.each(shapes)("is refused for %s in %j, answered, streamed or counted", async (field, more) => {
    for (const [action, place] of Object.entries(PLACES)) {
      const response = await post(pathOf(action), JSON.stringify(place({ contents: [HI], ...more })));
      expect(await refusalOf(response, field)).toEqual(REFUSED);
      expectNothingHappened();
    }
  });

  it("is refused for a name that comes twice, wherever it is", async () => {
    for (const action of Object.keys(PLACES).slice(0, 2)) {
      const twice = '{"contents":[{"role":"user","role":"user","parts":[{"text":"a"}]}]}';
      const response = await post(pathOf(action), twice);
      expect([response.status, await response.json()]).toMatchObject([400, { error: { status: "INVALID_ARGUMENT" } }]);
      expectNothingHappened();
    }
  });

  it("is refused where it would be streamed as an array", async () => {
    const response = await post(pathOf("streamGenerateContent"), JSON.stringify({ contents: [HI] }));
    expect(await refusalOf(response, "alt")).toEqual(REFUSED);
    expectNothingHappened();
  });

  it.each([
    { safetySettings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }], labels: { a: "b" } },
    { serviceTier: "standard", store: false, cachedContent: "", tools: [{ googleSearch: null }] },
    { generationConfig: { seed: 4, candidateCount: 1, responseModalities: ["TEXT"], frequencyPenalty: 0 } },
  ])("is answered with %j, which changes nothing here", async (more) => {
    const response = await post(pathOf("generateContent"), JSON.stringify({ contents: [HI], ...more }));
    expect(response.status).toBe(200);
    await response.text();
  });
});
