import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  LongContextPrices,
  OtherPrices,
  OtherTokens,
  PriceSnapshot,
  TokenCounts,
} from "../kernel/token-prices.ts";
import { costOf, inputTokensOf, outputTokensOf } from "./cost.ts";

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

const count = fc.oneof(fc.nat({ max: 300_000 }), fc.nat({ max: 2_147_483_647 }));
const otherTokens: fc.Arbitrary<OtherTokens> = fc.record(
  { cacheWrite: count, cacheWrite1h: count, audioInput: count, imageInput: count, imageOutput: count },
  { requiredKeys: [] },
);
const kindsOfTokens = fc.record({
  inputTokensUncached: count,
  inputTokensCached: count,
  outputTokens: count,
  otherTokens: fc.option(otherTokens),
});
const tiers = fc
  .uniqueArray(
    fc.record(
      {
        above: fc.oneof(fc.nat({ max: 1_000_000 }), fc.nat({ max: 100_000_000 })),
        input: price,
        output: price,
        cacheHit: fc.option(price),
        cacheWrite: price,
        cacheWrite1h: price,
      },
      { requiredKeys: ["above", "input", "output", "cacheHit"] },
    ),
    { selector: ({ above }) => above, maxLength: 4 },
  )
  .map((list): LongContextPrices[] => list.toSorted((one, next) => one.above - next.above));
const otherPrices: fc.Arbitrary<OtherPrices> = fc.record(
  {
    cacheWrite: price,
    cacheWrite1h: price,
    audioInput: price,
    imageInput: price,
    imageOutput: price,
    perRequest: price,
    longContext: tiers,
  },
  { requiredKeys: [] },
);
const kindsOfPrices = fc.record({
  input: price,
  output: price,
  cacheHit: fc.option(price),
  other: fc.option(otherPrices),
});

/** The price of a request per kind, computed in a second way: the tier first, then what a kind falls back to. */
function oraclePrices({ input, output, cacheHit, other }: PriceSnapshot, inputTokens: number) {
  let ofTier: bigint | undefined;
  let base: Omit<LongContextPrices, "above"> = {
    input,
    output,
    cacheHit,
    ...(other?.cacheWrite === undefined ? {} : { cacheWrite: other.cacheWrite }),
  };
  for (const tier of other?.longContext ?? []) {
    if (tier.above >= inputTokens) continue;
    base = tier;
    ofTier = tier.cacheWrite1h;
  }
  const writes = base.cacheWrite ?? base.input;
  return {
    inputTokensUncached: base.input,
    inputTokensCached: base.cacheHit ?? base.input,
    outputTokens: base.output,
    cacheWrite: writes,
    cacheWrite1h:
      ofTier ?? (other?.cacheWrite1h !== undefined && other.cacheWrite1h > writes ? other.cacheWrite1h : writes),
    audioInput: other?.audioInput ?? base.input,
    imageInput: other?.imageInput ?? base.input,
    imageOutput: other?.imageOutput ?? base.output,
  };
}

