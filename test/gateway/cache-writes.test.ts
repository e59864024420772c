// A request that asks an upstream to write to its prompt cache goes only to routes on which that is free, or has a price.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ValidationError } from "../../src/kernel/errors.ts";
import type { OtherPrices } from "../../src/kernel/token-prices.ts";
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, chat, modelOf, openBench, upstreamOf } from "./support.ts";

let upstream: ScriptedUpstream;
let bench: Bench;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterEach(() => bench.upstreams.close());
afterAll(() => upstream.stop());

type Setup = { readonly routes?: readonly ("charging" | "ignoring")[]; readonly otherPrices?: OtherPrices };

async function ask(more: Record<string, unknown>, { routes = ["charging"], otherPrices }: Setup = {}) {
  upstream.run(json(completion()));
  bench = openBench({
    models: [
      modelOf("local/m", {
        routes: routes.map((id) => ({ upstream: id, model: id })),
        ...(otherPrices === undefined ? {} : { otherPrices }),
      }),
    ],
    upstreams: [
      upstreamOf("charging", upstream.baseUrl, { chargesCacheWrites: true }),
      upstreamOf("ignoring", upstream.baseUrl),
    ],
  });
  const { error } = await bench.send(chat("local/m", "hi", more));
  const called = upstream.received.map(({ body }) => (JSON.parse(body.toString()) as { model: string }).model);
  return { error, called };
}

const SHORT = { cache_control: { type: "ephemeral" } };
const LONG = { cache_control: { type: "ephemeral", ttl: "1h" } };
const RETAINED = { prompt_cache_retention: "24h" };
const SHORT_PRICE = { cacheWrite: 6_250_000_000n };
const BOTH_PRICES = { ...SHORT_PRICE, cacheWrite1h: 10_000_000_000n };

const assistant = (more: object) => ({
  messages: [
    { role: "user", content: "hi" },
    { role: "assistant", content: null, ...more },
  ],
});
const CALL = { id: "c1", type: "function", function: { name: "f", arguments: "{}" } };
const PICTURE = { type: "text", text: "hi" };

/** Places within a request where some proxy reads a mark. */
const PLACES: readonly (readonly [string, string, (mark: object) => Record<string, unknown>])[] = [
  ["a call", "messages[1].tool_calls[0]", (mark) => assistant({ tool_calls: [{ ...CALL, ...mark }] })],
  [
    "what a call names",
    "messages[1].tool_calls[0].function",
    (mark) => assistant({ tool_calls: [{ ...CALL, function: { ...CALL.function, ...mark } }] }),
  ],
  [
    "a call of a custom tool",
    "messages[1].tool_calls[0].custom",
    (mark) => assistant({ tool_calls: [{ id: "c1", type: "custom", custom: { name: "f", input: "x", ...mark } }] }),
  ],
  [
    "a call of the older kind",
    "messages[1].function_call",
    (mark) => assistant({ function_call: { name: "f", ...mark } }),
  ],
  [
    "a block of thinking",
    "messages[1].thinking_blocks[0]",
    (mark) => assistant({ thinking_blocks: [{ type: "thinking", thinking: "so", ...mark }] }),
  ],
  [
    "an object of a part",
    "messages[0].content[0].more",
    (mark) => ({ messages: [{ role: "user", content: [{ ...PICTURE, more: mark }] }] }),
  ],
  [
    "a part within a part",
    "messages[0].content[0].content[0]",
    (mark) => ({ messages: [{ role: "user", content: [{ ...PICTURE, content: [mark] }] }] }),
  ],
  ["a custom tool", "tools[0].custom", (mark) => ({ tools: [{ type: "custom", custom: { name: "f", ...mark } }] })],
  ["a function of the older kind", "functions[0]", (mark) => ({ functions: [{ name: "f", ...mark }] })],
  ["a system prompt of its own", "system[0]", (mark) => ({ system: [{ type: "text", text: "so", ...mark }] })],
];

