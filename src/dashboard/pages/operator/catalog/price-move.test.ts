import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { CatalogChangeKind, CatalogChangeSchema } from "#gen/saldo/operator/v1/catalog_pb.ts";
import { isPriceField, otherMoves, priceMove } from "./price-move.ts";

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

describe("the change of a price", () => {
  it("has the old price, the new price and their difference", () => {
    expect(priceMove(change, "input")).toEqual({ before: "1000", after: "1250.5", difference: "+250.5" });
  });

  it("has no new price where a price is removed", () => {
    expect(priceMove(change, "cacheHit")).toEqual({ before: "100", after: null, difference: "+1150.5" });
  });

  it("is null where the price stays the same", () => {
    expect(priceMove(change, "output")).toBeNull();
  });

  it("has no difference for a new model", () => {
    const added = create(CatalogChangeSchema, { fields: [{ field: "price.input", before: "", after: "1000" }] });
    expect(priceMove(added, "input")).toEqual({ before: null, after: "1000", difference: null });
  });

  it("names the changes of kinds and of tiers, by rising threshold", () => {
    const kinds = create(CatalogChangeSchema, {
      fields: [
        { field: "price.long_context.400000.input", before: '"20"', after: "" },
        { field: "price.long_context.200000.output", before: '"30"', after: '"45"' },
        { field: "price.long_context.200000.cache_write", before: "", after: '"12.5"' },
        { field: "price.per_request", before: "", after: '"1"' },
        { field: "price.cache_write", before: '"6"', after: '"6.5"' },
      ],
      priceDifference: {
        input: "0",
        output: "0",
        cacheHit: "0",
        cacheWrite: "+0.5",
        perRequest: "+1",
        longContext: [
          { above: 200_000, input: "0", output: "+15", cacheHit: "0", cacheWrite: "+2.5" },
          { above: 400_000, input: "-10", output: "0", cacheHit: "-10" },
        ],
      },
    });
    expect(otherMoves(kinds)).toEqual([
      { name: "cacheWrite", above: null, move: { before: "6", after: "6.5", difference: "+0.5" } },
      { name: "perRequest", above: null, move: { before: null, after: "1", difference: "+1" } },
      { name: "cacheWrite", above: 200_000, move: { before: null, after: "12.5", difference: "+2.5" } },
      { name: "output", above: 200_000, move: { before: "30", after: "45", difference: "+15" } },
      { name: "input", above: 400_000, move: { before: "20", after: null, difference: "-10" } },
    ]);
    expect(kinds.fields.every(isPriceField)).toBe(true);
    expect(otherMoves(change)).toEqual([]);
  });

  it("distinguishes prices from other fields", () => {
    expect(change.fields.map(isPriceField)).toEqual([true, true, false]);
  });
});
