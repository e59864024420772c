import { expect, test } from "vitest";
import type { UpstreamConfig } from "./catalog-model.ts";
import { compareCatalogs } from "./catalog-changes.ts";
import type { FileModel } from "./model-file.ts";

const upstream: UpstreamConfig = {
  id: "local",
  kind: "openai-compatible",
  baseUrl: "https://api.example.com/v1",
  apiKeyEnv: null,
  allowPrivateAddress: false,
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
};
const model: FileModel = {
  id: "acme/large",
  name: "Acme Large",
  description: "",
  badge: null,
  inputModalities: ["text"],
  contextLength: 1_000,
  maxOutputTokens: 100,
  mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
  kind: "chat",
  hiddenOutput: false,
  inputPrice: 5_000_000_000n,
  outputPrice: 15_000_000_000n,
  cacheHitPrice: null,
  routes: [{ upstream: "local", model: "m" }],
};
const active = { upstreams: [upstream], models: [model] };
const withModel = (fields: Partial<FileModel>) => ({ ...active, models: [{ ...model, ...fields }] });

test("reports nothing where nothing differs", () => {
  expect(compareCatalogs(active, active)).toEqual([]);
});

test("reports what is added and what is left out, with all its fields", () => {
  const [added, retired] = compareCatalogs(active, withModel({ id: "acme/new" }));
  expect(added).toMatchObject({ kind: "model", id: "acme/new", change: "added", priceDifference: null });
  expect(added?.fields).toContainEqual({ field: "price.input", before: null, after: "5000" });
  expect(retired).toMatchObject({ kind: "model", id: "acme/large", change: "retired", priceDifference: null });
  expect(retired?.fields).toContainEqual({ field: "price.output", before: "15000", after: null });
});

test("reports how far the prices of a changed model move, cached tokens by what they really cost", () => {
  expect(compareCatalogs(active, withModel({ inputPrice: 5_500_000_000n, cacheHitPrice: 950_000_000n }))).toEqual([
    {
      kind: "model",
      id: "acme/large",
      change: "changed",
      fields: [
        { field: "price.input", before: "5000", after: "5500" },
        { field: "price.cache_hit", before: null, after: "950" },
      ],
      priceDifference: { input: "+500", output: "0", cacheHit: "-4050" },
    },
  ]);
});

test("names each price of a kind and of a tier, and how far it moves from what applied there", () => {
  const rupiah = (whole: number) => BigInt(whole) * 1_000_000n;
  const tier = { above: 500, input: rupiah(10_000), output: rupiah(20_000), cacheHit: null };
  const priced = withModel({ otherPrices: { cacheWrite: rupiah(6_250), perRequest: rupiah(50), longContext: [tier] } });
  const [added] = compareCatalogs(active, priced);
  expect(added?.fields).toEqual([
    { field: "price.cache_write", before: null, after: "6250" },
    { field: "price.per_request", before: null, after: "50" },
    { field: "price.long_context.500.input", before: null, after: "10000" },
    { field: "price.long_context.500.output", before: null, after: "20000" },
  ]);
  expect(added?.priceDifference).toEqual({
    input: "0",
    output: "0",
    cacheHit: "0",
    // Written tokens cost as much as input before.
    cacheWrite: "+1250",
    perRequest: "+50",
    longContext: [{ above: 500, input: "+5000", output: "+5000", cacheHit: "+5000" }],
  });
  const [lowered] = compareCatalogs(
    priced,
    withModel({
      otherPrices: {
        cacheWrite: rupiah(6_250),
        perRequest: rupiah(50),
        longContext: [
          { ...tier, cacheWrite: rupiah(12_000) },
          { ...tier, above: 800 },
        ],
      },
    }),
  );
  expect(lowered?.fields.map(({ field }) => field)).toEqual([
    "price.long_context.500.cache_write",
    "price.long_context.800.input",
    "price.long_context.800.output",
  ]);
  expect(lowered?.priceDifference?.longContext).toEqual([
    { above: 500, input: "0", output: "0", cacheHit: "0", cacheWrite: "+2000" },
    { above: 800, input: "0", output: "0", cacheHit: "0" },
  ]);
});

test("reports a change without a price, and the order of routes as one", () => {
  const [changed] = compareCatalogs(
    active,
    withModel({ routes: [{ upstream: "local", model: "n" }, ...model.routes] }),
  );
  expect(changed?.fields.map(({ field }) => field)).toEqual(["routes"]);
  expect(changed?.priceDifference).toBeNull();
});

test("reports changes of upstreams before those of models", () => {
  const file = { upstreams: [{ ...upstream, idleTimeoutMs: 1_000 }], models: [] };
  expect(compareCatalogs(active, file)).toMatchObject([
    {
      kind: "upstream",
      id: "local",
      change: "changed",
      fields: [{ field: "idle_timeout_ms", before: null, after: 1_000 }],
    },
    { kind: "model", id: "acme/large", change: "retired" },
  ]);
});
