import { describe, expect, it } from "vitest";
import { readResponsesUsage, showsResponsesCounts } from "./responses-usage.ts";

const counts = (usage: object) => readResponsesUsage({ ...usage })?.counts;

describe("the usage of a Responses answer", () => {
  it("has the cache in its input and the reasoning in its output", () => {
    const usage = {
      input_tokens: 150,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 100 },
      output_tokens: 12,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: 162,
    };
    expect(readResponsesUsage(usage)).toMatchObject({
      counts: {
        inputTokensUncached: 20,
        inputTokensCached: 30,
        outputTokens: 12,
        otherTokens: { cacheWrite: 100 },
      },
      reasoningTokens: 4,
      tellsCached: true,
      rules: [],
    });
  });

  it("has what was written for twelve hours apart", () => {
    const details = { cached_tokens: 0, cache_write_tokens: 70, cache_write_tokens_details: { ttl_12h_tokens: 50 } };
    const found = counts({ input_tokens: 100, input_tokens_details: details, output_tokens: 1 });
    expect(found).toMatchObject({ inputTokensUncached: 30, otherTokens: { cacheWrite: 20, cacheWrite1h: 50 } });
  });

  it("writes no more to the cache than was not read from it", () => {
    const usage = { input_tokens: 100, input_tokens_details: { cached_tokens: 60, cache_write_tokens: 90 } };
    expect(counts(usage)).toMatchObject({
      inputTokensUncached: 0,
      inputTokensCached: 60,
      otherTokens: { cacheWrite: 40 },
    });
  });

  it("counts sound and pictures apart from text", () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { audio_tokens: 20, image_tokens: 30 },
      output_tokens: 50,
      output_tokens_details: { image_tokens: 40 },
    };
    expect(counts(usage)).toMatchObject({
      inputTokensUncached: 50,
      outputTokens: 10,
      otherTokens: { audioInput: 20, imageInput: 30, imageOutput: 40 },
    });
  });

  it("has what only the total counts in its output", () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 25,
      output_tokens_details: { reasoning_tokens: 10 },
    };
    expect(readResponsesUsage(usage)).toMatchObject({ counts: { outputTokens: 15 }, inferredOutput: 0, rules: [] });
    const unnamed = { input_tokens: 10, output_tokens: 5, total_tokens: 25 };
    expect(readResponsesUsage(unnamed)).toMatchObject({ inferredOutput: 10, rules: ["thinking_in_total"] });
    const low = { input_tokens: 10, output_tokens: 5, total_tokens: 3 };
    expect(readResponsesUsage(low)).toMatchObject({ counts: { outputTokens: 5 }, rules: ["total_below_parts"] });
  });

  it.each([null, {}, { input_tokens_details: { cached_tokens: 3 } }])("is none: %j", (usage) => {
    expect(readResponsesUsage(usage)).toBeNull();
  });

  it("is corrected where it is impossible", () => {
    const usage = { input_tokens: -5, output_tokens: 1e12 };
    expect(readResponsesUsage(usage)).toMatchObject({
      counts: { inputTokensUncached: 0 },
      rules: ["impossible_count"],
    });
  });

  it("shows its own counts and no others", () => {
    const usage = { input_tokens: 20, input_tokens_details: { cached_tokens: 5 }, output_tokens: 3, total_tokens: 23 };
    const read = readResponsesUsage(usage)?.counts;
    expect(read && showsResponsesCounts(usage, read)).toBe(true);
    expect(read && showsResponsesCounts({ ...usage, total_tokens: 24 }, read)).toBe(false);
    expect(read && showsResponsesCounts({ ...usage, input_tokens_details: null }, read)).toBe(false);
    expect(read && showsResponsesCounts({ ...usage, output_tokens: 4 }, read)).toBe(false);
  });
});
