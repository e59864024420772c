import { expect, test } from "vitest";
import type { OtherPrices } from "../kernel/token-prices.ts";
import type { RouteCost, UpstreamConfig } from "./catalog-model.ts";
import type { FileModel } from "./model-file.ts";
import { findPossibleLosses } from "./possible-losses.ts";

const rupiah = (whole: number) => BigInt(whole) * 1_000_000n;
const upstream = (id: string, chargesCacheWrites: boolean): UpstreamConfig => ({
  id,
  kind: "openai-compatible",
  baseUrl: "https://api.example.com/v1",
  apiKeyEnv: null,
  allowPrivateAddress: false,
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
  chargesCacheWrites,
});
const upstreams = new Map([upstream("plain", false), upstream("writes", true)].map((each) => [each.id, each]));
const model = (otherPrices: OtherPrices | null, route: string, cost?: RouteCost): FileModel => ({
  id: "acme/large",
  name: "Acme Large",
  description: "",
  badge: null,
  inputModalities: ["text"],
  contextLength: 1_000_000,
  maxOutputTokens: 100,
  mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
  kind: "chat",
  hiddenOutput: false,
  inputPrice: rupiah(5_000),
  outputPrice: rupiah(15_000),
  cacheHitPrice: rupiah(500),
  ...(otherPrices === null ? {} : { otherPrices }),
  routes: [{ upstream: route, model: "m", ...(cost === undefined ? {} : { cost }) }],
});
const cheap: RouteCost = { input: rupiah(4_000), output: rupiah(12_000), cacheHit: rupiah(400) };
const warningsOf = (given: FileModel) =>
  findPossibleLosses([given], upstreams).map((warning) => {
    expect(warning).toMatchObject({ model: "acme/large", route: 0, upstream: given.routes[0]?.upstream });
    return warning.reason === "cost_exceeds_price"
      ? `${warning.price} above ${warning.above}: ${warning.cost} > ${warning.sold}`
      : warning.reason;
  });

test("nothing is warned of where every kind is sold for what it costs, or where no cost is known", () => {
  expect(warningsOf(model(null, "plain", cheap))).toEqual([]);
  expect(
    warningsOf(model(null, "plain", { input: rupiah(5_000), output: rupiah(15_000), cacheHit: rupiah(500) })),
  ).toEqual([]);
  expect(warningsOf(model(null, "plain"))).toEqual([]);
});

test("each kind is warned of that costs more than it is sold for, also where one of the two has no price of its own", () => {
  expect(warningsOf(model(null, "plain", { ...cheap, input: rupiah(5_001), cacheHit: null }))).toEqual([
    "input above 0: 5001 > 5000",
    "cache_hit above 0: 5001 > 500",
  ]);
  const other = { cacheWrite: rupiah(6_250), audioInput: rupiah(40_000), perRequest: 1n };
  expect(warningsOf(model(null, "plain", { ...cheap, other }))).toEqual([
    "cache_write above 0: 6250 > 5000",
    // One-hour writes are the same price and not one more problem.
    "audio_input above 0: 40000 > 5000",
    "per_request above 0: 0.000001 > 0",
  ]);
  expect(warningsOf(model({ imageOutput: rupiah(1_000) }, "plain", cheap))).toEqual([
    "image_output above 0: 12000 > 1000",
  ]);
});

test("a tier is warned of at its threshold, and not again where the next one changes nothing", () => {
  const tier = { above: 200_000, input: rupiah(8_000), output: rupiah(18_000), cacheHit: rupiah(800) };
  expect(warningsOf(model(null, "plain", { ...cheap, other: { longContext: [tier] } }))).toEqual([
    "input above 200000: 8000 > 5000",
    "output above 200000: 18000 > 15000",
    "cache_hit above 200000: 800 > 500",
  ]);
  const priced = { longContext: [{ ...tier, above: 272_000, input: rupiah(10_000), output: rupiah(22_500) }] };
  expect(warningsOf(model(priced, "plain", { ...cheap, other: { longContext: [tier] } }))).toEqual([
    "input above 200000: 8000 > 5000",
    "output above 200000: 18000 > 15000",
    "cache_hit above 200000: 800 > 500",
  ]);
  expect(warningsOf(model({ longContext: [tier] }, "plain", { ...cheap, input: rupiah(6_000) }))).toEqual([
    "input above 0: 6000 > 5000",
  ]);
});

test("an upstream that charges for cache writes needs a write price on both sides", () => {
  expect(warningsOf(model(null, "writes"))).toEqual(["price_without_cache_write"]);
  expect(warningsOf(model(null, "writes", cheap))).toEqual(["cost_without_cache_write", "price_without_cache_write"]);
  expect(warningsOf(model({ cacheWrite: rupiah(6_250) }, "writes", cheap))).toEqual(["cost_without_cache_write"]);
  expect(warningsOf(model({ cacheWrite: rupiah(6_250) }, "writes"))).toEqual([]);
  // Sold as input, which covers what it costs.
  expect(warningsOf(model(null, "writes", { ...cheap, other: { cacheWrite: rupiah(5_000) } }))).toEqual([]);
});
