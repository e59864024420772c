import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { ValidationError } from "../kernel/errors.ts";
import type { OtherPrices } from "../kernel/token-prices.ts";
import type { RouteCost, UpstreamConfig } from "./catalog-model.ts";
import { readCatalogFile, writeCatalogFile } from "./catalog-file.ts";
import type { FileModel } from "./model-file.ts";
import { parseOtherPrices, parsePrices, writeOtherPrices, writePrices } from "./price-file.ts";
import { MAX_PRICE, pricesOf } from "./prices.ts";

const preset: UpstreamConfig = {
  id: "preset",
  kind: "openai-compatible",
  baseUrl: "https://api.example.com/v1",
  apiKeyEnv: null,
  allowPrivateAddress: false,
  connectTimeoutMs: 5_000,
  firstByteTimeoutMs: 120_000,
  idleTimeoutMs: 60_000,
};
const CONTEXT_LENGTH = 1_000_000;
const rupiah = (whole: number) => BigInt(whole) * 1_000_000n;
const plain = { input: "5000", output: "15000" };
const tier = { above: 200_000, input: "10000", output: "22500" };

const fileOf = (price: unknown, route: object = {}) =>
  stringify({
    models: [
      {
        id: "acme/large",
        context_length: CONTEXT_LENGTH,
        max_output_tokens: 100,
        price,
        routes: [{ upstream: "preset", model: "m", ...route }],
      },
    ],
  });

function read(price: unknown, route: object = {}): FileModel {
  const [model] = readCatalogFile(fileOf(price, route), [preset]).models;
  if (model === undefined) throw new Error("the file has one model");
  return model;
}

/** What a price is refused for: `path rule` of each problem, without the model's own path. */
function problemsOf(price: unknown, route: object = {}): string[] {
  try {
    read(price, route);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field, rule }) => `${field.replace("models[0].", "")} ${rule}`);
  }
}

const price = fc.bigInt({ min: 0n, max: MAX_PRICE });
/** Prices of all kinds, with what a tier has to name because the prices below it name it. */
const allPrices: fc.Arbitrary<RouteCost> = fc
  .record({
    input: price,
    output: price,
    cacheHit: fc.option(price),
    kinds: fc.record(
      {
        cacheWrite: price,
        cacheWrite1h: price,
        audioInput: price,
        imageInput: price,
        imageOutput: price,
        perRequest: price,
      },
      { requiredKeys: [] },
    ),
    tiers: fc.uniqueArray(
      fc.record({
        above: fc.integer({ min: 1, max: CONTEXT_LENGTH - 1 }),
        input: price,
        output: price,
        cacheHit: price,
        cacheWrite: price,
      }),
      { selector: ({ above }) => above, maxLength: 4 },
    ),
  })
  .map(({ kinds, tiers, ...base }) => {
    const longContext = tiers
      .toSorted((one, next) => one.above - next.above)
      .map(({ cacheHit, cacheWrite, ...rest }) => ({
        ...rest,
        cacheHit: base.cacheHit === null ? null : cacheHit,
        ...(kinds.cacheWrite === undefined ? {} : { cacheWrite }),
      }));
    const other: OtherPrices = { ...kinds, ...(longContext.length === 0 ? {} : { longContext }) };
    return Object.keys(other).length === 0 ? base : { ...base, other };
  });

