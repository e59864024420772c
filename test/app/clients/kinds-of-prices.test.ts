// Prices beside those of input, output and cached input, as a customer meets them.

import { afterAll, beforeAll, expect, test } from "vitest";
import { summarizeUsage } from "../../../src/billing/usage/summary.ts";
import { exportUsage } from "../../../src/billing/usage/usage-export.ts";
import { readCsv } from "../../dashboard/csv-file.ts";
import { chunk, completion, json, type Script, stream, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

// One rupiah per token of input, so that what is held can be counted.
const plain = { input: "1000000", output: "1000000" };
const every = {
  ...plain,
  cache_hit: "100000",
  cache_write: "1250000",
  cache_write_1h: "4000000",
  audio_input: "3000000.5",
  image_input: "2000000",
  image_output: "60000000",
  per_request: "25",
};
const tier = { above: 2_000, input: "2000000", output: "1500000", cache_hit: "200000", cache_write: "2500000" };

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({
    models: {
      every: { price: { ...every, long_context: tier }, context_length: 100_000, max_output_tokens: 1_000 },
      writes: {
        price: { ...plain, cache_write: "1250000", cache_write_1h: "4000000" },
        context_length: 100_000,
        max_output_tokens: 1_000,
      },
      plain: { price: plain },
    },
  });
});
afterAll(() => served.stop());

test("the list of models and a model show every price there is, and none that there is not", async () => {
  const { key } = await served.customer();
  const get = async (path: string) => {
    const answer = await fetch(`${served.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
    return answer.json();
  };
  const shown = {
    currency: "IDR",
    unit: "per_1m_tokens",
    ...every,
    cache_hit_percent: 10,
    long_context: [tier],
  };
  expect(await get("/models/local/every")).toMatchObject({ id: "local/every", pricing: shown });
  const { data } = (await get("/models")) as { data: { id: string; pricing: unknown }[] };
  const pricingOf = (id: string) => data.find((model) => model.id === id)?.pricing;
  expect(pricingOf("local/every")).toEqual(shown);
  expect(pricingOf("local/plain")).toEqual({ currency: "IDR", unit: "per_1m_tokens", ...plain });
});

test("a request that asks for one-hour cache writes needs a balance that covers them", async () => {
  const { key } = await served.customer({ credit: "2500" });
  const ask = (more: object) =>
    served.chat(key, {
      model: "local/writes",
      max_tokens: 1,
      messages: [{ role: "user", content: [{ type: "text", text: "in the end ".repeat(180), ...more }] }],
    });
  served.upstream.run(json(completion()));
  const long = await ask({ cache_control: { type: "ephemeral", ttl: "1h" } });
  expect(long.status).toBe(402);
  expect(served.upstream.received).toEqual([]);
  const short = await ask({ cache_control: { type: "ephemeral" } });
  expect(short.status).toBe(200);
});

const CREDIT = 100_000;

/**
 * Asks for an answer whose upstream reports a usage, and reads what became of it: what was held meanwhile, and the bill as the
 * answer, the balance, the usage page, its sums and its file show it.
 */
async function billOf(body: object, script: (usage: object) => Script, usage: object) {
  const { key, accountId } = await served.customer({ credit: String(CREDIT) });
  const held = Promise.withResolvers<number>();
  served.upstream.run(async (response, received, call) => {
    held.resolve(Number((await served.balance(accountId)).held));
    await script(usage)(response, received, call);
  });
  const answer = await served.chat(key, { model: "local/every", max_tokens: 100, ...body });
  const text = await answer.text();
  const { pool } = served.database;
  const [record] = await served.usage(accountId);
  const file = (await Array.fromAsync(exportUsage(pool, { accountId, filter: {} }))).join("");
  const { totals } = await summarizeUsage(pool, { accountId, filter: {} });
  const balance = await served.balance(accountId);
  return { text, held: await held.promise, record, line: readCsv(file)[0], totals, balance };
}

const WRITES = { type: "ephemeral", ttl: "1h" };
const asked = (characters: number) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "a".repeat(characters), cache_control: WRITES }] }],
});
const streamed = (usage: object): Script =>
  stream(wire([chunk({ content: "Halo" }), chunk({}, "stop"), usageChunk(usage), "[DONE]"]));
const whole = (usage: object): Script => json(completion({ usage }));

test.each([
  {
    name: "Anthropic's names, within the usual context, in a stream",
    body: { ...asked(4_000), stream: true, stream_options: { include_usage: true } },
    script: streamed,
    usage: {
      input_tokens: 100,
      cache_read_input_tokens: 400,
      cache_creation_input_tokens: 300,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      output_tokens: 10,
    },
    counts: { inputTokensUncached: 100, inputTokensCached: 400, outputTokens: 10, cacheWrite: 200, cacheWrite1h: 100 },
    // 100 + 400 × 0.1 + 200 × 1.25 + 100 × 4 + 10 + 25
    cost: 825,
  },
  {
    name: "OpenAI's names, in a long context, in one piece",
    body: asked(8_000),
    script: whole,
    usage: {
      prompt_tokens: 3_000,
      completion_tokens: 10,
      total_tokens: 3_010,
      prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 500 },
    },
    counts: {
      inputTokensUncached: 1_500,
      inputTokensCached: 1_000,
      outputTokens: 10,
      cacheWrite: 500,
      cacheWrite1h: 0,
    },
    // 1 500 × 2 + 1 000 × 0.2 + 500 × 2.5 + 10 × 1.5 + 25
    cost: 4_490,
  },
])("cache writes and tiers are billed alike everywhere: $name", async ({ body, script, usage, counts, cost }) => {
  const { text, held, record, line, totals, balance } = await billOf(body, script, usage);
  expect(held).toBeGreaterThanOrEqual(cost);
  expect(text).toContain(`"cost_idr":"${cost}"`);
  expect(balance).toEqual({ posted: String(CREDIT - cost), held: "0", available: String(CREDIT - cost) });
  const { cacheWrite, cacheWrite1h, ...plainCounts } = counts;
  expect(record).toMatchObject({ ...plainCounts, basis: "exact", cost: String(cost), charge: String(cost) });
  expect({ cacheWrite: 0, cacheWrite1h: 0, ...record?.otherTokens }).toEqual({ cacheWrite, cacheWrite1h });
  expect(line).toMatchObject({
    input_tokens_uncached: String(counts.inputTokensUncached),
    input_tokens_cached: String(counts.inputTokensCached),
    cache_write_tokens: String(cacheWrite),
    cache_write_1h_tokens: String(cacheWrite1h),
    output_tokens: String(counts.outputTokens),
    long_context_above_tokens: cost === 825 ? "" : "2000",
    per_request_price_idr: "25",
    cost_idr: String(cost),
    charge_idr: String(cost),
  });
  expect(totals).toMatchObject({
    requests: 1n,
    inputTokensUncached: BigInt(counts.inputTokensUncached),
    inputTokensCached: BigInt(counts.inputTokensCached),
    cacheWrite: BigInt(cacheWrite),
    cacheWrite1h: BigInt(cacheWrite1h),
    outputTokens: BigInt(counts.outputTokens),
    cost: BigInt(cost) * 1_000_000n,
    charge: BigInt(cost) * 1_000_000n,
  });
});
