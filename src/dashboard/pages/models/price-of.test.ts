import { create } from "@bufbuild/protobuf";
import { ModelPricingSchema } from "#gen/saldo/gateway/v1/model_pb.ts";
import { describe, expect, it } from "vitest";
import { priceOf, readTokens, tierOf } from "./price-of.ts";

const pricing = (input: string, output: string, cacheHit?: string) =>
  create(ModelPricingSchema, { input, output, ...(cacheHit === undefined ? {} : { cacheHit }) });

describe("the cost of tokens", () => {
  it("is exact and rounded up once", () => {
    expect(priceOf({ input: 8200n, cached: 3400n, output: 175n }, pricing("5000", "15000", "950"))).toBe("46.855");
    expect(priceOf({ input: 1n, cached: 0n, output: 0n }, pricing("0.000001", "0"))).toBe("0.000001");
    expect(priceOf({ input: 1n, cached: 1n, output: 1n }, pricing("0.3", "0.3", "0.3"))).toBe("0.000001");
    expect(priceOf({ input: 999999999999n, cached: 0n, output: 0n }, pricing("999999999.999999", "1"))).toBe(
      "999999999998999.000001",
    );
  });

  it("uses the input price where the cache has none", () => {
    expect(priceOf({ input: 0n, cached: 1_000_000n, output: 0n }, pricing("20000", "80000"))).toBe("20000");
  });

  it("charges each kind at its own price, or at its fallback price", () => {
    const all = create(ModelPricingSchema, {
      input: "1000",
      output: "5000",
      cacheHit: "100",
      cacheWrite: "1250",
      cacheWrite1h: "2000",
      audioInput: "3000",
      imageInput: "700",
      imageOutput: "60000",
      perRequest: "25",
    });
    const none = { input: 0n, cached: 0n, output: 0n };
    const million = 1_000_000n;
    const each = (kind: string, price = all) => priceOf({ ...none, [kind]: million }, price);
    expect(["cacheWrite", "cacheWrite1h", "audioInput", "imageInput", "imageOutput"].map((kind) => each(kind))).toEqual(
      ["1275", "2025", "3025", "725", "60025"],
    );
    expect(
      ["cacheWrite", "cacheWrite1h", "audioInput", "imageInput", "imageOutput"].map((kind) =>
        each(kind, pricing("1000", "5000")),
      ),
    ).toEqual(["1000", "1000", "1000", "1000", "5000"]);
    expect(priceOf(none, all)).toBe("0");
    expect(priceOf({ ...none, output: 1n }, all)).toBe("25.005");
  });

  it("uses the prices of the last threshold that the whole input exceeds", () => {
    const tiered = create(ModelPricingSchema, {
      input: "1000",
      output: "5000",
      cacheHit: "100",
      longContext: [
        { above: 200_000, input: "2000", output: "7500", cacheHit: "200" },
        { above: 400_000, input: "4000", output: "9000" },
      ],
    });
    const of = (input: bigint) => ({ input, cached: 100_000n, output: 10_000n });
    expect(tierOf(of(100_000n), tiered)).toBeUndefined();
    expect(priceOf(of(100_000n), tiered)).toBe("160");
    expect(tierOf(of(100_001n), tiered)?.above).toBe(200_000);
    expect(priceOf(of(100_001n), tiered)).toBe("295.002");
    // Without a cache price of its own a tier charges cached tokens as its input.
    expect(priceOf(of(300_001n), tiered)).toBe("1690.004");
  });

  it("uses a tier's own price of one-hour writes, or else the larger of the other two", () => {
    const writing = (cacheWrite1h?: string) =>
      create(ModelPricingSchema, {
        input: "1000",
        output: "5000",
        cacheWrite: "1250",
        cacheWrite1h: "2000",
        longContext: [
          { above: 10, input: "2000", output: "7500", cacheWrite: "2500", ...(cacheWrite1h && { cacheWrite1h }) },
        ],
      });
    const written = { input: 0n, cached: 0n, output: 0n, cacheWrite1h: 1_000_000n };
    expect(priceOf(written, writing("4000"))).toBe("4000");
    expect(priceOf(written, writing())).toBe("2500");
  });

  it("reads counts as people write them", () => {
    expect(readTokens("1.000.000")).toBe(1_000_000n);
    expect(readTokens(" 1,000 ")).toBe(1000n);
    expect(readTokens("")).toBe(0n);
    for (const none of ["-1", "1e3", "seribu", "1234567890123"]) expect(readTokens(none)).toBeNull();
  });
});
