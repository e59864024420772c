// What is billed when upstreams ignore the bound, report too little, report in other shapes, or break off.

import { describe, expect, it } from "vitest";
import { costOf } from "../../src/billing/cost.ts";
import type { Settlement } from "../../src/ledger/ledger.ts";
import { usePlayground } from "./playground.ts";
import { chunk, completion, json, type Script, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { chat, modelOf, openBench, upstreamOf } from "./support.ts";

const playground = usePlayground();
const WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do ".repeat(50);
const OTHER_WORDS = "sit dolor ".repeat(1_000);
const PIECES = 20;
/** About what our tokenizer makes of the words, PIECES times. */
const RELAYED = { from: 10_000, to: 16_000 };
const WRITTEN = 12_000;
const OUTPUT_TOKEN = 15_000n;

const usageOf = (output: number, more: Record<string, unknown> = {}) => ({
  prompt_tokens: 11,
  completion_tokens: output,
  total_tokens: 11 + output,
  ...more,
});
const streamOf = (usage: unknown, delta: (words: string) => unknown = (content) => ({ content })): Script =>
  stream(
    ...Array.from({ length: PIECES }, () => wire([chunk(delta(WORDS))])),
    wire([chunk({}, "stop"), usageChunk(usage), "[DONE]"]),
  );
const wholeOf = (usage: unknown): Script =>
  json(
    completion({
      choices: [{ index: 0, message: { role: "assistant", content: WORDS.repeat(PIECES) }, finish_reason: "stop" }],
      usage,
    }),
  );
const customCall = (input: string) => ({ index: 0, type: "custom", custom: { input } });
const STREAMED = (more: Record<string, unknown> = {}) => chat("local/m", "write a lot", { stream: true, ...more });
const WHOLE = (more: Record<string, unknown> = {}) => chat("local/m", "write a lot", more);

function expectRelayed({ outputTokens }: Settlement): void {
  expect(outputTokens).toBeGreaterThan(RELAYED.from);
  expect(outputTokens).toBeLessThan(RELAYED.to);
}

describe("an upstream that ignores the bound", () => {
  it("and answers whole is billed for what was relayed", async () => {
    const { settlement } = await playground.play(wholeOf(usageOf(WRITTEN)), WHOLE({ max_completion_tokens: 1 }));
    expectRelayed(settlement);
    expect(settlement.cost).toBeGreaterThan(BigInt(RELAYED.from) * OUTPUT_TOKEN);
  });

  const reasoned = usageOf(WRITTEN, { completion_tokens_details: { reasoning_tokens: WRITTEN } });
  it.each([
    ["streams", STREAMED({ max_completion_tokens: 1 }), streamOf(usageOf(WRITTEN))],
    [
      "streams calls of a custom tool",
      STREAMED({ max_tokens: 1 }),
      stream(wire(Array.from({ length: 600 }, () => chunk({ tool_calls: [customCall(" lorem")] })))),
    ],
    ["streams reasoning", STREAMED({ max_tokens: 1 }), streamOf(reasoned, (text) => ({ reasoning_content: text }))],
  ])("and %s is ended, and billed for what was relayed", async (_name, body, script) => {
    const { settlement } = await playground.play(script, body);
    // One and a half times the bound and 256 tokens by our count.
    expect(settlement.outputTokens).toBeGreaterThan(200);
    expect(settlement.outputTokens).toBeLessThan(320);
    expect(settlement.basis).toBe("estimated");
  });

  it("and reports more than may be costs the operator the difference, and the margin has it", async () => {
    const cost = { input: 1_000_000n, output: 2_000_000n, cacheHit: null };
    playground.bench = openBench({
      models: [modelOf("local/m", { routes: [{ upstream: "local", model: "m", cost }] })],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
    });
    const { settlement } = await playground.play(json(completion({ usage: usageOf(400) })), WHOLE({ max_tokens: 100 }));
    expect(settlement).toMatchObject({
      basis: "exact",
      clamped: true,
      outputTokens: 100,
      unbilledCost: 300n * OUTPUT_TOKEN,
      upstreamCost: costOf({ inputTokensUncached: 11, inputTokensCached: 0, outputTokens: 400 }, cost),
      metering: { rules: ["output_above_bound"], reported: { outputTokens: 400 } },
    });
  });

  it("and reports what no model can write is billed for what it gave, without a loss", async () => {
    const { settlement } = await playground.play(
      json(completion({ usage: usageOf(2 ** 63) })),
      WHOLE({ max_tokens: 100 }),
    );
    expect(settlement).toMatchObject({ basis: "estimated", clamped: true, outputTokens: 2 });
    expect(settlement.unbilledCost ?? 0n).toBe(0n);
    expect(settlement.metering?.rules).toEqual(
      expect.arrayContaining(["impossible_count", "output_far_above_relayed", "implausible_count"]),
    );
    expect(settlement.metering?.reported?.outputTokens).toBe(2_147_483_647);
  });
});

describe("a report far below what was relayed", () => {
  it.each([
    ["of a stream", STREAMED(), streamOf(usageOf(40))],
    ["of a whole answer", WHOLE(), wholeOf(usageOf(40))],
  ])("%s is not used, and its input is", async (_name, body, script) => {
    const { settlement } = await playground.play(script, body);
    expectRelayed(settlement);
    expect(settlement).toMatchObject({
      basis: "estimated",
      clamped: true,
      inputTokensUncached: 11,
      metering: { rules: ["output_below_relayed"], reported: { outputTokens: 40 } },
    });
  });

  it.each([
    ["more than half of it", usageOf(8_000), 8_000],
    ["more than it, because reasoning was hidden", usageOf(16_000), 16_000],
  ])("is billed as it is when it is %s", async (_name, usage, output) => {
    const { settlement } = await playground.play(streamOf(usage), STREAMED());
    expect(settlement).toMatchObject({ basis: "exact", clamped: false, outputTokens: output });
  });
});

describe("a usage object", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      "of Gemini bills the thinking that only its total has",
      { prompt_tokens: 9, completion_tokens: 3, total_tokens: 105 },
      { inputTokensUncached: 9, outputTokens: 96, metering: { rules: ["thinking_in_total"] } },
    ],
    [
      "whose total is beyond the bound bills the count beside it",
      { prompt_tokens: 11, completion_tokens: 3, total_tokens: 1_000_000_000_000 },
      { inputTokensUncached: 11, outputTokens: 3, clamped: true },
    ],
    [
      "of OpenAI's names whose total fits with the cached part beside the input bills no output for it",
      { prompt_tokens: 20, prompt_tokens_details: { cached_tokens: 15 }, completion_tokens: 3, total_tokens: 38 },
      { inputTokensUncached: 20, inputTokensCached: 15, outputTokens: 3 },
    ],
    [
      "of Anthropic bills what was read from the cache and written to it",
      { input_tokens: 4, cache_read_input_tokens: 10, cache_creation_input_tokens: 6, output_tokens: 3 },
      { inputTokensUncached: 4, inputTokensCached: 10, otherTokens: { cacheWrite: 6 }, outputTokens: 3 },
    ],
    [
      "of OpenRouter keeps its cost beside the counts",
      usageOf(3, { cost: 0.017_558 }),
      { outputTokens: 3, metering: { reportedCostUsd: "0.017558" } },
    ],
    [
      "that counts no input has only its input estimated",
      { prompt_tokens: 0, completion_tokens: 2 },
      { basis: "estimated", outputTokens: 2, metering: { rules: ["input_estimated"] } },
    ],
    [
      "that counts no output has only its output estimated",
      { prompt_tokens: 11, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 4 } },
      { basis: "estimated", inputTokensUncached: 7, inputTokensCached: 4, outputTokens: 2 },
    ],
    [
      "without an output has only its output estimated",
      { prompt_tokens: 11, prompt_tokens_details: { cached_tokens: 4 } },
      { basis: "estimated", inputTokensUncached: 7, inputTokensCached: 4, outputTokens: 2 },
    ],
  ])("%s", async (_name, usage, expected) => {
    const { settlement } = await playground.play(json(completion({ usage })), WHOLE());
    expect(settlement).toMatchObject(expected);
  });

  it("of Moonshot is found in the choice that ends", async () => {
    const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17, cached_tokens: 4 };
    const last = { index: 0, delta: {}, finish_reason: "stop", usage };
    const script = stream(wire([chunk({ content: "OK." }), chunk(null, null, { choices: [last] }), "[DONE]"]));
    const { settlement } = await playground.play(script, STREAMED());
    expect(settlement).toMatchObject({ basis: "exact", inputTokensUncached: 8, inputTokensCached: 4, outputTokens: 5 });
  });

  it("is shown as it was billed, with every kind of tokens", async () => {
    const usage = {
      input_tokens: 4,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 6,
      cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 2 },
      output_tokens: 3,
    };
    const asked = { ...WHOLE(), cache_control: { type: "ephemeral", ttl: "1h" } };
    const { sink, settlement } = await playground.play(json(completion({ usage })), asked);
    expect(settlement.otherTokens).toEqual({ cacheWrite: 4, cacheWrite1h: 2 });
    expect(sink.json["usage"]).toMatchObject({
      prompt_tokens: 20,
      completion_tokens: 3,
      total_tokens: 23,
      prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 6, cache_write_1h_tokens: 2 },
    });
  });

  it("has no writes for an hour that were not asked for", async () => {
    const usage = {
      input_tokens: 4,
      cache_creation_input_tokens: 6,
      cache_creation: { ephemeral_1h_input_tokens: 6 },
      output_tokens: 3,
    };
    const { settlement } = await playground.play(json(completion({ usage })), WHOLE());
    expect(settlement.otherTokens).toEqual({ cacheWrite: 6 });
    expect(settlement).toMatchObject({ clamped: true, metering: { rules: ["long_writes_unasked"] } });
  });

  it("of OpenAI's shape keeps its bytes and gains the cost", async () => {
    const usage = usageOf(3, { service_tier: "default", prompt_tokens_details: { cached_tokens: 4 } });
    const { sink } = await playground.play(json(completion({ usage })), WHOLE());
    expect(sink.json["usage"]).toEqual({ ...usage, cost_idr: "0.0838" });
  });
});

