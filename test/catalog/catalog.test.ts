import { afterAll, beforeEach, afterEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { exportCatalog } from "../../src/catalog/apply-catalog.ts";
import { createCatalog } from "../../src/catalog/catalog.ts";
import type { CatalogModel, UpstreamConfig } from "../../src/catalog/catalog-model.ts";
import type { Database } from "../../src/database/database.ts";
import { openPool } from "../../src/database/login-connections.ts";
import { UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import { createTestDatabase, testBackends, type TestDatabase } from "../setup/test-database.ts";
import { applyCatalog } from "./apply.ts";

type Entry = Record<string, unknown>;
const local: Entry = { id: "local", base_url: "https://api.example.com/v1", api_key_env: "LOCAL_API_KEY" };
const large: Entry = {
  id: "acme/large",
  name: "Acme Large",
  badge: "-20%",
  input_modalities: ["text", "image"],
  context_length: 131_072,
  max_output_tokens: 16_384,
  price: { input: "5000", output: "15000", cache_hit: "950" },
  routes: [{ upstream: "local", model: "acme-large-2026" }],
};
const small: Entry = {
  id: "acme/small",
  context_length: 1_000,
  max_output_tokens: 100,
  hidden_output: true,
  accepts: { thinking: "manual", cache_markers: false },
  price: { input: "0.000001", output: "1000000000" },
  routes: [
    { upstream: "local", model: "s", cost: { input: "0.000001", output: "999999999.999999", cache_hit: "0" } },
    { upstream: "preset", model: "s" },
  ],
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

const names = (changes: readonly { kind: string; id: string; change: string }[]) =>
  changes.map(({ kind, id, change }) => `${change} ${kind} ${id}`);
const modelsPriced = (input: string) => [large, small].map((model) => ({ ...model, price: { input, output: "1" } }));

describe.each(testBackends())("the catalog on the %s server", (backend) => {
  let opened: TestDatabase;
  let database: Database;
  beforeEach(async () => {
    opened = await createTestDatabase({ backend });
    database = opened.database;
  });
  afterEach(() => opened.drop());

  const apply = (models: readonly Entry[], { upstreams = [local], dryRun = false } = {}) =>
    applyCatalog(database, { yaml: stringify({ upstreams, models }), dryRun, presetUpstreams });
  const history = async () => {
    const { rows } = await database.pool.query<Entry>(
      "SELECT subject, change, before, after FROM catalog_change ORDER BY changed_at",
    );
    return rows;
  };

  test("is empty at first and serves what was applied, presets included", async () => {
    const empty = await createCatalog({ database }).snapshot();
    expect([empty.models.size, empty.upstreams.size]).toEqual([0, 0]);
    expect(names(await apply([large, small]))).toEqual([
      "added upstream local",
      "added model acme/large",
      "added model acme/small",
    ]);
    const clock = { now: () => 1_234 };
    const { models, upstreams, takenAtMs } = await createCatalog({ database, clock, presetUpstreams }).snapshot();
    expect(takenAtMs).toBe(1_234);
    expect([...models.keys()]).toEqual(["acme/large", "acme/small"]);
    expect(models.get("acme/large")).toEqual({
      id: "acme/large",
      name: "Acme Large",
      description: "",
      badge: "-20%",
      inputModalities: ["text", "image"],
      contextLength: 131_072,
      maxOutputTokens: 16_384,
      mediaTokens: { image: 4_096, audio: 16_384, video: 65_536 },
      kind: "chat",
      hiddenOutput: false,
      inputPrice: 5_000_000_000n,
      outputPrice: 15_000_000_000n,
      cacheHitPrice: 950_000_000n,
      routes: [{ upstream: "local", model: "acme-large-2026" }],
      createdAt: expect.any(Date) as Date,
    });
    expect(models.get("acme/small")).toMatchObject({
      hiddenOutput: true,
      accepts: { thinking: "manual", sampling: false, prefill: false, cacheMarkers: false },
      inputPrice: 1n,
      outputPrice: 10n ** 15n,
      cacheHitPrice: null,
      routes: [
        { upstream: "local", model: "s", cost: { input: 1n, output: 10n ** 15n - 1n, cacheHit: 0n } },
        { upstream: "preset", model: "s" },
      ],
    });
    expect([...upstreams.keys()].toSorted()).toEqual(["local", "preset"]);
    expect(upstreams.get("preset")).toEqual(preset);
  });

  test("shows what would change without changing it", async () => {
    await apply([large]);
    const dearer = { ...large, price: { input: "5500", output: "15000", cache_hit: "950" } };
    const shown = await apply([dearer], { dryRun: true });
    expect(shown).toMatchObject([
      { change: "changed", priceDifference: { input: "+500", output: "0", cacheHit: "0" } },
    ]);
    expect((await createCatalog({ database }).snapshot()).models.get("acme/large")?.inputPrice).toBe(5_000_000_000n);
    expect(await history()).toHaveLength(2);
    expect(await apply([dearer])).toEqual(shown);
    expect(await apply([dearer])).toEqual([]);
  });

  test("serves preset models beside the file's, which may change one and cannot take one away", async () => {
    const presetModels: CatalogModel[] = [
      {
        id: "preset/free",
        name: "Free",
        description: "",
        badge: null,
        inputModalities: ["text"],
        contextLength: 1_000,
        maxOutputTokens: 100,
        mediaTokens: { image: 1, audio: 2, video: 3 },
        kind: "chat",
        hiddenOutput: false,
        inputPrice: 0n,
        outputPrice: 0n,
        cacheHitPrice: null,
        routes: [{ upstream: "preset", model: "f" }],
        createdAt: new Date(0),
      },
    ];
    const applyBeside = (yaml: string) => applyCatalog(database, { yaml, presetUpstreams, presetModels });
    const served = async () => (await createCatalog({ database, presetUpstreams, presetModels }).snapshot()).models;

    expect(
      names(await applyBeside(stringify({ models: [{ ...small, routes: [{ upstream: "preset", model: "s" }] }] }))),
    ).toEqual(["added model acme/small"]);
    expect([...(await served()).keys()]).toEqual(["acme/small", "preset/free"]);
    expect(await applyBeside(await exportCatalog(database, { presetModels }))).toEqual([]);

    const priced = { ...small, id: "preset/free", routes: [{ upstream: "preset", model: "f" }] };
    expect(names(await applyBeside(stringify({ models: [priced] })))).toEqual([
      "changed model preset/free",
      "retired model acme/small",
    ]);
    expect((await served()).get("preset/free")?.inputPrice).toBe(1n);
    await applyBeside("models: []");
    expect((await served()).get("preset/free")?.inputPrice).toBe(0n);
  });

  test("retires what the file leaves out, and takes it back with the day it first came", async () => {
    await apply([large, small]);
    const before = (await createCatalog({ database, presetUpstreams }).snapshot()).models.get("acme/large");
    expect(names(await apply([small]))).toEqual(["retired model acme/large"]);
    expect((await createCatalog({ database }).snapshot()).models.has("acme/large")).toBe(false);
    expect(await apply([small])).toEqual([]);
    expect(names(await apply([large, small]))).toEqual(["added model acme/large"]);
    expect((await createCatalog({ database, presetUpstreams }).snapshot()).models.get("acme/large")).toEqual(before);
  });

  test("retires an upstream only when no model is routed to it", async () => {
    await apply([large]);
    await expect(apply([large], { upstreams: [] })).rejects.toThrow(ValidationError);
    expect(names(await apply([], { upstreams: [] }))).toEqual(["retired upstream local", "retired model acme/large"]);
  });

  test("keeps what every apply changed", async () => {
    await apply([large]);
    await apply([{ ...large, badge: "new" }]);
    await apply([]);
    expect(await history()).toMatchObject([
      { subject: "upstream:local", change: "added", before: null, after: { base_url: "https://api.example.com/v1" } },
      { subject: "model:acme/large", change: "added", before: null, after: { "price.input": "5000" } },
      { subject: "model:acme/large", change: "changed", before: { badge: "-20%" }, after: { badge: "new" } },
      { subject: "model:acme/large", change: "retired", before: { badge: "new" }, after: null },
    ]);
  });

  test("exports a file that applies to no changes", async () => {
    await apply([large, small]);
    const yaml = await exportCatalog(database);
    expect(await applyCatalog(database, { yaml, presetUpstreams })).toEqual([]);
    await applyCatalog(database, { yaml: "models: []" });
    await applyCatalog(database, { yaml, presetUpstreams });
    expect(await exportCatalog(database)).toBe(yaml);
  });

  test("takes applies that come together one after the other, each whole", async () => {
    const applied = await Promise.all(["1", "2", "3", "4"].map((input) => apply(modelsPriced(input))));
    // Only the first adds the upstream.
    expect(applied.map((changes) => changes.length).toSorted((a, b) => a - b)).toEqual([2, 2, 2, 3]);
    const { models } = await createCatalog({ database }).snapshot();
    expect(new Set([...models.values()].map(({ inputPrice }) => inputPrice)).size).toBe(1);
    const rows = await history();
    // Each change starts where the one before has ended.
    for (const subject of ["model:acme/large", "model:acme/small"]) {
      const ofModel = rows.filter((row) => row["subject"] === subject) as { before: Entry | null; after: Entry }[];
      const befores = ofModel.slice(1).map(({ before }) => before?.["price.input"]);
      expect(befores).toEqual(ofModel.slice(0, -1).map(({ after }) => after["price.input"]));
    }
  });

  test("refuses a wrong file whole", async () => {
    await expect(apply([large, { ...small, id: "../x" }])).rejects.toThrow(ValidationError);
    expect(await history()).toEqual([]);
  });

  test("serves one snapshot for a minute and the new catalog after it", async () => {
    await apply([large]);
    const monotonicClock = { nowMs: 0, now: () => monotonicClock.nowMs };
    const catalog = createCatalog({ database, monotonicClock });
    const first = await catalog.snapshot();
    await apply([]);
    monotonicClock.nowMs = 49_999;
    expect(await catalog.snapshot()).toBe(first);
    monotonicClock.nowMs = 60_000;
    expect((await catalog.snapshot()).models.size).toBe(0);
  });
});

describe("the catalog without a database", () => {
  const pool = openPool({ host: "/nowhere" }, 1);
  afterAll(() => pool.end());

  test("is busy, not broken", async () => {
    await expect(createCatalog({ database: { pool } }).snapshot()).rejects.toThrow(UpstreamBusy);
  });
});
