import { expect, test } from "vitest";
import { growthOf, type Reading } from "./meter.ts";

/** A reading each half minute. */
const life = (minutes: number, at: (minute: number) => Omit<Reading, "atMs">): Reading[] =>
  Array.from({ length: minutes * 2 + 1 }, (_, index) => ({ atMs: 1_000 + index * 30_000, ...at(index / 2) }));

test("the growth of a long life is that of its last 90 minutes", () => {
  const settles = growthOf(life(120, (minute) => ({ megabytes: 200 + Math.min(minute, 29) * 10, handles: 40 })));
  expect(settles).toEqual({
    minutes: 119,
    slopeMinutes: 90,
    megabytesPerHour: expect.closeTo(0, 6),
    handlesPerHour: expect.closeTo(0, 6),
    lowMegabytes: Array.from({ length: 6 }, () => 490),
    lowHandles: Array.from({ length: 6 }, () => 40),
    highestMegabytes: 490,
    lastHandles: 40,
  });
  const leaks = growthOf(life(120, (minute) => ({ megabytes: 200 + minute / 60, handles: 40 + minute / 30 })));
  expect(leaks).toMatchObject({ megabytesPerHour: expect.closeTo(1, 6), handlesPerHour: expect.closeTo(2, 6) });
});

test("what a process collects is no growth, wherever its last readings are", () => {
  // It grows by 100 MB in eleven minutes and falls to what is left; the last readings are at the top.
  const saw = (left: (minute: number) => number) => (minute: number) => ({
    megabytes: left(minute) + ((minute % 11) / 11) * 100,
    handles: 40,
  });
  expect(
    growthOf(
      life(
        120,
        saw(() => 200),
      ),
    ),
  ).toMatchObject({
    megabytesPerHour: expect.closeTo(0, 6),
    lowMegabytes: [200, 200, 200, 200, 200, 200],
  });
  expect(
    growthOf(
      life(
        120,
        saw((minute) => 200 + minute),
      ),
    )?.megabytesPerHour,
  ).toBeCloseTo(60, -1);
});

test("handles of a moment are no growth", () => {
  // Late in its life a few callers are connected at most moments.
  const busy = growthOf(
    life(120, (minute) => ({ megabytes: 200, handles: 40 + (minute > 60 ? (minute % 5) * 3 : 0) })),
  );
  expect(busy).toMatchObject({ handlesPerHour: expect.closeTo(0, 6), lowHandles: [40, 40, 40, 40, 40, 40] });
});

test("a short life has the growth behind its first minute, and too short a one has none", () => {
  const short = growthOf(life(5, (minute) => ({ megabytes: minute < 1 ? 50 : 200, handles: 40 })));
  expect(short).toMatchObject({ minutes: 4, slopeMinutes: 4, megabytesPerHour: expect.closeTo(0, 6) });
  expect(growthOf(life(2, () => ({ megabytes: 200, handles: 40 })))).toBeNull();
});
