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
    lastMegabytes: 490,
    lastHandles: 40,
  });
  const leaks = growthOf(life(120, (minute) => ({ megabytes: 200 + minute / 60, handles: 40 + minute / 30 })));
  expect(leaks).toMatchObject({ megabytesPerHour: expect.closeTo(1, 6), handlesPerHour: expect.closeTo(2, 6) });
});

test("a short life has the growth behind its first minute, and too short a one has none", () => {
  const short = growthOf(life(5, (minute) => ({ megabytes: minute < 1 ? 50 : 200, handles: 40 })));
  expect(short).toMatchObject({ minutes: 4, slopeMinutes: 4, megabytesPerHour: expect.closeTo(0, 6) });
  expect(growthOf(life(2, () => ({ megabytes: 200, handles: 40 })))).toBeNull();
});