describe("prices in a catalog file", () => {
  test("are read of every kind, for customers and for what a route costs", () => {
    const written = {
      ...plain,
      cache_hit: "500",
      cache_write: "6250",
      cache_write_1h: "10000",
      audio_input: "12000",
      image_input: "7000.5",
      image_output: "120000",
      per_request: "150",
      long_context: { ...tier, cache_hit: "1000", cache_write: "12500", cache_write_1h: "20000" },
    };
    const expected = {
      input: rupiah(5_000),
      output: rupiah(15_000),
      cacheHit: rupiah(500),
      other: {
        cacheWrite: rupiah(6_250),
        cacheWrite1h: rupiah(10_000),
        audioInput: rupiah(12_000),
        imageInput: 7_000_500_000n,
        imageOutput: rupiah(120_000),
        perRequest: rupiah(150),
        longContext: [
          {
            above: 200_000,
            input: rupiah(10_000),
            output: rupiah(22_500),
            cacheHit: rupiah(1_000),
            cacheWrite: rupiah(12_500),
            cacheWrite1h: rupiah(20_000),
          },
        ],
      },
    };
    const model = read(written, { cost: written, first_byte_timeout_ms: 20_000, may_repeat_paid: true });
    expect(pricesOf(model)).toEqual(expected);
    expect(model.routes).toEqual([
      { upstream: "preset", model: "m", cost: expected, firstByteTimeoutMs: 20_000, mayRepeatPaid: true },
    ]);
  });

  test("have their tiers in the order of the thresholds, in any order of the file", () => {
    const tiers = [{ ...tier, above: 500_000 }, tier];
    const { otherPrices } = read({ ...plain, long_context: tiers });
    expect(otherPrices?.longContext?.map(({ above }) => above)).toEqual([200_000, 500_000]);
    expect(writeCatalogFile({ upstreams: [], models: [read({ ...plain, long_context: tiers })] })).toBe(
      writeCatalogFile({ upstreams: [], models: [read({ ...plain, long_context: tiers.toReversed() })] }),
    );
  });

  test.each([
    [{ long_context: { above: 200_000, output: "1" } }, ["price.long_context.input required"]],
    [{ long_context: { above: 200_000, input: "1" } }, ["price.long_context.output required"]],
    [{ long_context: { input: "1", output: "1" } }, ["price.long_context.above required"]],
    [{ long_context: { ...tier, above: "200000" } }, ["price.long_context.above integer"]],
    [{ long_context: { ...tier, above: 0 } }, ["price.long_context.above integer"]],
    [{ long_context: { ...tier, above: CONTEXT_LENGTH } }, ["price.long_context.above long_context.above"]],
    [{ cache_hit: "1", long_context: tier }, ["price.long_context.cache_hit required"]],
    [{ cache_write: "1", long_context: [tier] }, ["price.long_context[0].cache_write required"]],
    [{ long_context: [tier, tier] }, ["price.long_context[1].above long_context.unique"]],
    [{ long_context: [] }, ["price.long_context list"]],
    [{ long_context: "200000" }, ["price.long_context mapping"]],
    [{ long_context: { ...tier, audio_input: "1" } }, ["price.long_context unknown_key"]],
    [{ long_context: { ...tier, input: "-1" } }, ["price.long_context.input decimal.not_a_decimal"]],
    [{ cache_write: "-1" }, ["price.cache_write decimal.not_a_decimal"]],
    [{ cache_write_1h: "1000000000.000001" }, ["price.cache_write_1h decimal.max"]],
    [{ audio_input: 12000 }, ["price.audio_input decimal"]],
    [{ image_input: "0.0000001" }, ["price.image_input decimal.too_precise"]],
    [{ per_request: "free" }, ["price.per_request decimal.not_a_decimal"]],
    [{ cache_writes: "1" }, ["price unknown_key"]],
  ])("are refused with %j", (fields, problems) => {
    expect(problemsOf({ ...plain, ...fields })).toEqual(problems);
    expect(problemsOf(plain, { cost: { ...plain, ...fields } })).toEqual(
      problems.map((problem) => problem.replace("price", "routes[0].cost")),
    );
  });

  test("are refused with every problem at once, and with them a route that does not keep its rules", () => {
    const long_context = [{ above: 2_000_000, output: "1", cache_hit: "-1" }];
    const route = { first_byte_timeout_ms: 0, may_repeat_paid: "yes", cost: { ...plain, cache_write: "-1" } };
    expect(problemsOf({ ...plain, cache_write: "1", long_context }, route)).toEqual([
      "price.long_context[0].above long_context.above",
      "price.long_context[0].cache_write required",
      "price.long_context[0].input required",
      "price.long_context[0].cache_hit decimal.not_a_decimal",
      "routes[0].first_byte_timeout_ms integer",
      "routes[0].may_repeat_paid flag",
      "routes[0].cost.cache_write decimal.not_a_decimal",
    ]);
  });

  test("read as the same after they were written, in the file and in the database", () => {
    const routes = fc.record(
      { cost: allPrices, firstByteTimeoutMs: fc.integer({ min: 100, max: 600_000 }), mayRepeatPaid: fc.constant(true) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(allPrices, routes, ({ input, output, cacheHit, other }, route) => {
        const given: FileModel = {
          ...read(plain),
          inputPrice: input,
          outputPrice: output,
          cacheHitPrice: cacheHit,
          ...(other ? { otherPrices: other } : {}),
          routes: [{ upstream: "preset", model: "m", ...route }],
        };
        const written = writeCatalogFile({ upstreams: [], models: [given] });
        expect(readCatalogFile(written, [preset]).models).toEqual([given]);
        expect(parsePrices(writePrices(pricesOf(given)))).toEqual(pricesOf(given));
        expect(parseOtherPrices(writeOtherPrices(other ?? {}))).toEqual(other ?? {});
      }),
    );
  });
});
