// The result of the dashboard's calculator equals the bill, for tokens and prices of every kind.

import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ModelPricingSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import { costOf } from "../../src/billing/cost.ts";
import { formatPrice, showPrices } from "../../src/catalog/prices.ts";
import { priceOf } from "../../src/dashboard/pages/models/price-of.ts";
import type { LongContextPrices, OtherPrices } from "../../src/kernel/token-prices.ts";

const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
const count = fc.integer({ min: 0, max: 500_000 });
const tiers = fc
  .uniqueArray(
    fc.record(
      {
        above: fc.integer({ min: 1, max: 1_000_000 }),
        input: price,
        output: price,
        cacheHit: fc.option(price),
        cacheWrite: price,
      },
      { requiredKeys: ["above", "input", "output", "cacheHit"] },
    ),
    { selector: ({ above }) => above, maxLength: 3 },
  )
  .map((list): LongContextPrices[] => list.toSorted((one, next) => one.above - next.above));
const other: fc.Arbitrary<OtherPrices> = fc.record(
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
const prices = fc.record({ input: price, output: price, cacheHit: fc.option(price), other: fc.option(other) });
const tokens = fc.record({
  input: count,
  cached: count,
  output: count,
  cacheWrite: count,
  cacheWrite1h: count,
  audioInput: count,
  imageInput: count,
  imageOutput: count,
});

test("the calculator's result equals the bill, to the millionth of a rupiah", () => {
  fc.assert(
    fc.property(prices, tokens, (given, { input, cached, output, ...otherTokens }) => {
      const counts = { inputTokensUncached: input, inputTokensCached: cached, outputTokens: output, otherTokens };
      const typed = { input, cached, output, ...otherTokens };
      const asked = Object.fromEntries(Object.entries(typed).map(([kind, each]) => [kind, BigInt(each)]));
      const shown = create(ModelPricingSchema, { currency: "IDR", unit: "per_1m_tokens", ...showPrices(given) });
      expect(priceOf({ input: 0n, cached: 0n, output: 0n, ...asked }, shown)).toBe(formatPrice(costOf(counts, given)));
    }),
    { numRuns: 2_000 },
  );
});
