// Prices of every kind in the database: kept, exported, compared, warned of.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { exportCatalog, previewCatalog } from "../../src/catalog/apply-catalog.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { UpstreamConfig } from "../../src/catalog/catalog-model.ts";
import type { Database } from "../../src/database/database.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { applyCatalog } from "./apply.ts";

const local = { id: "local", base_url: "https://api.example.com/v1" };
const plain = { input: "5000", output: "15000", cache_hit: "950" };
const large = {
  id: "acme/large",
  context_length: 131_072,
  max_output_tokens: 16_384,
  price: plain,
  routes: [{ upstream: "local", model: "acme-large-2026" }],
};
const preset: UpstreamConfig = {
  id: "preset",
  kind: "openai-compatible",
  baseUrl: "https://preset.example.com/v1",
  apiKeyEnv: "PRESET_API_KEY",
  allowPrivateAddress: false,
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
};
const presetUpstreams = [preset];

describe.each(testBackends())("prices in the catalog on the %s server", (backend) => {
  let opened: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    opened = await createTestDatabase({ backend });
    database = opened.database;
  });
  afterEach(() => opened.drop());

  test("keeps prices of every kind and the other facts of a route beside its cost, and warns where they can lose money", async () => {
    const plainTier = { above: 100_000, input: "10000", output: "20000", cache_hit: "1900" };
    const long_context = { ...plainTier, cache_write: "12500", cache_write_1h: "20000" };
    const price = {
      ...plain,
      cache_write: "6250",
      cache_write_1h: "10000",
      audio_input: "9000",
      image_input: "7000",
      image_output: "120000.5",
      per_request: "50",
    };
    const cost = { ...price, cache_write: "6251", long_context };
    const routes = [
      { upstream: "local", model: "m", first_byte_timeout_ms: 20_000, may_repeat_paid: true, cost },
      { upstream: "preset", model: "m", cost: { input: "1", output: "1" } },
    ];
    const priced = { ...large, price: { ...price, long_context }, routes };
    const draft = { yaml: stringify({ upstreams: [local], models: [priced] }) };
    const charging = { presetUpstreams: [{ ...preset, chargesCacheWrites: true }] };
    expect((await previewCatalog(database, { ...draft, ...charging })).warnings).toEqual([
      {
        model: "acme/large",
        route: 0,
        upstream: "local",
        reason: "cost_exceeds_price",
        price: "cache_write",
        above: 0,
        sold: "6250",
        cost: "6251",
      },
      { model: "acme/large", route: 1, upstream: "preset", reason: "cost_without_cache_write" },
    ]);

    await applyCatalog(database, { ...draft, presetUpstreams });
    const tier = {
      above: 100_000,
      input: 10n ** 10n,
      output: 2n * 10n ** 10n,
      cacheHit: 19n * 10n ** 8n,
      cacheWrite: 125n * 10n ** 8n,
      cacheWrite1h: 2n * 10n ** 10n,
    };
    const other = {
      cacheWrite: 6_250_000_000n,
      cacheWrite1h: 10_000_000_000n,
      audioInput: 9_000_000_000n,
      imageInput: 7_000_000_000n,
      imageOutput: 120_000_500_000n,
      perRequest: 50_000_000n,
      longContext: [tier],
    };
    const served = (await createCatalog({ database, presetUpstreams }).snapshot()).models.get("acme/large");
    expect(served?.otherPrices).toEqual(other);
    expect(served?.routes).toMatchObject([
      {
        firstByteTimeoutMs: 20_000,
        mayRepeatPaid: true,
        cost: { cacheHit: 950_000_000n, other: { ...other, cacheWrite: 6_251_000_000n } },
      },
      { upstream: "preset", cost: { input: 1_000_000n, output: 1_000_000n, cacheHit: null } },
    ]);
    expect(await applyCatalog(database, { yaml: await exportCatalog(database), presetUpstreams })).toEqual([]);
    await applyCatalog(database, { yaml: stringify({ upstreams: [local], models: [large] }), presetUpstreams });
    const without = (await createCatalog({ database }).snapshot()).models.get("acme/large");
    expect(without?.otherPrices).toBeUndefined();
  });
});
