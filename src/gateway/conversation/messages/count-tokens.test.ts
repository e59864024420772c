import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import { countMessages } from "./count-tokens.ts";

const countOf = (body: object) => countMessages(Buffer.from(JSON.stringify({ model: "acme/m", ...body })));
const ask = (content: unknown) => ({ messages: [{ role: "user", content }] });
const weather = {
  name: "get_weather",
  description: "Get the current weather in a given location",
  input_schema: {
    type: "object",
    properties: {
      location: { type: "string", description: "The city and state, e.g. San Francisco, CA" },
    },
    required: ["location"],
  },
};

describe("the tokens of a request", () => {
  // The figures of Anthropic's guide to token counting.
  it.each([
    [14, { system: "You are a scientist", ...ask("Hello, Claude") }],
    [403, { tools: [weather], ...ask("What's the weather like in San Francisco?") }],
  ])("are at most two percent below and fifteen above %s", async (published, body) => {
    const count = await countOf(body);
    expect(count).toBeGreaterThanOrEqual(Math.floor(published * 0.98));
    expect(count).toBeLessThanOrEqual(Math.ceil(published * 1.15));
  });

  it("are more with each part of the request", async () => {
    const least = await countOf(ask("hi"));
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    expect(await countOf({ system: "Be brief.", ...ask("hi") })).toBeGreaterThan(least);
    expect(await countOf(ask([{ type: "text", text: "hi" }, image]))).toBeGreaterThan(least + 500);
    expect(await countOf({ tools: [], ...ask("hi") })).toBe(least);
    expect(await countOf({ tools: [weather], ...ask("hi") })).toBeGreaterThan(least + 346);
    expect(
      await countOf({ ...ask("hi"), output_config: { format: { type: "json_schema", schema: weather } } }),
    ).toBeGreaterThan(least + 20);
  });

  it("need no bound of the answer, and a request that is right", async () => {
    await expect(countOf({ max_tokens: 5, ...ask("hi") })).resolves.toBeGreaterThan(0);
    await expect(countOf(ask(5))).rejects.toThrow(ValidationError);
  });

  it("of long text are close to a count of all of it", async () => {
    const words = "The quick brown fox jumps over the lazy dog and runs away. ";
    const repeats = 2_000;
    const count = await countOf(ask(words.repeat(repeats)));
    // Thirteen tokens each.
    expect(count).toBeGreaterThan(13 * repeats * 0.98);
    expect(count).toBeLessThan(13 * repeats * 1.15);
  });
});
