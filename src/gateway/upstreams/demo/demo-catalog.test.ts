import { expect, it } from "vitest";
import { readCatalogFile, writeCatalogFile } from "../../../catalog/catalog-file.ts";
import { cacheHitPercent } from "../../../catalog/prices.ts";
import { demoModels, demoUpstreamConfig } from "./demo-catalog.ts";

it("is a catalog that an operator could publish", () => {
  const catalog = { upstreams: [demoUpstreamConfig], models: demoModels };
  expect(readCatalogFile(writeCatalogFile(catalog))).toEqual(catalog);
});

it("offers a free model, four whose cached input costs 10 to 25 percent, one of them thinks, and one of vectors", () => {
  expect(demoModels.map((model) => [model.id, model.contextLength, cacheHitPercent(model)])).toEqual([
    ["demo/echo", 131_072, null],
    ["demo/small", 272_000, 10],
    ["demo/large", 1_050_000, 19],
    ["demo/vision", 131_072, 25],
    ["demo/thinking", 131_072, 10],
    ["demo/embed", 8_192, null],
  ]);
  expect(demoModels[0]).toMatchObject({ inputPrice: 0n, outputPrice: 0n });
  expect(demoModels[3]?.inputModalities).toEqual(["text", "image"]);
  expect(demoModels.filter(({ hiddenOutput }) => hiddenOutput).map(({ id }) => id)).toEqual(["demo/thinking"]);
});