describe("costOf tokens and prices of every kind", () => {
  it("is the least whole micro-rupiah that is not below the exact rational cost, and the price of the request", () => {
    fc.assert(
      fc.property(kindsOfTokens, kindsOfPrices, (counts, snapshot) => {
        const { otherTokens: others, ...plain } = counts;
        const all: Record<string, number> = { ...plain, ...others };
        const total = Object.values(all).reduce((sum, each) => sum + each, 0);
        const output = plain.outputTokens + (others?.imageOutput ?? 0);
        expect([inputTokensOf(counts), outputTokensOf(counts)]).toEqual([total - output, output]);
        const used = oraclePrices(snapshot, total - output);
        const [numerator, denominator] = addFractions(
          Object.entries(used).map(([kind, each]) => [BigInt(all[kind] ?? 0) * each, 1_000_000n] as const),
        );
        const perRequest = total === 0 ? 0n : (snapshot.other?.perRequest ?? 0n);
        const cost = costOf(counts, snapshot) - perRequest;
        expect(cost * denominator).toBeGreaterThanOrEqual(numerator);
        expect(cost === 0n || (cost - 1n) * denominator < numerator).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  const rupiah = (whole: number) => BigInt(whole) * 1_000_000n;
  const base: PriceSnapshot = { input: rupiah(1_000), output: rupiah(5_000), cacheHit: rupiah(100) };
  const NONE: TokenCounts = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: 0 };
  /** The cost of a million tokens of one kind, in rupiah. */
  const costOfKind = (kind: keyof OtherTokens, other: OtherPrices | null) =>
    costOf({ ...NONE, otherTokens: { [kind]: 1_000_000 } }, { ...base, other }) / 1_000_000n;

  it.each([
    ["cacheWrite", null, 1_000n],
    ["cacheWrite", { cacheWrite: rupiah(1_250) }, 1_250n],
    ["cacheWrite", { cacheWrite: rupiah(1_250), cacheWrite1h: rupiah(2_000) }, 1_250n],
    ["cacheWrite1h", null, 1_000n],
    ["cacheWrite1h", { cacheWrite: rupiah(1_250) }, 1_250n],
    ["cacheWrite1h", { cacheWrite: rupiah(1_250), cacheWrite1h: rupiah(2_000) }, 2_000n],
    ["audioInput", null, 1_000n],
    ["audioInput", { audioInput: rupiah(3_000) }, 3_000n],
    ["audioInput", { audioInput: 0n }, 0n],
    ["imageInput", { audioInput: rupiah(3_000) }, 1_000n],
    ["imageInput", { imageInput: rupiah(700) }, 700n],
    ["imageOutput", null, 5_000n],
    ["imageOutput", { imageOutput: rupiah(60_000) }, 60_000n],
  ] as const)(
    "charges a million of %s with %o as it is priced, or as what it falls back to",
    (kind, other, expected) => {
      expect(costOfKind(kind, other)).toBe(expected);
    },
  );

  it("charges a whole request at the tier that its input exceeds, cached and written input included", () => {
    const tier = (above: number, times: bigint): LongContextPrices => ({
      above,
      input: base.input * times,
      output: base.output * times,
      cacheHit: rupiah(100) * times,
      cacheWrite: rupiah(1_250) * times,
    });
    const tiered: PriceSnapshot = {
      ...base,
      other: { cacheWrite: rupiah(1_250), longContext: [tier(200_000, 2n), tier(400_000, 4n)] },
    };
    const costAt = (input: number) =>
      costOf(
        {
          inputTokensUncached: input - 150_000,
          inputTokensCached: 100_000,
          outputTokens: 10_000,
          otherTokens: { cacheWrite: 50_000 },
        },
        tiered,
      );
    const atBase = (input: number) => rupiah(input - 150_000) / 1_000n + rupiah(10) + rupiah(125) / 2n + rupiah(50);
    expect(costAt(200_000)).toBe(atBase(200_000));
    expect(costAt(200_001)).toBe(atBase(200_001) * 2n);
    expect(costAt(400_000)).toBe(atBase(400_000) * 2n);
    expect(costAt(400_001)).toBe(atBase(400_001) * 4n);
  });

  it("does not let output lift a request over a threshold", () => {
    const longContext = [{ above: 1_000, input: rupiah(9_000), output: rupiah(9_000), cacheHit: null }];
    const counts = { ...NONE, inputTokensUncached: 1_000, outputTokens: 1_000_000 };
    expect(costOf(counts, { ...base, other: { longContext } })).toBe(rupiah(1) + rupiah(5_000));
  });

  it("charges in a tier what it leaves out as its input, and one-hour writes no less than others", () => {
    const other = {
      cacheWrite: rupiah(1_250),
      cacheWrite1h: rupiah(2_000),
      longContext: [{ above: 10, input: rupiah(3_000), output: rupiah(9_000), cacheHit: null }],
    };
    const million = 1_000_000;
    const cached = { ...NONE, inputTokensCached: million };
    expect(costOf(cached, { ...base, other })).toBe(rupiah(3_000));
    expect(costOfKind("cacheWrite", other)).toBe(3_000n);
    expect(costOfKind("cacheWrite1h", other)).toBe(3_000n);
  });

  it("charges one-hour writes in a tier at its own price for them", () => {
    const tier = { above: 10, input: rupiah(3_000), output: rupiah(9_000), cacheHit: null, cacheWrite: rupiah(3_750) };
    const writes = { cacheWrite: rupiah(1_250), cacheWrite1h: rupiah(2_000) };
    expect(costOfKind("cacheWrite1h", { ...writes, longContext: [tier] })).toBe(3_750n);
    const longContext = [{ ...tier, cacheWrite1h: rupiah(6_000) }];
    expect(costOfKind("cacheWrite1h", { ...writes, longContext })).toBe(6_000n);
    expect(costOfKind("cacheWrite", { ...writes, longContext })).toBe(3_750n);
  });

  it("charges the price of a request once, and not for a request without tokens", () => {
    const other = { perRequest: 7n };
    expect(costOf({ ...NONE, outputTokens: 1 }, { ...base, other })).toBe(5_000n + 7n);
    expect(costOf({ ...NONE, otherTokens: { imageOutput: 1 } }, { ...base, other })).toBe(5_000n + 7n);
    expect(costOf({ ...NONE, inputTokensCached: 1 }, { ...base, other })).toBe(100n + 7n);
    expect(costOf(NONE, { ...base, other })).toBe(0n);
    expect(costOf({ ...NONE, otherTokens: {} }, { ...base, other })).toBe(0n);
  });
});
