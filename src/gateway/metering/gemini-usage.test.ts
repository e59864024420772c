import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import { readGeminiUsage, showsGeminiCounts } from "./gemini-usage.ts";

const of = (modality: string, tokenCount: number) => ({ modality, tokenCount });

describe("the usage of a Gemini answer", () => {
  it("has what was cached taken out of the prompt, and thoughts in the output", () => {
    const usage = {
      promptTokenCount: 120,
      cachedContentTokenCount: 20,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 5,
      totalTokenCount: 132,
      promptTokensDetails: [of("TEXT", 120)],
    };
    expect(readGeminiUsage(usage)).toMatchObject({
      counts: { inputTokensUncached: 100, inputTokensCached: 20, outputTokens: 12 },
      reasoningTokens: 5,
      inferredOutput: 0,
      tellsCached: true,
      rules: [],
    });
  });

  it("counts the results of Google's tools as input, and sound and pictures once", () => {
    const usage = {
      promptTokenCount: 100,
      toolUsePromptTokenCount: 30,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 9,
      totalTokenCount: 139,
      promptTokensDetails: [of("TEXT", 30), of("AUDIO", 50), of("IMAGE", 20)],
      cacheTokensDetails: [of("AUDIO", 30), of("TEXT", 10)],
      candidatesTokensDetails: [of("IMAGE", 4), of("TEXT", 5)],
    };
    expect(readGeminiUsage(usage)?.counts).toEqual({
      inputTokensUncached: 50,
      inputTokensCached: 40,
      outputTokens: 5,
      otherTokens: { audioInput: 20, imageInput: 20, imageOutput: 4 },
    });
  });

  it("bills thoughts that are in the total alone", () => {
    expect(readGeminiUsage({ promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 40 })).toMatchObject({
      counts: { inputTokensUncached: 10, outputTokens: 30 },
      inferredOutput: 25,
      rules: ["thinking_in_total"],
    });
  });

  it("has no output yet before the first is counted, and none at all without counts", () => {
    expect(readGeminiUsage({ promptTokenCount: 10, totalTokenCount: 10 })).toMatchObject({
      hasOutput: false,
      hasInput: true,
    });
    expect(readGeminiUsage({ thoughtsTokenCount: 3 })).toMatchObject({ hasOutput: true, hasInput: false });
    expect(readGeminiUsage({ trafficType: "ON_DEMAND" })).toBeNull();
    expect(readGeminiUsage(null)).toBeNull();
  });

  it("marks what no count can be", () => {
    expect(
      readGeminiUsage({ promptTokenCount: 10, cachedContentTokenCount: 20, candidatesTokenCount: 1 }),
    ).toMatchObject({
      counts: { inputTokensUncached: 0, inputTokensCached: 10, outputTokens: 1 },
      rules: ["impossible_count"],
    });
    expect(readGeminiUsage({ promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 9 })?.rules).toEqual([
      "total_below_parts",
    ]);
  });

  it("never counts a token twice, and shows the counts that it was read as", () => {
    const count = fc.option(fc.nat({ max: 1_000 }), { nil: undefined });
    const details = fc.array(
      fc.record({ modality: fc.constantFrom("TEXT", "AUDIO", "IMAGE"), tokenCount: fc.nat(1_000) }),
      {
        maxLength: 3,
      },
    );
    const facts = fc.record({
      promptTokenCount: count,
      toolUsePromptTokenCount: count,
      cachedContentTokenCount: count,
      candidatesTokenCount: count,
      thoughtsTokenCount: count,
      promptTokensDetails: details,
      cacheTokensDetails: details,
      candidatesTokensDetails: details,
    });
    fc.assert(
      fc.property(facts, (given) => {
        const [prompt, results] = [given.promptTokenCount ?? 0, given.toolUsePromptTokenCount ?? 0];
        const output = (given.candidatesTokenCount ?? 0) + (given.thoughtsTokenCount ?? 0);
        const usage = { ...given, totalTokenCount: prompt + results + output };
        const reading = readGeminiUsage(usage);
        if (reading === null) return;
        expect(inputTokensOf(reading.counts)).toBe(prompt + results);
        expect(outputTokensOf(reading.counts)).toBe(output + reading.inferredOutput);
        expect(showsGeminiCounts(usage, reading.counts)).toBe(reading.rules.length === 0);
        expect(showsGeminiCounts(usage, { ...reading.counts, outputTokens: reading.counts.outputTokens + 1 })).toBe(
          false,
        );
      }),
    );
  });
});
