import { expect, test } from "vitest";
import { FAILPOINTS } from "../../kernel/failpoint.ts";
import { parseFailpoint } from "./failpoint-setting.ts";

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
])("knows no failpoint %j", (text) => expect(parseFailpoint(text)).toBeUndefined());
