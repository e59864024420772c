// The held bound is the bound that the upstream gets, for every field of the client and of the upstream.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { CatalogModel, OutputCapField } from "../../src/catalog/catalog-model.ts";
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, chat, modelOf, openBench, RATE, upstreamOf } from "./support.ts";

let upstream: ScriptedUpstream;
let bench: Bench;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterEach(() => bench.upstreams.close());
afterAll(() => upstream.stop());

function open(outputCapField?: OutputCapField, model: Partial<CatalogModel> = {}): void {
  upstream.run(json(completion()));
  bench = openBench({
    models: [modelOf("local/m", model)],
    upstreams: [upstreamOf("local", upstream.baseUrl, outputCapField === undefined ? {} : { outputCapField })],
  });
}

async function boundsSent(more: Record<string, unknown>, content = "hi"): Promise<object[]> {
  await bench.send(chat("local/m", content, more));
  return upstream.received.map(({ body }) => {
    const { max_tokens, max_completion_tokens } = JSON.parse(body.toString()) as Record<string, unknown>;
    return { max_tokens, max_completion_tokens };
  });
}

describe.each(["max_tokens", "max_completion_tokens"] as const)("an upstream that reads %s", (field) => {
  it.each<[string, Record<string, unknown>, number]>([
    ["no bound", {}, 16_384],
    ["max_tokens", { max_tokens: 7 }, 7],
    ["max_completion_tokens", { max_completion_tokens: 1 }, 1],
    ["both, of which the larger is held", { max_tokens: 5, max_completion_tokens: 90 }, 90],
    ["more than the model writes", { max_tokens: 2_000_000 }, 16_384],
  ])("gets the bound there and nowhere else when the client sent %s", async (_name, more, expected) => {
    open(field);
    expect(await boundsSent(more)).toEqual([{ [field]: expected }]);
    expect(await boundsSent({ ...more, stream: true })).toHaveLength(2);
  });

  it("gets there what a small balance covers", async () => {
    open(field);
    bench.ledger.admitWith = ({ leastAmount }) => ({ outcome: "granted", amount: leastAmount, rate: RATE });
    expect(await boundsSent({ max_completion_tokens: 16_000 })).toEqual([{ [field]: 256 }]);
  });
});

it("is in the field of each upstream that is tried, also in a large body", async () => {
  upstream.run((response, received, call) => json(completion(), call === 1 ? 503 : 200)(response, received, call));
  bench = openBench({
    models: [
      modelOf("local/m", {
        routes: [
          { upstream: "local", model: "a" },
          { upstream: "newer", model: "b" },
        ],
      }),
    ],
    upstreams: [
      upstreamOf("local", upstream.baseUrl),
      upstreamOf("newer", upstream.baseUrl, { outputCapField: "max_completion_tokens" }),
    ],
  });
  const both = { max_completion_tokens: 40_000, max_tokens: 3 };
  expect(await boundsSent(both, "x".repeat(80_000))).toEqual([
    { max_tokens: 16_384 },
    { max_completion_tokens: 16_384 },
  ]);
});

it("leaves room for the input where the client sent no bound and the model may fill its whole window", async () => {
  open("max_tokens", { contextLength: 32_768, maxOutputTokens: 32_768 });
  const [sent] = await boundsSent({}, "word ".repeat(8_000));
  const { max_tokens } = sent as { max_tokens: number };
  expect(max_tokens).toBeGreaterThan(10_000);
  expect(max_tokens).toBeLessThan(32_768 - 8_000);
  // What is held is what was sent: the full bound, since the answer is not streamed.
  expect(bench.ledger.admissions[0]?.amount).toBeLessThan(BigInt(max_tokens) * 15_000n + 32_768n * 5_000n);
});
