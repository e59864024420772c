// Random usage objects of every family against what was relayed: what a request is billed is held between both.

import { CHAT_FORMAT } from "../formats/chat/chat-format.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, inputTokensOf, outputTokensOf } from "../../billing/cost.ts";
import type { PriceSnapshot } from "../../kernel/token-prices.ts";
import { type MeterFacts, meter } from "./meter.ts";
import { readUsage } from "./read-usage.ts";
import { UsageSeen } from "./usage-seen.ts";

const RUNS = 10_000;
const PRICES: PriceSnapshot = { input: 5_000_000_000n, output: 15_000_000_000n, cacheHit: 950_000_000n };
const ALL_PRICES: PriceSnapshot = {
  ...PRICES,
  other: {
    cacheWrite: 6_250_000_000n,
    cacheWrite1h: 10_000_000_000n,
    audioInput: 20_000_000_000n,
    imageInput: 7_000_000_000n,
    imageOutput: 120_000_000_000n,
    longContext: [{ above: 50_000, input: 10_000_000_000n, output: 22_500_000_000n, cacheHit: null }],
  },
};
/** The tolerance: an upstream's count is used down to half of ours, and to 64 tokens below it. */
const leastOf = (relayed: number): number => Math.max(0, Math.min(relayed / 2, relayed - 64));

const NOTHING = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };

const count = fc.oneof(
  fc.nat({ max: 100 }),
  fc.nat({ max: 200_000 }),
  fc.constantFrom<unknown>(0, -3, 2.5, "7", null, undefined, 2 ** 63, Number.NaN),
);
const maybe = (members: Record<string, fc.Arbitrary<unknown>>) => fc.record(members, { requiredKeys: [] });
const details = maybe({ cached_tokens: count, cache_write_tokens: count, audio_tokens: count, image_tokens: count });
const written = maybe({ reasoning_tokens: count, image_tokens: count });
const FAMILIES: Record<string, fc.Arbitrary<unknown>> = {
  openai: maybe({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: count,
    prompt_tokens_details: details,
    completion_tokens_details: written,
  }),
  responses: maybe({ input_tokens: count, output_tokens: count, total_tokens: count, input_tokens_details: details }),
  gemini: maybe({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
  anthropic: maybe({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    cache_creation: maybe({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
  }),
  mixed: maybe({
    prompt_tokens: count,
    completion_tokens: count,
    input_tokens: count,
    total_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    prompt_tokens_details: details,
  }),
  deepseek: maybe({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_cache_hit_tokens: count,
    prompt_cache_miss_tokens: count,
  }),
  moonshot: maybe({ prompt_tokens: count, completion_tokens: count, cached_tokens: count }),
  mistral: maybe({ prompt_tokens: count, total_tokens: count, completion_tokens: count, prompt_audio_seconds: count }),
  openrouter: maybe({
    prompt_tokens: count,
    completion_tokens: count,
    cost: count,
    completion_tokens_details: written,
  }),
};

const play = fc.record({
  usage: fc.oneof(...Object.values(FAMILIES)),
  isComplete: fc.boolean(),
  isStale: fc.boolean(),
  relayed: fc.oneof(fc.nat({ max: 200 }), fc.nat({ max: 100_000 })),
  bound: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 65_536 })),
  inputBound: fc.integer({ min: 10, max: 1_000_000 }),
  ownInput: fc.integer({ min: 1, max: 200_000 }),
  cached: fc.nat({ max: 200_000 }),
});

async function meterOf(played: typeof play extends fc.Arbitrary<infer Played> ? Played : never) {
  const { usage, isComplete, isStale, relayed, bound, inputBound, ownInput, cached } = played;
  const seen = UsageSeen.of(usage, CHAT_FORMAT);
  if (isStale) seen.outputFollowed();
  const facts: MeterFacts = {
    bounds: { input: inputBound, output: bound },
    isComplete,
    relayed: {
      // As in a stream of words: more than twice as much is counted.
      mayExceedTwice: (tokens) => relayed > 2 * tokens,
      estimateTokens: () => Promise.resolve(relayed),
      estimateMediaTokens: () => Promise.resolve(0),
    },
    estimateInput: () => Promise.resolve(ownInput),
    assumeCached: () => cached,
  };
  return meter(seen, facts);
}

describe("what is billed, of random usage objects of every family", () => {
  it("is no less than the price of what was relayed, but for what two tokenizers differ", async () => {
    await fc.assert(
      fc.asyncProperty(play, async (played) => {
        const { counts } = await meterOf(played);
        const least = leastOf(played.relayed);
        const price = costOf({ ...NOTHING, outputTokens: Math.floor(least) }, PRICES);
        return outputTokensOf(counts) >= least && costOf(counts, PRICES) >= price;
      }),
      { numRuns: RUNS },
    );
  });

  it("is no more than its bounds, or what was relayed where that is more", async () => {
    await fc.assert(
      fc.asyncProperty(play, async (played) => {
        const { counts } = await meterOf(played);
        const most = Math.max(played.bound, played.relayed);
        return inputTokensOf(counts) <= played.inputBound && outputTokensOf(counts) <= most && isWhole(counts);
      }),
      { numRuns: RUNS },
    );
  });

  it("has disjoint counts that add up to the total, where the parts of an honest object do", async () => {
    const honest = fc.record({
      input: fc.nat({ max: 90_000 }),
      cached: fc.nat(),
      output: fc.integer({ min: 1, max: 9_000 }),
    });
    await fc.assert(
      fc.asyncProperty(honest, fc.constantFrom(...HONEST), async ({ input, cached, output }, make) => {
        const read = input === 0 ? 0 : cached % (input + 1);
        const usage = make({ input: input + 1, cached: read, output });
        const counts = readUsage(usage)?.counts;
        return counts !== undefined && inputTokensOf(counts) + outputTokensOf(counts) === input + 1 + output;
      }),
      { numRuns: RUNS },
    );
  });

  it("estimated, costs no more than the complete answer could", async () => {
    await fc.assert(
      fc.asyncProperty(play, async (played) => {
        const { counts, isEstimated, metering } = await meterOf({ ...played, isComplete: false });
        const dearest = { inputTokensUncached: played.inputBound, inputTokensCached: 0, outputTokens: 0 };
        const output = Math.max(played.bound, played.relayed);
        const hasOnlyPlainInput = Object.keys(counts.otherTokens ?? {}).every((kind) => kind === "imageOutput");
        const complete = costOf({ ...dearest, outputTokens: output }, PRICES);
        return isEstimated && metering !== null && (!hasOnlyPlainInput || costOf(counts, PRICES) <= complete);
      }),
      { numRuns: RUNS },
    );
  });

  it("never loses the operator less than nothing, and nothing that was billed", async () => {
    await fc.assert(
      fc.asyncProperty(play, async (played) => {
        const { counts, chargedCounts } = await meterOf(played);
        const [cost, charged] = [costOf(counts, ALL_PRICES), costOf(chargedCounts, ALL_PRICES)];
        return cost >= 0n && (counts === chargedCounts || isWhole(chargedCounts)) && charged < 2n ** 62n;
      }),
      { numRuns: RUNS },
    );
  });

  it("is the report itself, and nothing is counted, where the report is plausible", async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 };
    const facts: MeterFacts = {
      bounds: { input: 1_000, output: 200 },
      isComplete: true,
      relayed: {
        mayExceedTwice: () => false,
        estimateTokens: () => Promise.reject(new Error("it was counted")),
        estimateMediaTokens: () => Promise.reject(new Error("it was counted")),
      },
      estimateInput: () => Promise.reject(new Error("it was counted")),
      assumeCached: () => 99,
    };
    const metered = await meter(UsageSeen.of(usage, CHAT_FORMAT), facts);
    expect(metered).toMatchObject({ isEstimated: false, clamped: false, metering: null, isAsReported: true });
    expect(metered.counts).toEqual({ inputTokensUncached: 100, inputTokensCached: 0, outputTokens: 50 });
    expect(metered.chargedCounts).toBe(metered.counts);
  });
});

