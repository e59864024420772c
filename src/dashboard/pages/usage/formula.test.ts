import { create } from "@bufbuild/protobuf";
import { UsageRecordSchema } from "#gen/saldo/billing/v1/usage_pb.ts";
import { expect, test } from "vitest";
import { formulaOf } from "./formula.ts";

test("the lines of a request and the rounding add up to its cost, to the last digit", () => {
  const record = create(UsageRecordSchema, {
    inputTokensUncached: 1318,
    inputTokensCached: 1,
    outputTokens: 61,
    inputPrice: "32000",
    cacheHitPrice: "0.5",
    outputPrice: "96000",
    cost: "48.032001",
  });
  expect(formulaOf(record)).toEqual({
    lines: [
      { name: "input", tokens: 1318, price: "32000", amount: "42.176" },
      { name: "cached", tokens: 1, price: "0.5", amount: "0.0000005" },
      { name: "output", tokens: 61, price: "96000", amount: "5.856" },
    ],
    perRequest: "0",
    rounding: "0.0000005",
    cost: "48.032001",
  });
  // The same, of which a part was charged late.
  const late = create(UsageRecordSchema, { ...record, cost: "40", lateCharge: "8.032001" });
  expect(formulaOf(late)).toEqual(formulaOf(record));
});

test("each token kind of a request, and the price of the request itself, has a line", () => {
  const record = create(UsageRecordSchema, {
    inputTokensUncached: 100,
    outputTokens: 10,
    otherTokens: { cacheWrite: 1_000n, cacheWrite1h: 0n, audioInput: 0n, imageInput: 0n, imageOutput: 7n },
    inputPrice: "32000",
    outputPrice: "96000",
    billedPrices: {
      input: "64000",
      cacheHit: "64000",
      output: "144000",
      cacheWrite: "80000",
      cacheWrite1h: "80000",
      audioInput: "64000",
      imageInput: "64000",
      imageOutput: "200000",
      perRequest: "12.5",
      longContextAbove: 200,
    },
    cost: "101.740001",
  });
  const { lines, perRequest, rounding } = formulaOf(record);
  expect(lines.map(({ name, tokens, amount }) => [name, tokens, amount])).toEqual([
    ["input", 100, "6.4"],
    ["cached", 0, "0"],
    ["cacheWrite", 1_000, "80"],
    ["output", 10, "1.44"],
    ["imageOutput", 7, "1.4"],
  ]);
  expect([perRequest, rounding]).toEqual(["12.5", "0.000001"]);
});

test("cached tokens have the input price where the model has none for them", () => {
  const record = create(UsageRecordSchema, {
    inputTokensCached: 1_000_000,
    inputPrice: "7",
    outputPrice: "9",
    cost: "7",
  });
  const { lines, rounding } = formulaOf(record);
  expect(lines.map(({ amount }) => amount)).toEqual(["0", "7", "0"]);
  expect(rounding).toBe("0");
});
