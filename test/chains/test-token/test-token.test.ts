import { expect, test } from "vitest";
import { committedToken, compileToken } from "./compile.ts";

test("the committed bytecode is what the committed source compiles to", () => {
  expect(compileToken()).toEqual(committedToken());
});
