import { globSync } from "node:fs";
import { expect, it } from "vitest";
import { EVERY_PAGE } from "./every-page.ts";

it("checks every area of pages, each in a file of its own", () => {
  const files = globSync("accessibility-*.test.ts", { cwd: import.meta.dirname });
  expect(files.toSorted()).toEqual(
    Object.keys(EVERY_PAGE)
      .map((area) => `accessibility-${area}.test.ts`)
      .toSorted(),
  );
});