describe("output in other places than text", () => {
  const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(200_000)}` } };
  it.each<[string, unknown, number, number]>([
    ["text in a list", { content: [{ type: "text", text: WORDS }] }, 400, 900],
    ["thinking in a list", { content: [{ type: "thinking", thinking: [{ type: "text", text: WORDS }] }] }, 400, 900],
    ["details of reasoning", { reasoning_details: [{ type: "reasoning.text", text: WORDS }] }, 400, 900],
    [
      "reasoning and its details, which are the same",
      { reasoning: WORDS, reasoning_details: [{ type: "reasoning.text", text: WORDS }] },
      400,
      900,
    ],
    ["a call of a custom tool", { tool_calls: [customCall(WORDS)] }, 400, 900],
    ["the name of a custom tool", { tool_calls: [{ index: 0, custom: { name: WORDS } }] }, 400, 900],
    ["an unknown member", { thoughts: [{ id: "1", type: "thought", said: WORDS }] }, 400, 900],
    ["an unknown member beside one of a word", { content: ".", thoughts: [{ said: WORDS }] }, 400, 900],
    [
      "a member that repeats one that is known",
      { reasoning_content: `${WORDS}.`, thinking_blocks: [{ type: "thinking", thinking: WORDS, signature: "x y" }] },
      400,
      900,
    ],
    ["beside what was searched for it", { content: WORDS, search_results: [{ snippet: OTHER_WORDS }] }, 400, 900],
    ["beside a long name of something", { content: WORDS, fingerprint: "ab12".repeat(1_000) }, 400, 900],
    ["sound with its transcript", { audio: { transcript: "halo", data: "A".repeat(102_400) } }, 90, 140],
    ["a picture", { images: [image] }, 1_200, 1_400],
  ])("counts when it is %s", async (_name, message, from, to) => {
    const cut = stream(wire([chunk(message)]), wire([chunk({}, "stop"), "[DONE]"]));
    const { settlement: streamed } = await playground.play(cut, STREAMED());
    playground.bench.ledger.settlements.length = 0;
    const whole = completion({ choices: [{ index: 0, message, finish_reason: "stop" }], usage: undefined });
    const { settlement } = await playground.play(json(whole), WHOLE());
    for (const { basis, outputTokens } of [streamed, settlement]) {
      expect(basis).toBe("estimated");
      expect(outputTokens).toBeGreaterThan(from);
      expect(outputTokens).toBeLessThan(to);
    }
  });

  it.each([
    ["a text beside the delta", { text: WORDS }],
    ["a message in place of the delta", { message: { role: "assistant", content: WORDS } }],
  ])("counts when it is %s", async (_name, choice) => {
    const said = chunk(null, null, { choices: [{ index: 0, ...choice }] });
    const { settlement } = await playground.play(stream(wire([said, chunk({}, "stop"), "[DONE]"])), STREAMED());
    expect(settlement.outputTokens).toBeGreaterThan(400);
    expect(settlement.outputTokens).toBeLessThan(900);
  });

  it("does not count when it is encrypted, or a name", async () => {
    const hidden = { id: "rs_1", type: "reasoning.encrypted", data: WORDS, format: "openai-responses-v1" };
    const delta = { role: "assistant", content: "", reasoning_details: [hidden], extra: { thought_signature: WORDS } };
    const said = wire([chunk(delta), chunk({ content: "OK" }), chunk({}, "stop"), "[DONE]"]);
    const { settlement } = await playground.play(stream(said), STREAMED());
    expect(settlement.outputTokens).toBeLessThan(5);
  });

  it("does not make an exact answer unusable", async () => {
    const message = { role: "assistant", content: "here it is", images: [image] };
    const usage = usageOf(1_300, { completion_tokens_details: { image_tokens: 1_290 } });
    const answer = completion({ choices: [{ index: 0, message, finish_reason: "stop" }], usage });
    const { settlement } = await playground.play(json(answer), WHOLE());
    expect(settlement).toMatchObject({ basis: "exact", outputTokens: 10, otherTokens: { imageOutput: 1_290 } });
  });

  const small = usageOf(280, { completion_tokens_details: { image_tokens: 272 } });
  const drawn = { role: "assistant", content: "here it is", images: [image] };
  it.each([
    [
      "a whole answer",
      WHOLE(),
      json(completion({ choices: [{ index: 0, message: drawn, finish_reason: "stop" }], usage: small })),
    ],
    ["a stream", STREAMED(), stream(wire([chunk(drawn), chunk({}, "stop"), usageChunk(small), "[DONE]"]))],
  ])("does not overrule a report of a small picture in %s", async (_name, body, script) => {
    const { settlement } = await playground.play(script, body);
    expect(settlement).toMatchObject({ basis: "exact", outputTokens: 8, otherTokens: { imageOutput: 272 } });
  });
});