describe("a mark for the prompt cache", () => {
  it.each(PLACES)("in %s is refused where writes cost and have no price", async (_name, where, bodyWith) => {
    const { error, called } = await ask(bodyWith(SHORT));
    expect((error as ValidationError).details).toMatchObject([{ field: `${where}.cache_control`, rule: "unpriced" }]);
    expect(called).toEqual([]);
  });

  it.each(PLACES)("in %s is refused where it is written in another case", async (_name, where, bodyWith) => {
    const { error } = await ask(bodyWith({ Cache_Control: SHORT.cache_control }), { routes: ["ignoring"] });
    expect((error as ValidationError).details).toMatchObject([{ field: `${where}.Cache_Control`, rule: "spelling" }]);
  });

  it.each(PLACES)("in %s holds the price of an hour where it asks for one", async (_name, _where, bodyWith) => {
    const heldFor = async (mark: object): Promise<bigint> => {
      const { error } = await ask(bodyWith(mark), { otherPrices: BOTH_PRICES });
      expect(error).toBeNull();
      return bench.ledger.admissions[0]?.amount ?? 0n;
    };
    // The longer body alone is a few tokens more, at most 10 000 micro-rupiah each.
    expect((await heldFor(LONG)) - (await heldFor(SHORT))).toBeGreaterThan(200_000n);
  });

  it.each([
    ["a schema of a tool", { tools: [{ type: "function", function: { name: "f", parameters: schemaOf() } }] }],
    ["a schema of the answer", { response_format: { type: "json_schema", json_schema: { schema: schemaOf() } } }],
    ["the caller's metadata", { metadata: { cache_control: "mine" } }],
  ])("is none where it is a name in %s", async (_name, more) => {
    expect((await ask(more)).error).toBeNull();
  });
});

function schemaOf() {
  return { type: "object", properties: { cache_control: { type: "string" } } };
}

describe("a request that asks for cache writes", () => {
  it.each<[string, Record<string, unknown>, Setup, string]>([
    ["no price", SHORT, {}, "cache_control"],
    ["no price, for longer retention", RETAINED, {}, "prompt_cache_retention"],
    ["no price for writes of an hour", LONG, { otherPrices: SHORT_PRICE }, "cache_control"],
    ["no price on any route", SHORT, { routes: ["charging", "charging"] }, "cache_control"],
  ])("is refused by its field, without a hold, where writes cost and have %s", async (_name, more, setup, field) => {
    const { error, called } = await ask(more, setup);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).details).toMatchObject([{ field, rule: "unpriced" }]);
    expect(called).toEqual([]);
    expect(bench.ledger.admissions).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, Setup, string]>([
    ["a price", SHORT, { otherPrices: SHORT_PRICE }, "charging"],
    ["a price, for longer retention", RETAINED, { otherPrices: SHORT_PRICE }, "charging"],
    ["a price for writes of an hour", LONG, { otherPrices: BOTH_PRICES }, "charging"],
    ["no price where nothing is asked for", {}, {}, "charging"],
    ["no cost", LONG, { routes: ["ignoring"] }, "ignoring"],
    ["no cost on the second route", SHORT, { routes: ["charging", "ignoring"] }, "ignoring"],
  ])("is sent on unchanged where writes have %s", async (_name, more, setup, route) => {
    const { error, called } = await ask(more, setup);
    expect(error).toBeNull();
    expect(called).toEqual([route]);
    expect(JSON.parse(upstream.received[0]?.body.toString() ?? "")).toMatchObject(more);
  });
});

describe("what an upstream kept for an hour of a long input", () => {
  it.each([
    ["the tier's own price", { cacheWrite1h: 20_000_000_000n }, 20_000n],
    ["the larger of the other two without one", {}, 12_500n],
  ])("is billed at %s", async (_name, ofTier, price) => {
    const tier = { above: 10, input: 10n ** 10n, output: 10n ** 10n, cacheHit: null, cacheWrite: 12_500_000_000n };
    await ask(LONG, { otherPrices: { ...BOTH_PRICES, longContext: [{ ...tier, ...ofTier }] } });
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 1,
      prompt_tokens_details: { cache_write_tokens: 100, ephemeral_1h_input_tokens: 100 },
    };
    upstream.run(json(completion({ usage })));
    await bench.send(chat("local/m", "hi", LONG));
    const settlement = bench.ledger.settlements.at(-1);
    expect(settlement).toMatchObject({ otherTokens: { cacheWrite1h: 100 }, cost: 100n * price + 10_000n });
    expect(bench.ledger.admissions.at(-1)?.amount).toBeGreaterThanOrEqual(settlement?.cost ?? 10n ** 18n);
  });
});
