import { expect, test } from "vitest";
import { isOlder } from "./is-older.ts";

test.each([
  ["of its answer", 0, false],
  ["of a few seconds before", 5_000, false],
  ["of more seconds before", 5_001, true],
  ["of a clock that is ahead", -60_000, false],
])("data %s is marked or not", (_what, ageMs, isMarked) => {
  expect(isOlder(new Date(1_000_000), 1_000_000 + ageMs)).toBe(isMarked);
});
