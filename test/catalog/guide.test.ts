// The catalog that the guide to operating shows is one that can be applied.

import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readCatalogFile, writeCatalogFile } from "../../src/catalog/catalog-file.ts";
import { findPossibleLosses } from "../../src/catalog/possible-losses.ts";

test("the guide to operating shows a catalog that is read whole and loses no money", async () => {
  const readme = await readFile(new URL("../../.github/OPERATING.md", import.meta.url), "utf8");
  const yaml = /```yaml\n(upstreams:[^]*?)```/.exec(readme)?.[1] ?? "";
  const file = readCatalogFile(yaml);
  expect(file.models.map(({ id }) => id)).toEqual(["acme/large", "acme/long"]);
  expect(readCatalogFile(writeCatalogFile(file))).toEqual(file);
  expect(findPossibleLosses(file.models, new Map(file.upstreams.map((each) => [each.id, each])))).toEqual([]);
});
