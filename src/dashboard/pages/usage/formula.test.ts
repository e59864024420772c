import { create } from "@bufbuild/protobuf";
import { UsageRecordSchema } from "#gen/saldo/billing/v1/usage_pb.ts";
import { expect, test } from "vitest";
import { formulaOf } from "./formula.ts";

test("the lines of a request and the rounding come to its cost, to the last digit", () => {
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
    rounding: "0.0000005",
  });
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
