import { expect, test } from "vitest";
import { failpoint } from "../../kernel/failpoint.ts";
import { armFailpoint } from "./arm-failpoint.ts";

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
