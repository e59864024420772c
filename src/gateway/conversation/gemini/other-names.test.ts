// Google's JSON has two names for a member, and bytes pass to Google as they came: what is refused is refused under both.

import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import { snakeName } from "./members.ts";
import { readGeminiRequest } from "./read-gemini-request.ts";

type Body = Readonly<Record<string, unknown>>;

const HI = { role: "user", parts: [{ text: "hi" }] };

/** The wrong fields of a body, empty where it is accepted. */
function wrongFields(body: Body): string[] {
  try {
    readGeminiRequest({ contents: [HI], ...body }, { model: "acme/m", stream: false });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field }) => field);
  }
  return [];
}

const part = (members: object, role = "user") => ({ contents: [HI, { role, parts: [{ text: "a", ...members }] }] });
const config = (members: object) => ({ generationConfig: members });
const calls = { role: "model", parts: [{ functionCall: { name: "a", args: {} } }] };
const result = (parts: object[]) => ({
  contents: [HI, calls, { role: "user", parts: [{ functionResponse: { name: "a", response: {}, parts } }] }],
});
const IMAGE = { mimeType: "image/png", data: "AAAA" };

/** What Google would keep, run or charge for, each with its value and the body around it. */
const REFUSED: readonly (readonly [string, string, unknown, (members: object) => Body])[] = [
  ["cachedContent", "cachedContent", "cachedContents/1", (members) => ({ ...members })],
  ["serviceTier", "serviceTier", "PRIORITY", (members) => ({ ...members })],
  ["modelArmorConfig", "modelArmorConfig", { promptTemplateName: "a" }, (members) => ({ ...members })],
  ["generationConfig.candidateCount", "candidateCount", 2, config],
  ["generationConfig.responseModalities", "responseModalities", ["IMAGE"], config],
  ["generationConfig.speechConfig", "speechConfig", { languageCode: "en" }, config],
  ["generationConfig.imageConfig", "imageConfig", { imageSize: "4K" }, config],
  ["generationConfig.routingConfig", "routingConfig", { autoMode: {} }, config],
  ["generationConfig.modelConfig", "modelConfig", { featureSelectionPreference: 1 }, config],
  ["generationConfig.maxOutputTokens", "maxOutputTokens", 0, config],
  ["contents[1].parts[0].fileData", "fileData", { fileUri: "files/1" }, part],
  ["contents[1].parts[0].executableCode", "executableCode", { code: "1" }, (members) => part(members, "model")],
  [
    "contents[2].parts[0].functionResponse.parts[0].fileData",
    "fileData",
    { fileUri: "files/1" },
    (members) => result([{ inlineData: IMAGE, ...members }]),
  ],
  ["tools[0].googleSearch", "googleSearch", {}, (members) => ({ tools: [members] })],
  ["tools[0].codeExecution", "codeExecution", {}, (members) => ({ tools: members })],
  ["tools[0].toolOfNextMonth", "toolOfNextMonth", {}, (members) => ({ tools: [members] })],
];

describe.each(REFUSED)("the member %s", (field, name, value, around) => {
  it("is refused under either name", () => {
    expect(wrongFields(around({ [name]: value }))).toEqual([field]);
    expect(wrongFields(around({ [snakeName(name)]: value }))).toEqual([field]);
    expect(wrongFields(around({ [name]: null }))).toEqual([]);
  });

  it("is not hidden by a null under its other name", () => {
    expect(wrongFields(around({ [name]: null, [snakeName(name)]: value }))).toEqual([field]);
    expect(wrongFields(around({ [snakeName(name)]: null, [name]: value }))).toEqual([field]);
  });
});

it("sound within the answer of a function is refused: it has no form in other protocols, and no hold", () => {
  const sound = { inlineData: { mimeType: "audio/flac", data: "AAAA" } };
  expect(wrongFields(result([sound]))).toEqual(["contents[2].parts[0].functionResponse.parts[0].inlineData"]);
  expect(wrongFields(result([{ inlineData: IMAGE }]))).toEqual([]);
});

it.each([
  ["generationConfig.max_Output_Tokens", config({ max_Output_Tokens: 9 })],
  ["generationConfig.MaxOutputTokens", config({ maxOutputTokens: 9, MaxOutputTokens: 10_000 })],
  ["Generation_Config", { Generation_Config: {} }],
  ["generationconfig", { generationconfig: {} }],
  ["cached_Content", { cached_Content: "" }],
  ["\u017Ftore", { "\u017Ftore": true }],
  ["contents[1].parts[0].file_Data", part({ file_Data: {} })],
  ["tools[0].function_Declarations", { tools: [{ function_Declarations: [] }] }],
])("a member is refused in any letters but those of its names: %s", (field, body) => {
  expect(wrongFields(body)).toEqual([field]);
});

it.each([
  ["generationConfig", { generationConfig: {}, generation_config: {} }],
  ["generationConfig.maxOutputTokens", config({ maxOutputTokens: 9, max_output_tokens: 9 })],
  ["contents[1].parts[0].inlineData.mimeType", part({ inlineData: { ...IMAGE, mime_type: "image/png" } })],
])("a member is refused where it comes twice: %s", (field, body) => {
  expect(wrongFields(body)).toEqual([field]);
});
