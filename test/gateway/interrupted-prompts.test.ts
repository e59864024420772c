// What an interrupted turn of a conversation is billed for the prompt that its last turn has put into the upstream's cache.

import { describe, expect, it } from "vitest";
import { Drains } from "../../src/gateway/answer/drains.ts";
import type { Settlement } from "../../src/ledger/ledger.ts";
import { usePlayground } from "./playground.ts";
import { chunk, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { FakeSink, modelOf, openBench, upstreamOf } from "./support.ts";

const playground = usePlayground();
const WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do ".repeat(50);

describe("a conversation that is interrupted", () => {
  const PROMPT = "The quick brown fox jumps over the lazy dog. ".repeat(2_000);
  const turns = (...more: string[]) => ({
    model: "local/m",
    stream: true,
    messages: [PROMPT, ...more].map((content) => ({ role: "user", content })),
  });
  const USAGE = { prompt_tokens: 20_000, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 512 } };
  const exact = stream(wire([chunk({ content: "Halo" }), chunk({}, "stop")]), wire([usageChunk(USAGE), "[DONE]"]));
  const cut = stream(wire([chunk({ content: "Halo" })]));

  async function playTwo(second: Record<string, unknown>): Promise<Settlement> {
    const { settlement } = await playground.play(exact, turns());
    expect(settlement.basis).toBe("exact");
    playground.bench.ledger.settlements.length = 0;
    const played = await playground.play(cut, second);
    expect(played.settlement.basis).toBe("estimated");
    return played.settlement;
  }

  it("is billed the prompt of its last turn as cached", async () => {
    const settlement = await playTwo(turns("go on"));
    expect(settlement).toMatchObject({
      inputTokensCached: 20_000,
      metering: { rules: expect.arrayContaining(["cached_assumed"]) as unknown },
    });
  });

  it.each([
    [
      "one letter of its prompt is another",
      {
        ...turns("go on"),
        messages: [
          { role: "user", content: PROMPT.replace("lazy", "hazy") },
          { role: "user", content: "go on" },
        ],
      },
    ],
    [
      "it has another tool before its prompt",
      { ...turns("go on"), tools: [{ type: "function", function: { name: "f" } }] },
    ],
    ["it is shorter than the last", { ...turns(), messages: [{ role: "user", content: PROMPT.slice(0, -9) }] }],
  ])("is billed all of its prompt as new when %s", async (_name, second) => {
    const settlement = await playTwo(second);
    expect(settlement.inputTokensCached).toBe(0);
    expect(settlement.metering?.rules).not.toContain("cached_assumed");
  });

  it.each([
    ["zero cached tokens", "zero", { cached_tokens: 0 }],
    ["nothing about a cache", "silent", {}],
  ])("is billed all of its prompt as new where the upstream has always reported %s", async (_name, name, details) => {
    const model = `local/${name}`;
    playground.bench = openBench({
      models: [modelOf("local/m"), modelOf(model)],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
    });
    const { bench } = playground;
    // Another model of the same upstream has a cache.
    await playground.play(exact, turns());
    for (const prompt of [turns(), turns("go on")]) {
      bench.ledger.settlements.length = 0;
      const usage = { ...USAGE, prompt_tokens_details: details };
      const said = stream(wire([chunk({ content: "Halo" }), chunk({}, "stop"), usageChunk(usage), "[DONE]"]));
      expect((await playground.play(said, { ...prompt, model })).settlement.basis).toBe("exact");
    }
    bench.ledger.settlements.length = 0;
    const { settlement } = await playground.play(cut, { ...turns("go on", "and on"), model });
    expect(settlement).toMatchObject({ basis: "estimated", inputTokensCached: 0 });
    expect(settlement.metering?.rules).not.toContain("cached_assumed");
  });

  it("records what is cached with its progress", async () => {
    const { bench } = playground;
    await playTwo(turns("go on"));
    bench.ledger.settlements.length = 0;
    const long = stream(
      ...Array.from({ length: 20 }, () => wire([chunk({ content: WORDS })])),
      wire([chunk({}, "stop")]),
    );
    await playground.play(long, turns("go on"));
    expect(bench.ledger.extensions.at(-1)).toMatchObject({ cachedTokens: 20_000 });
  });

  it("is billed in the same way when its client has left", async () => {
    const sink = new FakeSink();
    playground.bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
      deps: { drains: new Drains({ most: 0, withinMs: 0 }) },
    });
    await playground.play(exact, turns());
    playground.bench.ledger.settlements.length = 0;
    sink.onWrite = () => {
      sink.leave();
      return true;
    };
    const { settlement } = await playground.play(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(wire([chunk({ content: "Halo" })]));
      },
      turns("go on"),
      sink,
    );
    expect(settlement).toMatchObject({ basis: "estimated", inputTokensCached: 20_000 });
  });
});
