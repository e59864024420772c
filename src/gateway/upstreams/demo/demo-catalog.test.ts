import { expect, it } from "vitest";
import { readCatalogFile } from "../../../catalog/catalog-file.ts";
import { cacheHitPercent } from "../../../catalog/prices.ts";
import { demoCatalog } from "./demo-catalog.ts";

it("offers a free model, three whose cached input costs 10, 19 and 25 percent, and one of vectors", () => {
  const { models } = readCatalogFile(demoCatalog);
  expect(models.map((model) => [model.id, model.contextLength, cacheHitPercent(model)])).toEqual([
    ["demo/echo", 131_072, null],
    ["demo/small", 272_000, 10],
    ["demo/large", 1_050_000, 19],
    ["demo/vision", 131_072, 25],
    ["demo/embed", 8_192, null],
  ]);
  expect(models[0]).toMatchObject({ inputPrice: 0n, outputPrice: 0n });
  expect(models[3]?.inputModalities).toEqual(["text", "image"]);
});
