import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf } from "../billing/cost.ts";
import { readUsage } from "./usage.ts";

const BOUNDS = { input: 1_000, output: 500 };
const anything = fc.oneof(
  fc.anything(),
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.string(),
  fc.constant(Number.NaN),
  fc.constant(Infinity),
);

describe("readUsage", () => {
  it("makes whole counts within the bounds of whatever an upstream says, or none", () => {
    const usage = fc.record(
      {
        prompt_tokens: anything,
        completion_tokens: anything,
        total_tokens: anything,
        prompt_tokens_details: fc.oneof(anything, fc.record({ cached_tokens: anything })),
        completion_tokens_details: fc.oneof(anything, fc.record({ reasoning_tokens: anything })),
        prompt_cache_hit_tokens: anything,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(usage, anything), (said) => {
        const reading = readUsage(said, BOUNDS);
        if (reading === null) return true;
        const { inputTokensUncached, inputTokensCached, outputTokens } = reading.counts;
        const counts = [inputTokensUncached, inputTokensCached, outputTokens];
        return (
          counts.every((count) => Number.isInteger(count) && count >= 0 && !Object.is(count, -0)) &&
          inputTokensUncached + inputTokensCached <= BOUNDS.input &&
          outputTokens <= BOUNDS.output
        );
      }),
      { numRuns: 10_000 },
    );
  });

  it("bills cached tokens as a part of the input and not beside it", () => {
    const many = { input: 2_147_483_647, output: 2_147_483_647 };
    const count = fc.nat({ max: many.input });
    const price = fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n });
    fc.assert(
      fc.property(count, count, count, price, price, price, (one, other, written, input, output, cacheHit) => {
        const [cached, prompt] = [Math.min(one, other), Math.max(one, other)];
        const told = {
          prompt_tokens: prompt,
          completion_tokens: written,
          prompt_tokens_details: { cached_tokens: cached },
        };
        const reading = readUsage(told, many);
        // The whole prompt at the input price, less what the cached part of it is cheaper: a fraction of a million.
        const millionths = BigInt(prompt) * input - BigInt(cached) * (input - cacheHit) + BigInt(written) * output;
        const cost = reading === null ? -1n : costOf(reading.counts, { input, output, cacheHit });
        return reading?.clamped === false && cost * 1_000_000n >= millionths && (cost - 1n) * 1_000_000n < millionths;
      }),
      { numRuns: 10_000 },
    );
  });

  it("takes reasoning as part of the completion, unless the total shows it was counted beside it", () => {
    const usage = { prompt_tokens: 10, completion_tokens: 20, completion_tokens_details: { reasoning_tokens: 5 } };
    expect(readUsage({ ...usage, total_tokens: 30 }, BOUNDS)?.counts.outputTokens).toBe(20);
    expect(readUsage({ ...usage, total_tokens: 35 }, BOUNDS)?.counts.outputTokens).toBe(25);
  });
});
