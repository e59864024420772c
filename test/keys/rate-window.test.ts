// The SQL functions of the window against a plain model of it, with moments of the test's choosing.

import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

type Window = { readonly slots: string; readonly counts: string };
type Step = { readonly gapMs: number; readonly n: number; readonly limit: number };
type Decision = Window & { readonly used: number; readonly wait: number; readonly reset: number };

/** One request as the functions decided it, and how many were truly let in during so many milliseconds before it. */
type Seen = {
  readonly step: Step;
  readonly atMs: number;
  readonly admitted: boolean;
  readonly wait: number;
  readonly window: Window;
  readonly within: (ms: number) => number;
};

const EMPTY: Window = { slots: "{}", counts: "{}" };
const DECIDE = `
  SELECT used, slot_wait_ms(slots, counts, lim, t, n) AS wait, slots_reset_seconds(slots, counts, lim, t) AS reset,
         slots_after(slots, counts, lim, t, n)::text AS slots, slot_counts_after(slots, counts, lim, t, n)::text AS counts
  FROM (SELECT $1::timestamptz[] AS slots, $2::int[] AS counts, $3::int AS lim, $5::int AS n,
               timestamptz '2026-11-20 10:00:00Z' + $4::bigint * interval '1 millisecond' AS t) AS given,
       LATERAL (SELECT slots_used(slots, counts, lim, t) AS used) AS rated`;

let opened: TestDatabase;
beforeAll(async () => {
  opened = await createTestDatabase();
});
afterAll(() => opened.drop());

async function decide(
  window: Window,
  { limit, atMs, n }: { limit: number; atMs: number; n: number },
): Promise<Decision> {
  const { rows } = await opened.database.pool.query<Decision>({
    name: "decide",
    text: DECIDE,
    values: [window.slots, window.counts, limit, atMs, n],
  });
  const row = rows[0];
  if (row === undefined) throw new Error("the functions give one row");
  return row;
}

/** Admits requests as the functions decide, and keeps the true story beside them. */
async function walk(steps: readonly Step[], check: (seen: Seen) => void | Promise<void>): Promise<void> {
  const story: { atMs: number; n: number }[] = [];
  let window = EMPTY;
  let atMs = 0;
  for (const step of steps) {
    atMs += step.gapMs;
    const { used, wait, slots, counts } = await decide(window, { limit: step.limit, atMs, n: step.n });
    const admitted = used + step.n <= step.limit;
    const now = atMs;
    const within = (ms: number) => story.filter((each) => each.atMs > now - ms).reduce((sum, each) => sum + each.n, 0);
    await check({ step, atMs, admitted, wait, window, within });
    if (!admitted) continue;
    story.push({ atMs, n: step.n });
    window = { slots, counts };
  }
}

/** Buckets may refuse up to two seconds longer than the window is, and never let in more than it holds. */
function expectAllowed({ step, admitted, within }: Pick<Seen, "step" | "admitted" | "within">): void {
  expect({ admitted, over: within(60_000) + step.n > step.limit }).not.toEqual({ admitted: true, over: true });
  expect({ admitted, fits: within(62_000) + step.n <= step.limit }).not.toEqual({ admitted: false, fits: true });
}

const gap = fc.oneof(
  fc.integer({ min: 0, max: 1_500 }),
  fc.integer({ min: 58_900, max: 60_100 }),
  fc.constantFrom(0, 1, 999, 1_000, 20_000, 59_999, 60_000),
);
const stepsUnder = (limit: fc.Arbitrary<number>, n: fc.Arbitrary<number>) =>
  fc.array(fc.record({ gapMs: gap, n, limit }), { minLength: 5, maxLength: 50 });

