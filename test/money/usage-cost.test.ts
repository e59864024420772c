// The formula of a request's cost exists twice, in TypeScript and in SQL: the audit and recovery use the second one.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { costOf, savedByCache } from "../../src/billing/cost.ts";
import type { OtherPrices, OtherTokens, PriceSnapshot, TokenCounts } from "../../src/kernel/token-prices.ts";
import { otherPricesColumn, otherTokensColumn } from "../../src/ledger/group-commit/token-columns.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const RUNS = 2_000;
const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
const count = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 400_000 }));

const longContext = fc.uniqueArray(
  fc.record(
    {
      above: fc.integer({ min: 1, max: 600_000 }),
      input: price,
      output: price,
      cacheHit: fc.option(price),
      cacheWrite: price,
      cacheWrite1h: price,
    },
    { requiredKeys: ["above", "input", "output", "cacheHit"] },
  ),
  { selector: ({ above }) => above, maxLength: 3 },
);
const other: fc.Arbitrary<OtherPrices | null> = fc.option(
  fc.record(
    {
      cacheWrite: price,
      cacheWrite1h: price,
      audioInput: price,
      imageInput: price,
      imageOutput: price,
      perRequest: price,
      longContext: longContext.map((tiers) => tiers.toSorted((a, b) => a.above - b.above)),
    },
    { requiredKeys: [] },
  ),
);
const prices: fc.Arbitrary<PriceSnapshot> = fc.record({
  input: price,
  output: price,
  cacheHit: fc.option(price),
  other,
});
const otherTokens: fc.Arbitrary<OtherTokens | null> = fc.option(
  fc.record(
    { cacheWrite: count, cacheWrite1h: count, audioInput: count, imageInput: count, imageOutput: count },
    { requiredKeys: [] },
  ),
);
const tokens: fc.Arbitrary<TokenCounts> = fc.record({
  inputTokensUncached: count,
  inputTokensCached: count,
  outputTokens: count,
  otherTokens,
});

// Costs of all sizes that the rounding raises by a millionth of a unit: a division of limited digits loses it.
const barelyAbove: readonly (readonly [TokenCounts, PriceSnapshot])[] = Array.from({ length: 16 }, (_, digits) => {
  const snapshot = { input: 1n, output: 10n ** BigInt(digits), cacheHit: 0n };
  const counts = { inputTokensUncached: 1, inputTokensCached: 1_000_000, outputTokens: 2_000_000 };
  return [
    [counts, snapshot] as const,
    [counts, { ...snapshot, other: { perRequest: 7n } }] as const,
    [{ ...counts, otherTokens: { cacheWrite: 1_000_000 } }, snapshot] as const,
  ];
}).flat();

describe("the cost of a request in SQL", () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  it("is the cost in TypeScript, for every kind of token and price", async () => {
    const cases = [...barelyAbove, ...fc.sample(fc.tuple(tokens, prices), RUNS)];
    const { rows } = await test.database.pool.query<{ cost: string; saved: string }>(
      `SELECT usage_cost(u, c, o, t, pi, po, ph, p)::text AS cost, saved_by_cache(u, c, o, t, pi, po, ph, p, 0)::text AS saved
       FROM unnest($1::int[], $2::int[], $3::int[], $4::jsonb[], $5::bigint[], $6::bigint[], $7::bigint[], $8::jsonb[])
         WITH ORDINALITY AS r (u, c, o, t, pi, po, ph, p, n) ORDER BY n`,
      [
        cases.map(([t]) => t.inputTokensUncached),
        cases.map(([t]) => t.inputTokensCached),
        cases.map(([t]) => t.outputTokens),
        cases.map(([t]) => otherTokensColumn(t)),
        cases.map(([, p]) => p.input),
        cases.map(([, p]) => p.output),
        cases.map(([, p]) => p.cacheHit),
        cases.map(([, p]) => otherPricesColumn(p)),
      ],
    );
    expect(rows).toHaveLength(cases.length);
    for (const [index, [counts, snapshot]] of cases.entries()) {
      expect({ counts, snapshot, cost: rows[index]?.cost }).toEqual({
        counts,
        snapshot,
        cost: String(costOf(counts, snapshot)),
      });
      expect({ counts, snapshot, saved: rows[index]?.saved }).toEqual({
        counts,
        snapshot,
        saved: String(savedByCache(counts, snapshot, 0n)),
      });
    }
  });
});
