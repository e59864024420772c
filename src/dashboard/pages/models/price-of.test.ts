import { create } from "@bufbuild/protobuf";
import { ModelPricingSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import { describe, expect, it } from "vitest";
import { priceOf, readTokens } from "./price-of.ts";

const pricing = (input: string, output: string, cacheHit?: string) =>
  create(ModelPricingSchema, { input, output, ...(cacheHit === undefined ? {} : { cacheHit }) });

describe("what tokens would come to", () => {
  it("is exact and rounded up once", () => {
    expect(priceOf({ input: 8200n, cached: 3400n, output: 175n }, pricing("5000", "15000", "950"))).toBe("46.855");
    expect(priceOf({ input: 1n, cached: 0n, output: 0n }, pricing("0.000001", "0"))).toBe("0.000001");
    expect(priceOf({ input: 1n, cached: 1n, output: 1n }, pricing("0.3", "0.3", "0.3"))).toBe("0.000001");
    expect(priceOf({ input: 999999999999n, cached: 0n, output: 0n }, pricing("999999999.999999", "1"))).toBe(
      "999999999998999.000001",
    );
  });

  it("takes the input price where there is none for the cache", () => {
    expect(priceOf({ input: 0n, cached: 1_000_000n, output: 0n }, pricing("20000", "80000"))).toBe("20000");
  });

  it("reads counts as people write them", () => {
    expect(readTokens("1.000.000")).toBe(1_000_000n);
    expect(readTokens(" 1,000 ")).toBe(1000n);
    expect(readTokens("")).toBe(0n);
    for (const none of ["-1", "1e3", "seribu", "1234567890123"]) expect(readTokens(none)).toBeNull();
  });
});
