import { describe, expect, it } from "vitest";
import { countTokens } from "../metering/estimate.ts";
import { type CountRules, countConversation } from "./count-conversation.ts";
import { readResponsesRequest } from "./responses/read-responses-request.ts";

const RULES = {
  perToken: 1,
  perTokenOfTools: 1,
  perInnerWord: 0,
  before: 0,
  aroundAnInstruction: 4,
  aroundATurn: 4,
  aroundATool: 8,
  aroundACall: 0,
  aroundAResult: 0,
  aroundAParameter: 0,
};
const count = (members: object, rules: Partial<CountRules> = {}) => {
  const { conversation } = readResponsesRequest({ model: "acme/large", input: "hi", ...members });
  return countConversation(conversation, { ...RULES, ...rules });
};
const WORDS = "The quick brown fox jumps over the lazy dog.";

describe("the count of a conversation", () => {
  it("has the tokens of its text and some around each turn", async () => {
    const tokens = await countTokens(WORDS);
    expect(await count({ input: WORDS })).toBe(tokens + 4);
    expect(await count({ input: WORDS, instructions: WORDS })).toBeGreaterThan(2 * tokens);
  });

  it("has tools, calls, their results and the form of the answer", async () => {
    const least = await count({});
    const schema = { type: "object", properties: { path: { type: "string", description: WORDS } } };
    const call = { type: "function_call", call_id: "a", name: "look", arguments: JSON.stringify({ path: WORDS }) };
    const result = { type: "function_call_output", call_id: "a", output: WORDS };
    const tokens = await countTokens(WORDS);
    const more = tokens + least;
    expect(await count({ tools: [{ type: "function", name: "look", parameters: schema }] })).toBeGreaterThan(more);
    expect(await count({ input: [call, result] })).toBeGreaterThan(2 * tokens);
    expect(await count({ text: { format: { type: "json_schema", name: "a", schema } } })).toBeGreaterThan(more);
  });

  it("has what a provider counts around calls, their parameters and their results", async () => {
    const call = { type: "function_call", call_id: "a", name: "look", arguments: '{"path":"a","all":true}' };
    const input = [call, { type: "function_call_output", call_id: "a", output: WORDS }];
    const least = await count({ input });
    expect(await count({ input }, { aroundACall: 30, aroundAParameter: 5, aroundAResult: 200 })).toBe(least + 240);
  });

  it("has the provider's own tokens for a text, and more for words inside of names", async () => {
    const input = "read_file and writeFile read a long file of words that no name has";
    const least = await count({ input });
    expect(await count({ input }, { perInnerWord: 10 })).toBe(least + 20);
    expect(await count({ input }, { perToken: 2 })).toBe(2 * least - 4);
  });

  it("has more for pictures and documents, also in results, and not the tokens of their data", async () => {
    const image = { type: "input_image", image_url: `data:image/png;base64,${"A".repeat(100_000)}` };
    const file = { type: "input_file", file_data: `data:application/pdf;base64,${"A".repeat(100_000)}` };
    const pictures = await count({ input: [{ role: "user", content: [image, image] }] });
    expect(pictures).toBe(2 * 1_290 + 4);
    expect(await count({ input: [{ role: "user", content: [file] }] })).toBe(2_500 + 4);
    const call = { type: "function_call", call_id: "a", name: "view", arguments: "{}" };
    const withResult = await count({ input: [call, { type: "function_call_output", call_id: "a", output: [image] }] });
    expect(withResult).toBeGreaterThan(1_290);
  });
});
