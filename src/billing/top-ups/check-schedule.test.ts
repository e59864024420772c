import { describe, expect, test } from "vitest";
import { hasRunOut, nextCheck, pauseAfterFailure } from "./check-schedule.ts";
import type { TopUpState } from "./top-up.ts";

const START = Date.parse("2026-11-21T00:00:00Z");
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

function looksAt(state: TopUpState, untilMs: number, givenBack = 0n): number[] {
  const topUp = { state, amount: 10n, givenBack, createdAt: new Date(START), changedAt: new Date(START) };
  const looks: number[] = [];
  for (let at: number | null = START; at !== null && at - START < untilMs && looks.length < 10_000;) {
    at = nextCheck(topUp, at);
    if (at !== null) looks.push(at - START);
  }
  return looks;
}

describe("the schedule", () => {
  test.each(["created", "pending", "review"] as const)(
    "asks about an order that is %s often, then less and less",
    (state) => {
      const looks = looksAt(state, 7 * DAY_MS);
      expect(looks[0]).toBeLessThan(10_000);
      const pauses = looks.map((look, at) => look - (looks[at - 1] ?? 0));
      expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
      expect(pauses.at(-1)).toBe(30 * MINUTE_MS);
      expect(looks.length).toBeLessThan(500);
    },
  );

  test.each(["expired", "failed", "canceled"] as const)(
    "looks for a payment that comes late of an order that is %s, four times",
    (state) => {
      expect(looksAt(state, 365 * DAY_MS)).toEqual([60 * MINUTE_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS]);
    },
  );

  test.each([
    ["paid", 0n],
    ["partially_refunded", 9n],
    ["charged_back", 9n],
    ["charged_back", 10n],
  ] as const)(
    "notices a late chargeback, or one that was won, of an order that is %s with %d of 10 given back, for 180 days",
    (state, given) => {
      const days = [1, 7, 30, 60, 90, 120, 150, 180];
      expect(looksAt(state, 10_000 * DAY_MS, given)).toEqual([60 * MINUTE_MS, ...days.map((day) => day * DAY_MS)]);
    },
  );

  test("asks no more about an order that is refunded whole", () => {
    expect(looksAt("refunded", DAY_MS, 10n)).toEqual([]);
  });
});

describe("an order", () => {
  const expiresAt = new Date(START);
  test("that its provider knows no payment of is over two minutes behind its end, one it waits for after a week", () => {
    for (const state of ["created", "pending"] as const) {
      expect(hasRunOut({ state, expiresAt }, "unknown", START + 2 * MINUTE_MS)).toBe(false);
      expect(hasRunOut({ state, expiresAt }, "unknown", START + 2 * MINUTE_MS + 1)).toBe(true);
      expect(hasRunOut({ state, expiresAt }, "pending", START + 7 * DAY_MS)).toBe(false);
      expect(hasRunOut({ state, expiresAt }, "pending", START + 7 * DAY_MS + 1)).toBe(true);
    }
  });

  test("in any other state, ours or the provider's, is not over by our clock", () => {
    expect(hasRunOut({ state: "review", expiresAt }, "pending", START + 365 * DAY_MS)).toBe(false);
    expect(hasRunOut({ state: "paid", expiresAt }, "unknown", START + 365 * DAY_MS)).toBe(false);
    expect(hasRunOut({ state: "pending", expiresAt }, "paid", START + 365 * DAY_MS)).toBe(false);
  });
});

test("a provider that does not answer is left alone for longer each time, and half an hour at most", () => {
  expect([1, 2, 3, 4].map(pauseAfterFailure)).toEqual([5_000, 10_000, 20_000, 40_000]);
  expect(pauseAfterFailure(1_000)).toBe(30 * MINUTE_MS);
});
