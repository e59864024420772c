// What a catalog file has for models at upstreams of Anthropic's: the prices of cache writes, and what each model accepts.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { ValidationError } from "../kernel/errors.ts";
import type { Accepts, UpstreamConfig } from "./catalog-model.ts";
import { readCatalogFile, writeCatalogFile } from "./catalog-file.ts";
import { findPossibleLosses } from "./possible-losses.ts";
import { usualFactsOf } from "./upstream-file.ts";

type Entry = Record<string, unknown>;

const claude: UpstreamConfig = {
  id: "claude",
  kind: "anthropic",
  baseUrl: "https://api.anthropic.com",
  apiKeyEnv: "CLAUDE_API_KEY",
  allowPrivateAddress: false,
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
  chargesCacheWrites: true,
};
const chat: UpstreamConfig = { ...claude, id: "chat", kind: "openai-compatible", chargesCacheWrites: false };
const WRITES = { cache_write: "6250", cache_write_1h: "10000" };
const PRICE = { input: "5000", output: "25000", cache_hit: "500" };
const model: Entry = {
  id: "acme/opus",
  context_length: 1_000,
  max_output_tokens: 100,
  price: { ...PRICE, ...WRITES },
  routes: [{ upstream: "claude", model: "opus" }],
};

const read = (fields: Entry, upstreams: readonly Entry[] = []) =>
  readCatalogFile(stringify({ upstreams, models: [{ ...model, ...fields }] }), [claude, chat]);

function problemsOf(fields: Entry, upstreams: readonly Entry[] = []): string[] {
  try {
    read(fields, upstreams);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field, rule }) => `${field} ${rule}`);
  }
}

describe("a model with a route to an upstream of the kind anthropic", () => {
  test("needs both prices of cache writes", () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ price: PRICE })).toEqual([
      "models[0].price price.cache_write",
      "models[0].price price.cache_write_1h",
    ]);
    expect(problemsOf({ price: { ...PRICE, cache_write: "6250" } })).toEqual(["models[0].price price.cache_write_1h"]);
    expect(problemsOf({ price: PRICE, routes: [{ upstream: "chat", model: "m" }] })).toEqual([]);
    const both = [
      { upstream: "chat", model: "m" },
      { upstream: "claude", model: "opus" },
    ];
    expect(problemsOf({ price: PRICE, routes: both })).toHaveLength(2);
  });

  test("needs both in the route's cost, where that is given", () => {
    const withCost = (cost: Entry) => ({ routes: [{ upstream: "claude", model: "opus", cost }] });
    expect(problemsOf(withCost({ ...PRICE, ...WRITES }))).toEqual([]);
    expect(problemsOf(withCost({ ...PRICE, cache_write: "6250" }))).toEqual([
      "models[0].routes[0].cost price.cache_write_1h",
    ]);
  });

  test("is no embeddings model", () => {
    const embeddings = { kind: "embeddings", max_output_tokens: undefined, price: { input: "1" } };
    expect(problemsOf(embeddings)).toEqual(["models[0].routes[0] embeddings"]);
  });

  test("is judged by the upstream of the file where a preset has the same id", () => {
    const own = { id: "claude", base_url: "https://proxy.example.com/v1" };
    expect(problemsOf({ price: PRICE }, [own])).toEqual([]);
  });

  test("is warned of where its hour costs more than it is sold for", () => {
    const cost = { ...PRICE, cache_write: "6250", cache_write_1h: "12000" };
    const { models } = read({ routes: [{ upstream: "claude", model: "opus", cost }] });
    expect(findPossibleLosses(models, new Map([["claude", claude]]))).toMatchObject([
      { reason: "cost_exceeds_price", price: "cache_write_1h", sold: "10000", cost: "12000" },
    ]);
  });
});

test("an upstream of the kind anthropic charges for cache writes, whatever its host is", () => {
  expect(usualFactsOf({ kind: "anthropic", baseUrl: "https://proxy.example.com" }).chargesCacheWrites).toBe(true);
  expect(usualFactsOf({ kind: "gemini", baseUrl: "https://proxy.example.com" }).chargesCacheWrites).toBe(false);
});

describe("what a model accepts", () => {
  const accepts: fc.Arbitrary<Accepts> = fc.record({
    thinking: fc.constantFrom("adaptive", "manual", "none"),
    sampling: fc.boolean(),
    prefill: fc.boolean(),
    cacheMarkers: fc.boolean(),
  });

  test("is the least where nothing is written", () => {
    for (const fields of [{}, { accepts: {} }, { accepts: { thinking: "none", cache_markers: true } }]) {
      expect(read(fields).models[0]?.accepts).toBeUndefined();
    }
    expect(read({ accepts: { thinking: "adaptive" } }).models[0]?.accepts).toEqual({
      thinking: "adaptive",
      sampling: false,
      prefill: false,
      cacheMarkers: true,
    });
  });

  test("is read as it was written", () => {
    fc.assert(
      fc.property(accepts, ({ cacheMarkers, ...others }) => {
        const file = read({ accepts: { ...others, cache_markers: cacheMarkers } });
        expect(
          file.models[0]?.accepts ?? { thinking: "none", sampling: false, prefill: false, cacheMarkers: true },
        ).toEqual({ ...others, cacheMarkers });
        expect(readCatalogFile(writeCatalogFile(file), [claude])).toEqual(file);
      }),
    );
  });

  test.each([
    [{ thinking: "deep" }, "models[0].accepts.thinking one_of"],
    [{ sampling: "yes" }, "models[0].accepts.sampling flag"],
    [{ documents: true }, "models[0].accepts unknown_key"],
    ["all", "models[0].accepts mapping"],
  ])("is refused where it is %j", (given, problem) => {
    expect(problemsOf({ accepts: given })).toContain(problem);
  });
});
