import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costOf, inputTokensOf, outputTokensOf, type TokenCounts } from "../../billing/cost.ts";
import type { MediaModality } from "../../catalog/catalog-model.ts";
import type { LongContextPrices, OtherPrices, PriceSnapshot } from "../../kernel/token-prices.ts";
import { type HeldInput, holdRates, mostCost, outputWithin } from "./hold-rates.ts";

const price = fc.oneof(
  fc.constant(0n),
  fc.bigInt({ min: 0n, max: 100_000_000n }),
  fc.bigInt({ min: 0n, max: 10n ** 15n }),
);
const tiers: fc.Arbitrary<LongContextPrices[]> = fc
  .uniqueArray(
    fc.record(
      {
        above: fc.integer({ min: 1, max: 2_000_000 }),
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
  .map((list) => list.toSorted((one, next) => one.above - next.above));
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
const prices = fc.record({
  input: price,
  output: price,
  cacheHit: fc.option(price),
  other: fc.option(otherPrices),
});

const count = fc.integer({ min: 0, max: 1_500_000 });
const inputs: fc.Arbitrary<HeldInput> = fc
  .record({
    text: count,
    image: count,
    audio: count,
    video: count,
    cut: fc.double({ min: 0, max: 1, noNaN: true }),
    writesForLong: fc.boolean(),
  })
  .map(({ text, image, audio, video, cut, writesForLong }) => {
    const media: [MediaModality, number][] = [
      ["image", image],
      ["audio", audio],
      ["video", video],
    ];
    // A context window may take less than all of it.
    return { text, media, tokens: Math.ceil((text + image + audio + video) * cut), writesForLong };
  });

const share = fc.double({ min: 0, max: 1, noNaN: true });
const shares = fc.array(share, { minLength: 10, maxLength: 10 });
/** Counts that a request with such an input can have: no kind has more tokens than were held for it. */
function countsWithin(input: HeldInput, outputTokens: number, drawn: readonly number[]): TokenCounts {
  const [video = 0, ...of] = drawn;
  const held = { text: input.text, ...Object.fromEntries(input.media) } as Record<MediaModality | "text", number>;
  let left = input.tokens;
  const take = (most: number, part: number | undefined): number => {
    const taken = Math.min(left, Math.floor(most * (part ?? 0)));
    left -= taken;
    return taken;
  };
  const videoAsImages = Math.floor(held.video * video);
  // Each kind comes first at some draws, so that none is always cut short by the others.
  const kinds = {
    imageInput: () => take(held.image + videoAsImages, of[0]),
    audioInput: () => take(held.audio + held.video - videoAsImages, of[1]),
    inputTokensCached: () => take(held.text, (of[2] ?? 0) / 4),
    cacheWrite: () => take(held.text, (of[3] ?? 0) / 4),
    cacheWrite1h: () => (input.writesForLong ? take(held.text, (of[4] ?? 0) / 4) : 0),
    inputTokensUncached: () => take(held.text, (of[5] ?? 0) / 4),
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const first = Math.floor((of[6] ?? 0) * names.length);
  const taken: { -readonly [Name in keyof typeof kinds]?: number } = {};
  for (const name of [...names.slice(first), ...names.slice(0, first)]) taken[name] = kinds[name]();
  const imageOutput = Math.floor(outputTokens * (of[7] ?? 0));
  const { inputTokensUncached = 0, inputTokensCached = 0, ...otherTokens } = taken;
  return {
    inputTokensUncached,
    inputTokensCached,
    outputTokens: outputTokens - imageOutput,
    otherTokens: { ...otherTokens, imageOutput },
  };
}

const rupiah = (whole: number) => BigInt(whole) * 1_000_000n;
const PLAIN: PriceSnapshot = { input: rupiah(1), output: rupiah(5), cacheHit: null };
const TEXT: HeldInput = { tokens: 1_000, text: 1_000, media: [], writesForLong: false };
const held = (other: OtherPrices | null, input: Partial<HeldInput> = {}, outputTokens = 0): bigint =>
  mostCost(holdRates({ ...PLAIN, other }, { ...TEXT, ...input }), outputTokens);

describe("the most a request can cost", () => {
  it("is never below what any request within its estimate costs", () => {
    fc.assert(
      fc.property(prices, inputs, fc.nat({ max: 300_000 }), share, shares, (given, input, output, written, drawn) => {
        const rates = holdRates(given, input);
        const counts = countsWithin(input, Math.floor(output * written), drawn);
        expect(inputTokensOf(counts)).toBeLessThanOrEqual(input.tokens);
        expect(outputTokensOf(counts)).toBeLessThanOrEqual(output);
        expect(costOf(counts, given)).toBeLessThanOrEqual(mostCost(rates, output));
      }),
      { numRuns: 10_000 },
    );
  });

  it("is what the dearest of these requests costs, where nothing was cut", () => {
    fc.assert(
      fc.property(prices, inputs, fc.nat({ max: 300_000 }), (given, { writesForLong, text }, output) => {
        const rates = holdRates(given, { text, tokens: text, media: [], writesForLong });
        // Of text alone, at the length of each tier's end, in the one kind that is dearest there.
        const lengths = [text, ...(given.other?.longContext ?? []).map(({ above }) => Math.min(above, text))];
        const costs = lengths.flatMap((length) =>
          (["inputTokensUncached", "inputTokensCached", "cacheWrite", "cacheWrite1h"] as const).flatMap((kind) =>
            kind === "cacheWrite1h" && !writesForLong
              ? []
              : [0, output].map((imageOutput) => costOf(countsOf(kind, length, output, imageOutput), given)),
          ),
        );
        const dearest = costs.reduce((most, cost) => (cost > most ? cost : most), 0n);
        // Nothing at all is free; a request that is planned for has its price.
        fc.pre(text > 0);
        expect(mostCost(rates, output)).toBe(dearest);
      }),
      { numRuns: 5_000 },
    );
  });

  it("and the output that an amount covers are inverses of each other", () => {
    const amounts = fc.bigInt({ min: 0n, max: 10n ** 18n });
    fc.assert(
      fc.property(prices, inputs, fc.nat({ max: 2_147_483_647 }), amounts, (given, input, output, amount) => {
        const rates = holdRates(given, input);
        fc.pre(rates.rates.some(({ perOutput }) => perOutput > 0n));
        expect(outputWithin(rates, mostCost(rates, output))).toBeGreaterThanOrEqual(BigInt(output));
        const within = outputWithin(rates, amount) ?? 0n;
        fc.pre(within > 0n && within < 2n ** 31n);
        // Rates whose output is free cannot be paid for with less output.
        const charged = { ...rates, rates: rates.rates.filter(({ perOutput }) => perOutput > 0n) };
        expect(mostCost(charged, Number(within))).toBeLessThanOrEqual(amount);
        expect(mostCost(charged, Number(within) + 1)).toBeGreaterThan(amount);
      }),
      { numRuns: 10_000 },
    );
  });

  it("takes the dearest of reading the cache and writing to it, for an hour only where the body asks for it", () => {
    expect(held(null)).toBe(1_000n);
    expect(held({ cacheWrite: 1_250_000n })).toBe(1_250n);
    expect(held({ cacheWrite: 1_250_000n, cacheWrite1h: rupiah(2) })).toBe(1_250n);
    expect(held({ cacheWrite: 1_250_000n, cacheWrite1h: rupiah(2) }, { writesForLong: true })).toBe(2_000n);
  });

  it("takes the prices of sound and pictures for their own tokens alone", () => {
    const other = { audioInput: rupiah(10), imageInput: rupiah(3) };
    expect(held(other)).toBe(1_000n);
    expect(held(other, { text: 700, media: [["image", 300]] })).toBe(700n + 900n);
    expect(held(other, { text: 700, media: [["audio", 300]] })).toBe(700n + 3_000n);
    expect(held(other, { text: 700, media: [["video", 300]] })).toBe(700n + 3_000n);
    // What the context window cuts off is the cheapest.
    expect(held(other, { text: 1_000, media: [["image", 300]], tokens: 1_000 })).toBe(700n + 900n);
  });

  it("takes the prices of a tier only where the estimate exceeds its threshold", () => {
    const tier = { input: rupiah(2), output: rupiah(9), cacheHit: null };
    expect(held({ longContext: [{ above: 1_000, ...tier }] }, {}, 10)).toBe(1_000n + 50n);
    expect(held({ longContext: [{ above: 999, ...tier }] }, {}, 10)).toBe(2_000n + 90n);
    // A long input that gets cheaper can cost most just below the threshold.
    const cheaper = { above: 800, input: 1n, output: rupiah(9), cacheHit: null };
    expect(held({ longContext: [cheaper] })).toBe(800n);
    expect(held({ longContext: [cheaper] }, {}, 1_000)).toBe(9_001n);
  });

  it("adds the price of the request, and takes pictures for output where they have a price", () => {
    expect(held({ perRequest: 77n }, {}, 10)).toBe(1_000n + 50n + 77n);
    expect(held({ imageOutput: rupiah(40) }, {}, 10)).toBe(1_000n + 400n);
    expect(outputWithin(holdRates({ ...PLAIN, other: { perRequest: 77n } }, TEXT), 1_076n)).toBe(0n);
    expect(outputWithin(holdRates({ ...PLAIN, other: { perRequest: 77n } }, TEXT), 1_082n)).toBe(1n);
  });

  it("has one rate where no length of the input changes which is dearest", () => {
    const tier = { above: 500, input: rupiah(2), output: rupiah(9), cacheHit: null };
    const ratesOf = (longContext: LongContextPrices[]) =>
      holdRates({ ...PLAIN, other: { longContext } }, TEXT).rates.length;
    expect(ratesOf([tier])).toBe(1);
    expect(ratesOf([tier, { ...tier, above: 700 }])).toBe(1);
    expect(ratesOf([{ ...tier, output: rupiah(1) }])).toBe(2);
  });
});

function countsOf(
  kind: "inputTokensUncached" | "inputTokensCached" | "cacheWrite" | "cacheWrite1h",
  length: number,
  output: number,
  imageOutput: number,
): TokenCounts {
  const none = { inputTokensUncached: 0, inputTokensCached: 0, outputTokens: output - imageOutput };
  return kind === "cacheWrite" || kind === "cacheWrite1h"
    ? { ...none, otherTokens: { [kind]: length, imageOutput } }
    : { ...none, [kind]: length, otherTokens: { imageOutput } };
}
