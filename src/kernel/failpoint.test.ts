import { expect, test } from "vitest";
import { armFailpoint, failpoint, FAILPOINTS, parseFailpoint } from "./failpoint.ts";

test.each(FAILPOINTS)("reads the failpoint %s with and without a number", (name) => {
  expect(parseFailpoint(name)).toEqual({ name, nth: 1 });
  expect(parseFailpoint(`${name}:25`)).toEqual({ name, nth: 25 });
});

test.each([
  "",
  "nowhere",
  "mid-settle:",
  "mid-settle:0",
  "mid-settle:x",
  "mid-settle:1:1",
  "MID-SETTLE",
  " mid-settle",
])("has no failpoint %j", (text) => expect(parseFailpoint(text)).toBeUndefined());

test("is not there until it is armed, and then dies at the nth passing of its own place", () => {
  expect(failpoint).toBeUndefined();
  let deaths = 0;
  const disarm = armFailpoint({ name: "mid-settle", nth: 2 }, () => (deaths += 1));
  const passed = (["before-settle", "mid-settle", "after-settle", "mid-settle", "mid-settle"] as const).map((place) => {
    failpoint?.(place);
    return deaths;
  });
  disarm();
  expect(passed).toEqual([0, 0, 0, 1, 1]);
  expect(failpoint).toBeUndefined();
});
