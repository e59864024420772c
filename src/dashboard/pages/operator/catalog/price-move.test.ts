import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { CatalogChangeKind, CatalogChangeSchema } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { isPriceField, priceMove } from "./price-move.ts";

const change = create(CatalogChangeSchema, {
  id: "acme/large",
  change: CatalogChangeKind.CHANGED,
  fields: [
    { field: "price.input", before: '"1000"', after: '"1250.5"' },
    { field: "price.cache_hit", before: '"100"', after: "" },
    { field: "name", before: '"A"', after: '"B"' },
  ],
  priceDifference: { input: "+250.5", output: "0", cacheHit: "+1150.5" },
});

describe("the move of a price", () => {
  it("tells what it was, what it becomes and how far that is", () => {
    expect(priceMove(change, "input")).toEqual({ before: "1000", after: "1250.5", difference: "+250.5" });
  });

  it("tells a price that goes away", () => {
    expect(priceMove(change, "cacheHit")).toEqual({ before: "100", after: null, difference: "+1150.5" });
  });

  it("is none where the price stays", () => {
    expect(priceMove(change, "output")).toBeNull();
  });

  it("has no distance where a model comes", () => {
    const added = create(CatalogChangeSchema, { fields: [{ field: "price.input", before: "", after: "1000" }] });
    expect(priceMove(added, "input")).toEqual({ before: null, after: "1000", difference: null });
  });

  it("knows prices from other fields", () => {
    expect(change.fields.map(isPriceField)).toEqual([true, true, false]);
  });
});
