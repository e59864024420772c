import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf } from "./cost.ts";

const RUNS = 10_000;
const tokens = fc.record({
  inputTokensUncached: fc.nat({ max: 2_147_483_647 }),
  inputTokensCached: fc.nat({ max: 2_147_483_647 }),
  outputTokens: fc.nat({ max: 2_147_483_647 }),
});
const price = fc.bigInt({ min: 0n, max: 1_000_000_000_000_000n });
const prices = fc.record({ input: price, output: price, cacheHit: fc.option(price) });

/** A fraction kept as numerator and denominator: adds by cross-multiplication, so that nothing is rounded on the way. */
function addFractions(fractions: readonly (readonly [bigint, bigint])[]): readonly [bigint, bigint] {
  return fractions.reduce(([a, b], [c, d]) => [a * d + c * b, b * d] as const, [0n, 1n] as const);
}

describe("costOf", () => {
  it("is the least whole micro-rupiah that is not below the exact rational cost", () => {
    fc.assert(
      fc.property(tokens, prices, (counts, snapshot) => {
        const [numerator, denominator] = addFractions([
          [BigInt(counts.inputTokensUncached) * snapshot.input, 1_000_000n],
          [BigInt(counts.inputTokensCached) * (snapshot.cacheHit ?? snapshot.input), 1_000_000n],
          [BigInt(counts.outputTokens) * snapshot.output, 1_000_000n],
        ]);
        const cost = costOf(counts, snapshot);
        return cost * denominator >= numerator && (cost === 0n || (cost - 1n) * denominator < numerator);
      }),
      { numRuns: RUNS },
    );
  });

  it("rounds once: three parts of a third of a micro-rupiah each cost one, not three", () => {
    const counts = { inputTokensUncached: 1, inputTokensCached: 1, outputTokens: 1 };
    expect(costOf(counts, { input: 333_333n, output: 333_333n, cacheHit: 333_333n })).toBe(1n);
  });

  it.each([
    ["10 %", 500_000_000n, 10_050_000n],
    ["19 %", 950_000_000n, 10_095_000n],
    ["25 %", 1_250_000_000n, 10_125_000n],
  ])("bills 100 cached tokens at the cache-hit price of %s of the input price", (_percent, cacheHit, expected) => {
    const counts = { inputTokensUncached: 500, inputTokensCached: 100, outputTokens: 500 };
    expect(costOf(counts, { input: 5_000_000_000n, output: 15_000_000_000n, cacheHit })).toBe(expected);
  });

  it("bills cached tokens as input where the model has no cache-hit price", () => {
    const counts = { inputTokensUncached: 0, inputTokensCached: 1_000_000, outputTokens: 0 };
    expect(costOf(counts, { input: 7n, output: 0n, cacheHit: null })).toBe(7n);
  });

  it("is nothing for no tokens or no price", () => {
    const none = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };
    expect(costOf(none, { input: 9n, output: 9n, cacheHit: null })).toBe(0n);
    expect(costOf({ ...none, outputTokens: 1_000 }, { input: 0n, output: 0n, cacheHit: null })).toBe(0n);
  });
});