describe("an answer that broke off", () => {
  const facts = (relayed: number): MeterFacts => ({
    bounds: { input: 200_000, output: 4_096 },
    isComplete: false,
    relayed: {
      mayExceedTwice: () => true,
      estimateTokens: () => Promise.resolve(relayed),
      estimateMediaTokens: () => Promise.resolve(0),
    },
    estimateInput: () => Promise.resolve(101_273),
    assumeCached: () => 80_000,
  });

  it("keeps the prompt side that any chunk has reported", async () => {
    const usage = { prompt_tokens: 90_000, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 88_000 } };
    const seen = UsageSeen.of(usage, CHAT_FORMAT);
    seen.outputFollowed();
    const { counts, metering } = await meter(seen, facts(20));
    expect(counts).toEqual({ inputTokensUncached: 2_000, inputTokensCached: 88_000, outputTokens: 20 });
    expect(metering?.rules).toEqual(["output_estimated"]);
  });

  it("takes the last prompt for cached where a chunk has reported the prompt alone", async () => {
    const seen = UsageSeen.of({ prompt_tokens: 90_000, completion_tokens: 900, total_tokens: 90_900 }, CHAT_FORMAT);
    const { counts, metering } = await meter(seen, facts(20));
    // What it had written before is the least, though less of it was shown.
    expect(counts).toEqual({ inputTokensUncached: 10_000, inputTokensCached: 80_000, outputTokens: 900 });
    expect(metering?.rules).toEqual(["cached_assumed", "output_estimated"]);
  });

  it("is counted by us where nothing was reported", async () => {
    const { counts, metering } = await meter({ usage: null, isStale: false, reader: CHAT_FORMAT }, facts(20));
    expect(counts).toEqual({ inputTokensUncached: 21_273, inputTokensCached: 80_000, outputTokens: 20 });
    expect(metering?.rules).toEqual(["input_estimated", "cached_assumed", "output_estimated"]);
  });
});

/** Usage objects in which the parts are in the totals, as each family writes them. */
const HONEST = [
  ({ input, cached, output }: Honest) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  }),
  ({ input, cached, output }: Honest) => ({
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
  }),
  ({ input, output }: Honest) => ({ prompt_tokens: input, completion_tokens: 0, total_tokens: input + output }),
  ({ input, cached, output }: Honest) => ({
    prompt_tokens: input,
    completion_tokens: output,
    prompt_cache_hit_tokens: cached,
    prompt_cache_miss_tokens: input - cached,
  }),
  ({ input, cached, output }: Honest) => ({ prompt_tokens: input, completion_tokens: output, cached_tokens: cached }),
];
type Honest = { readonly input: number; readonly cached: number; readonly output: number };

function isWhole({ otherTokens, ...plain }: Awaited<ReturnType<typeof meter>>["counts"]): boolean {
  const all = [...Object.values(plain), ...Object.values(otherTokens ?? {})];
  return all.every((tokens) => Number.isInteger(tokens) && tokens >= 0 && tokens <= 2_147_483_647);
}