describe("the rate window", () => {
  test("up to 600 admits exactly what keeps the last 60 seconds at the limit", async () => {
    const steps = fc
      .integer({ min: 1, max: 6 })
      .chain((limit) => stepsUnder(fc.constant(limit), fc.integer({ min: 1, max: 2 })));
    await fc.assert(
      fc.asyncProperty(steps, (given) =>
        walk(given, async ({ step, atMs, admitted, wait, window, within }) => {
          expect(admitted).toBe(within(60_000) + step.n <= step.limit);
          if (admitted || step.n > step.limit) return;
          // The wait is the first moment at which the same request is let in.
          for (const [afterMs, fits] of [
            [wait, true],
            [wait - 1, false],
          ] as const) {
            const later = await decide(window, { limit: step.limit, atMs: atMs + afterMs, n: step.n });
            expect(later.used + step.n <= step.limit).toBe(fits);
          }
        }),
      ),
      { numRuns: 30 },
    );
  });

  test("over 600 never admits more than the limit in any 60 seconds, and refuses nothing that 62 seconds hold", async () => {
    const steps = fc
      .integer({ min: 601, max: 2_000 })
      .chain((limit) => stepsUnder(fc.constant(limit), fc.integer({ min: 1, max: 500 })));
    await fc.assert(
      fc.asyncProperty(steps, (given) =>
        walk(given, async ({ step, atMs, admitted, wait, window, within }) => {
          expectAllowed({ step, admitted, within });
          if (admitted) return;
          const later = await decide(window, { limit: step.limit, atMs: atMs + wait, n: step.n });
          expect(later.used + step.n).toBeLessThanOrEqual(step.limit);
        }),
      ),
      { numRuns: 30 },
    );
  });

  test("never admits over the limit of the moment while the limit is raised and lowered across 600", async () => {
    const limits = fc.constantFrom(1, 5, 60, 600, 601, 1_000);
    await fc.assert(
      fc.asyncProperty(stepsUnder(limits, fc.integer({ min: 1, max: 60 })), (given) => walk(given, expectAllowed)),
      { numRuns: 60 },
    );
  });

  test("keeps no more elements than count: one per request up to 600, one per second above", async () => {
    let window = EMPTY;
    for (let second = 0; second < 150; second += 1) {
      window = await decide(window, { limit: 100_000, atMs: second * 1_000 + 7, n: 3 });
    }
    expect(window.counts.split(",")).toHaveLength(61);
    for (let request = 0; request < 20; request += 1) {
      window = await decide(window, { limit: 5, atMs: 150_000 + 62_000 + request * 30_000, n: 1 });
    }
    expect(window.slots.split(",")).toHaveLength(2);
    expect(window.counts).toBe("{}");
  });

  test("stays in order when the database's clock steps back", async () => {
    const first = await decide(EMPTY, { limit: 2, atMs: 10_000, n: 1 });
    const second = await decide(first, { limit: 2, atMs: 4_000, n: 1 });
    expect((await decide(second, { limit: 2, atMs: 69_999, n: 1 })).used).toBe(2);
    expect((await decide(second, { limit: 2, atMs: 70_000, n: 1 })).used).toBe(0);
  });

  test("resets when the oldest counted request leaves", async () => {
    expect((await decide(EMPTY, { limit: 60, atMs: 0, n: 1 })).reset).toBe(60);
    const one = await decide(EMPTY, { limit: 60, atMs: 0, n: 1 });
    const two = await decide(one, { limit: 60, atMs: 20_500, n: 1 });
    expect((await decide(two, { limit: 60, atMs: 20_500, n: 1 })).reset).toBe(40);
    expect((await decide(two, { limit: 60, atMs: 60_000, n: 1 })).reset).toBe(21);
    expect((await decide(two, { limit: 0, atMs: 60_000, n: 1 })).reset).toBe(0);
  });

  test("is planned as plain expressions, with no function left to call", async () => {
    const { rows } = await opened.database.pool.query<{ "QUERY PLAN": string }>(`
      EXPLAIN (VERBOSE, COSTS OFF)
      SELECT slots_used(slots, slot_counts, rate_limit, created_at), slots_after(slots, slot_counts, rate_limit, created_at, 1),
             slot_counts_after(slots, slot_counts, rate_limit, created_at, 1),
             slot_wait_ms(slots, slot_counts, rate_limit, created_at, 1),
             slots_reset_seconds(slots, slot_counts, rate_limit, created_at) FROM api_key`);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toContain("width_bucket(");
    const called = plan.match(/\bslots?_\w+(?=\()|\bbucket_\w+(?=\()/g) ?? [];
    expect(called.filter((name) => !name.endsWith("_in_buckets"))).toEqual([]);
  });
});
