import { globSync } from "node:fs";
import { expect, it } from "vitest";
import { AREAS_OF_FILES, EVERY_PAGE } from "./every-page.ts";

it("checks every area of pages, in one of the files", () => {
  const files = globSync("accessibility-*.test.ts", { cwd: import.meta.dirname });
  const named = Object.keys(AREAS_OF_FILES).map((file) => `accessibility-${file}.test.ts`);
  expect(files.toSorted()).toEqual(named.toSorted());
  expect(Object.values(AREAS_OF_FILES).flat().toSorted()).toEqual(Object.keys(EVERY_PAGE).toSorted());
});
