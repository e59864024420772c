import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import { MAX_COUNT } from "./count.ts";
import { readUsage } from "./read-usage.ts";

const anything = fc.oneof(
  fc.anything(),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.string(),
  fc.constant(Number.NaN),
  fc.constant(Infinity),
  fc.constant(2 ** 63),
);
const details = fc.record(
  { cached_tokens: anything, cache_write_tokens: anything, audio_tokens: anything, image_tokens: anything },
  { requiredKeys: [] },
);
const lies = fc.record(
  {
    prompt_tokens: anything,
    input_tokens: anything,
    completion_tokens: anything,
    output_tokens: anything,
    total_tokens: anything,
    prompt_tokens_details: fc.oneof(anything, details),
    completion_tokens_details: fc.oneof(anything, fc.record({ reasoning_tokens: anything, image_tokens: anything })),
    prompt_cache_hit_tokens: anything,
    prompt_cache_miss_tokens: anything,
    cache_read_input_tokens: anything,
    cache_creation_input_tokens: anything,
    cache_creation: fc.oneof(anything, fc.record({ ephemeral_1h_input_tokens: anything })),
    prompt_audio_seconds: anything,
    cost: anything,
  },
  { requiredKeys: [] },
);

describe("readUsage", () => {
  it("makes whole disjoint counts of every report of an upstream, or none", () => {
    fc.assert(
      fc.property(fc.oneof(lies, anything), (reported) => {
        const reading = readUsage(reported);
        if (reading === null) return true;
        const { otherTokens, ...plain } = reading.counts;
        const counts = [...Object.values(plain), ...Object.values(otherTokens ?? {})];
        return (
          counts.every((count) => Number.isInteger(count) && count >= 0 && !Object.is(count, -0)) &&
          inputTokensOf(reading.counts) <= MAX_COUNT &&
          outputTokensOf(reading.counts) <= MAX_COUNT &&
          reading.reasoningTokens <= outputTokensOf(reading.counts)
        );
      }),
      { numRuns: 10_000 },
    );
  });

  it("bills cached tokens as a part of the input and not beside it", () => {
    const count = fc.nat({ max: MAX_COUNT });
    const price = fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n });
    fc.assert(
      fc.property(count, count, count, price, price, price, (one, other, written, input, output, cacheHit) => {
        const [cached, prompt] = [Math.min(one, other), Math.max(one, other)];
        const reported = {
          prompt_tokens: prompt,
          completion_tokens: written,
          prompt_tokens_details: { cached_tokens: cached },
        };
        const reading = readUsage(reported);
        // The whole prompt at the input price, less what the cached part of it is cheaper: a fraction of a million.
        const millionths = BigInt(prompt) * input - BigInt(cached) * (input - cacheHit) + BigInt(written) * output;
        const cost = reading === null ? -1n : costOf(reading.counts, { input, output, cacheHit });
        return reading?.rules.length === 0 && cost * 1_000_000n >= millionths && (cost - 1n) * 1_000_000n < millionths;
      }),
      { numRuns: 10_000 },
    );
  });

  it("takes reasoning as part of the completion, unless the total shows that it was counted beside it", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 20, completion_tokens_details: { reasoning_tokens: 5 } };
    expect(readUsage({ ...usage, total_tokens: 30 })?.counts.outputTokens).toBe(20);
    expect(readUsage({ ...usage, total_tokens: 35 })?.counts.outputTokens).toBe(25);
    expect(readUsage(usage)?.counts.outputTokens).toBe(20);
    // Without a total, more reasoning than completion cannot be a part of it.
    const apart = { ...usage, completion_tokens_details: { reasoning_tokens: 94 } };
    expect(readUsage(apart)?.counts.outputTokens).toBe(114);
    expect(readUsage({ ...apart, total_tokens: 30 })?.counts.outputTokens).toBe(20);
  });

  it("adds what Anthropic's names count beside the input, split or not", () => {
    const usage = {
      input_tokens: 100,
      cache_read_input_tokens: 90_000,
      cache_creation_input_tokens: 5_000,
      output_tokens: 200,
    };
    const plain = { inputTokensUncached: 100, inputTokensCached: 90_000, outputTokens: 200 };
    expect(readUsage(usage)?.counts).toEqual({ ...plain, otherTokens: { cacheWrite: 5_000 } });
    const split = { ...usage, cache_creation: { ephemeral_5m_input_tokens: 4_000, ephemeral_1h_input_tokens: 1_000 } };
    expect(readUsage(split)?.counts.otherTokens).toEqual({ cacheWrite: 4_000, cacheWrite1h: 1_000 });
    // A proxy that gives OpenAI's names to exclusive counts: they cannot hold what was cached.
    const renamed = { ...usage, prompt_tokens: 100, completion_tokens: 200, input_tokens: 0, output_tokens: 0 };
    expect(readUsage({ ...renamed, total_tokens: 300 })?.counts).toEqual({
      ...plain,
      otherTokens: { cacheWrite: 5_000 },
    });
    // One that has added them up.
    const whole = { ...renamed, prompt_tokens: 95_100, total_tokens: 95_300 };
    expect(readUsage(whole)?.counts).toEqual({ ...plain, otherTokens: { cacheWrite: 5_000 } });
  });

  it.each<[string, Record<string, unknown>, Record<string, number>]>([
    ["more cached than input", { prompt_tokens_details: { cached_tokens: 99 } }, { inputTokensCached: 10 }],
    ["a negative count", { completion_tokens: -5 }, { outputTokens: 0 }],
    ["a fraction", { completion_tokens: 2.5 }, { outputTokens: 3 }],
    ["a count in a string", { completion_tokens: "7" }, { outputTokens: 7 }],
    ["a count beyond every integer", { completion_tokens: 2 ** 63 }, { outputTokens: MAX_COUNT }],
    ["more picture than output", { completion_tokens_details: { image_tokens: 50 } }, { outputTokens: 0 }],
  ])("flags %s", (_name, lie, counts) => {
    const reading = readUsage({ prompt_tokens: 10, completion_tokens: 20, ...lie });
    expect(reading?.counts).toMatchObject(counts);
    expect(reading?.rules).toContain("impossible_count");
  });

  it("reports a total that is less than its parts", () => {
    const reading = readUsage({ prompt_tokens: 10, completion_tokens: 20, total_tokens: 12 });
    expect(reading?.counts).toEqual({ inputTokensUncached: 10, inputTokensCached: 0, outputTokens: 20 });
    expect(reading?.rules).toEqual(["total_below_parts"]);
  });
});

describe("the split of what was written to the cache", () => {
  const write = { input_tokens: 4, cache_creation_input_tokens: 6, output_tokens: 3 };
  it("divides the count and never adds to it", () => {
    const usage = { ...write, cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1e300 } };
    expect(readUsage(usage)?.counts).toEqual({
      inputTokensUncached: 4,
      inputTokensCached: 0,
      outputTokens: 3,
      otherTokens: { cacheWrite1h: 6 },
    });
  });

  it("is the count where there is no other", () => {
    const usage = { ...write, cache_creation_input_tokens: 0, cache_creation: { ephemeral_5m_input_tokens: 2 } };
    expect(readUsage({ ...usage, cache_read_input_tokens: 0 })?.counts.otherTokens).toEqual({ cacheWrite: 2 });
  });
});
