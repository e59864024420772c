import { describe, expect, it } from "vitest";
import type { Route } from "../../src/catalog/catalog-model.ts";
import { ServiceBusy } from "../../src/kernel/errors.ts";
import { WHOLE, usePlayground } from "./playground.ts";
import { completion, json, USAGE } from "./scripted-upstream.ts";
import { chat, FakeSink, modelOf, openBench, upstreamOf } from "./support.ts";

const playground = usePlayground();

describe("answers that are not streamed", () => {
  it("come back byte for byte but for the id, the model and the cost", async () => {
    const body = `{ "id" : "x",\n "choices":[{"index":0,"message":{"role":"assistant","content":"é\\u00e9 😀"},"finish_reason":"stop","extra":1.50}],"model":"m-2026", "usage": ${JSON.stringify(USAGE)} }`;
    const { sink, requestId, settlement } = await playground.play(json(body, 200, { "x-request-id": "req_1" }));
    expect(sink.bytes.toString()).toBe(
      body
        .replace('"x"', `"chatcmpl-${requestId}"`)
        .replace('"m-2026"', '"local/m"')
        .replace('{"cached_tokens":4}}', '{"cached_tokens":4},"cost_idr":"0.0838"}'),
    );
    expect(settlement).toMatchObject({
      inputTokensUncached: 7,
      inputTokensCached: 4,
      outputTokens: 3,
      cost: 83_800n,
      upstreamRequestId: "req_1",
      delivered: false, // it goes out behind its settlement
    });
  });

  it("may have as many log probabilities as they have tokens", async () => {
    const top_logprobs = Array.from({ length: 20 }, () => ({ token: "a", logprob: -1, bytes: [97] }));
    const content = Array.from({ length: 2_000 }, () => ({ token: "a", logprob: -1, bytes: [97], top_logprobs }));
    const message = { role: "assistant", content: "Halo" };
    const choices = [{ index: 0, message, logprobs: { content }, finish_reason: "stop" }];
    const { error, sink } = await playground.play(json(completion({ choices })));
    expect(error).toBeNull();
    expect(sink.json["choices"]).toEqual(choices);
  });

  it.each<[string, unknown, object]>([
    ["missing", undefined, { basis: "estimated" }],
    ["null", null, { basis: "estimated" }],
    ["empty", {}, { basis: "estimated" }],
    ["without the completion", { prompt_tokens: 3 }, { basis: "estimated" }],
    ["zero", { prompt_tokens: 0, completion_tokens: 0 }, { basis: "estimated", clamped: false, outputTokens: 2 }],
    ["zero for what was written", { prompt_tokens: 11, completion_tokens: 0 }, { basis: "estimated", outputTokens: 2 }],
    ["zero for the prompt", { prompt_tokens: 0, completion_tokens: 9 }, { basis: "estimated", outputTokens: 9 }],
    ["negative", { prompt_tokens: -5, completion_tokens: -1 }, { basis: "estimated", clamped: true, outputTokens: 2 }],
    [
      "negative for what was written",
      { prompt_tokens: 11, completion_tokens: -3 },
      { basis: "estimated", clamped: true },
    ],
    [
      "fractional",
      { prompt_tokens: 2.5, completion_tokens: 1 },
      { basis: "exact", clamped: true, inputTokensUncached: 3 },
    ],
    ["text", { prompt_tokens: "7", completion_tokens: 1 }, { basis: "exact", clamped: true, inputTokensUncached: 7 }],
    ["nonsense", { prompt_tokens: "many", completion_tokens: 1 }, { basis: "estimated" }],
    [
      "cached above the prompt",
      { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 99 } },
      { clamped: true, inputTokensUncached: 0, inputTokensCached: 5 },
    ],
    [
      "absurd",
      { prompt_tokens: 1e300, completion_tokens: 9e15 },
      { basis: "estimated", clamped: true, outputTokens: 2 },
    ],
    [
      "DeepSeek's",
      { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 3 },
      { clamped: false, inputTokensUncached: 3, inputTokensCached: 6 },
    ],
  ])("are billed soundly when the usage is %s", async (_name, usage, expected) => {
    const { sink, settlement } = await playground.play(json(completion({ usage })));
    expect(settlement).toMatchObject(expected);
    expect(settlement.cost).toBeGreaterThanOrEqual(0n);
    // The bytes of the body, and what a provider may put before it.
    expect(settlement.inputTokensUncached).toBeLessThanOrEqual(JSON.stringify(WHOLE).length + 1_024);
    expect(sink.json["usage"]).toMatchObject({ completion_tokens: settlement.outputTokens });
  });

  it("are billed exactly where nothing was written and the usage has no output", async () => {
    const choices = [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "content_filter" }];
    const usage = { prompt_tokens: 11, completion_tokens: 0 };
    const { settlement } = await playground.play(json(completion({ choices, usage })));
    expect(settlement).toMatchObject({ basis: "exact", inputTokensUncached: 11, outputTokens: 0 });
  });

  it("bill the catalog's figure for pictures where the upstream counts nothing", async () => {
    playground.bench = openBench({
      models: [modelOf("local/m", { inputModalities: ["text", "image"] })],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
    });
    const picture = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    const estimated = await playground.play(json(completion({ usage: null })), chat("local/m", [picture]));
    expect(estimated.settlement.inputTokensUncached).toBeGreaterThan(4_096);
    expect(estimated.settlement.inputTokensUncached).toBeLessThan(4_200);
  });

  it("bill the true tokens of a large picture, which are above what is held for one", async () => {
    playground.bench = openBench({
      models: [modelOf("local/m", { inputModalities: ["text", "image"] })],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
    });
    const picture = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
    const usage = { prompt_tokens: 48_000, completion_tokens: 3 };
    const { settlement } = await playground.play(json(completion({ usage })), chat("local/m", [picture]));
    expect(settlement).toMatchObject({ basis: "exact", inputTokensUncached: 48_000, clamped: false });
  });

  it("record what the upstream costs us, by the price of the route that answered", async () => {
    const cost = { input: 3_000_000_000n, output: 9_000_000_000n, cacheHit: 300_000_000n };
    const [dear, priced, unpriced] = [
      { upstream: "gone", model: "m", cost: { input: 1n, output: 1n, cacheHit: null } },
      { upstream: "local", model: "m", cost },
      { upstream: "local", model: "m" },
    ];
    const settledBy = async (...routes: Route[]) => {
      playground.bench = openBench({
        models: [modelOf("local/m", { routes })],
        upstreams: [
          upstreamOf("local", playground.upstream.baseUrl),
          // No server listens on the discard port of the loopback.
          upstreamOf("gone", "http://127.0.0.1:9/v1"),
        ],
      });
      return (await playground.play(json(completion()))).settlement;
    };
    // 7 uncached, 4 cached and 3 written tokens.
    const expected = 7n * 3_000n + 4n * 300n + 3n * 9_000n;
    expect(await settledBy(priced)).toMatchObject({ upstream: "local", upstreamCost: expected, cost: 83_800n });
    expect(await settledBy(dear, priced)).toMatchObject({ upstream: "local", upstreamCost: expected });
    expect(await settledBy(unpriced)).toMatchObject({ upstream: "local", upstreamCost: null });
  });

  it("are sent with the upstream's credential and model and the bound that is held, and nothing else changed", async () => {
    await playground.play(json(completion()));
    expect(playground.upstream.received[0]?.headers.authorization).toBe("Bearer sk-upstream-secret");
    expect(playground.upstream.received[0]?.body.toString()).toBe(
      JSON.stringify({ max_tokens: 16_384, ...WHOLE, model: "m" }),
    );
  });

  it("are settled before they are shown, and not shown when the settlement fails", async () => {
    const sink = new FakeSink();
    playground.bench.ledger.onSettle = () => {
      expect(sink.head).toBeNull();
      return Promise.reject(new ServiceBusy());
    };
    playground.upstream.run(json(completion()));
    const { error } = await playground.bench.send(WHOLE, sink);
    expect(error).toBeInstanceOf(ServiceBusy);
    expect(sink.head).toBeNull();
    expect(playground.bench.ledger.settlements).toHaveLength(1);
  });
});
