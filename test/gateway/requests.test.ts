import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { uuidv7 } from "../../src/kernel/ids.ts";
import {
  InsufficientBalance,
  InvalidApiKey,
  ModelNotFound,
  RateLimited,
  ValidationError,
} from "../../src/kernel/errors.ts";
import {
  chunk,
  completion,
  json,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  usageChunk,
  wire,
} from "./scripted-upstream.ts";
import { type Bench, chat, FakeSink, modelOf, openBench, RATE, upstreamOf } from "./support.ts";

type AgentRequest = { readonly like: string; readonly shows: string; readonly body: Record<string, unknown> };
const AGENTS = JSON.parse(
  readFileSync(new URL("fixtures/agent-requests.json", import.meta.url), "utf8"),
) as AgentRequest[];
/** What the test's models write at most. */
const MAX_OUTPUT = 16_384;
const STREAM = [chunk({ role: "assistant", content: "Halo" }), chunk({}, "stop"), usageChunk(), "[DONE]"];

let upstream: ScriptedUpstream;
let bench: Bench;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(async () => {
  await bench.upstreams.close();
  await upstream.stop();
});
beforeEach(() => {
  const models = [
    modelOf("local/m"),
    modelOf("local/tiny", { contextLength: 100 }),
    modelOf("local/none", { routes: [] }),
  ];
  bench = openBench({ models, upstreams: [upstreamOf("local", upstream.baseUrl)] });
  upstream.run((response, received, call) =>
    received.body.includes('"stream":true')
      ? stream(wire(STREAM))(response, received, call)
      : json(completion())(response, received, call),
  );
});

describe("requests of real clients", () => {
  it.each(AGENTS.map((request) => [request.like, request.shows, request.body] as const))(
    "are accepted and passed on with the bound in the upstream's field, a cache of the customer's own, no person and nothing kept, and nothing else changed: %s, %s",
    async (_like, _shows, body) => {
      const { error, sink } = await bench.send({ model: "local/m", ...body });
      expect(error).toBeNull();
      expect(sink.ended).toBe(true);
      const { max_tokens, max_completion_tokens, ...others } = body;
      const asked = Number(max_tokens ?? max_completion_tokens ?? Infinity);
      const tier = body["service_tier"] === undefined ? {} : { service_tier: "default" };
      const ownCache = expect.stringMatching(/^[0-9a-f]{32}\.session_\w+$/) as unknown;
      const cache = body["prompt_cache_key"] === undefined ? {} : { prompt_cache_key: ownCache };
      const kept = { store: false, metadata: null, user: expect.stringMatching(/^[0-9a-f]{32}$/) as unknown };
      const ours = Object.fromEntries(Object.entries(kept).filter(([name]) => body[name] !== undefined));
      const sent = { ...others, ...tier, ...cache, ...ours, model: "m", max_tokens: Math.min(asked, MAX_OUTPUT) };
      expect(JSON.parse(upstream.received[0]?.body.toString() ?? "")).toEqual(sent);
      expect(bench.ledger.settlement.basis).toBe("exact");
    },
  );

  it("are accepted with a prompt of several megabytes", async () => {
    const line = 'const label = "value";\n\tif (label) { return `ä`; }\n';
    const body = chat("local/m", line.repeat(20_000), { max_completion_tokens: 900 });
    const { error } = await bench.send(body);
    expect(error).toBeNull();
    const sent = upstream.received[0]?.body.toString() ?? "";
    expect(sent.length).toBe(JSON.stringify(body).length);
    expect(JSON.parse(sent)).toEqual({ model: "m", messages: body["messages"], max_tokens: 900 });
  });
});

describe("bad requests make no upstream call and leave no hold", () => {
  const message = { role: "user", content: "hi" };
  const image = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
  it.each<[string, unknown]>([
    ["empty messages", { model: "local/m", messages: [] }],
    ["wrong types", { model: "local/m", messages: {} }],
    ["temperature outside 0 to 2", chat("local/m", "hi", { temperature: 2.01 })],
    ...[0, -1, 1.5, "100", 2 ** 63].map((tokens): [string, unknown] => [
      `max_tokens ${tokens}`,
      chat("local/m", "hi", { max_tokens: tokens }),
    ]),
    ["an unknown role", { model: "local/m", messages: [{ ...message, role: "boss" }] }],
    ["deep JSON", `{"model":"local/m","messages":${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
    ["__proto__", '{"model":"local/m","messages":[{"role":"user","content":"hi"}],"__proto__":{"n":5}}'],
    ["no JSON", "model=m"],
    ["an image for a text model", chat("local/m", [image])],
    ["text far over the context window", chat("local/tiny", "x".repeat(1_201))],
    ["a dearer service tier", chat("local/m", "hi", { service_tier: "flex" })],
  ])("%s", async (_name, body) => {
    const { error, sink } = await bench.send(body);
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).details.length).toBeGreaterThan(0);
    expect(sink.head).toBeNull();
    expect(upstream.received).toHaveLength(0);
    expect(bench.ledger.admissions).toHaveLength(0);
  });

  it("text that is too long has a reason for programs", async () => {
    const { error } = await bench.send(chat("local/tiny", "x".repeat(1_201)));
    expect(error).toMatchObject({ code: "validation_error", reason: "context_length_exceeded" });
    expect(String(error)).toContain("maximum context length is 100 tokens");
  });

  it("a model that is not in the catalog, with the nearest one", async () => {
    const { error: misspelled } = await bench.send(chat("local/tinny", "hi"));
    expect(misspelled).toBeInstanceOf(ModelNotFound);
    expect(String(misspelled)).toContain('The model "local/tinny" is not in the catalog. Did you mean "local/tiny"?');
    const { error } = await bench.send(chat("other\n/model", "hi"));
    expect(error).toBeInstanceOf(ModelNotFound);
    expect(String(error)).toContain('The model "other\\n/model" is not in the catalog. GET /v1/models lists');
    expect(bench.ledger.admissions).toHaveLength(0);
  });
});

describe("the ledger's decision", () => {
  it("limits: the key is remembered, and the wait is in whole seconds up to 60", async () => {
    bench.ledger.admitWith = () => ({ outcome: "limited", retryAfterMs: 61_200, rate: RATE });
    const { error } = await bench.send(chat("local/m", "hi"));
    expect(error).toBeInstanceOf(RateLimited);
    expect(error).toMatchObject({ retryAfterSeconds: 60, limit: 60 });
    expect(bench.remembered).toEqual([61_200]);
  });

  it("returns revoked: the key is wrong", async () => {
    bench.ledger.admitWith = () => ({ outcome: "revoked" });
    expect((await bench.send(chat("local/m", "hi"))).error).toBeInstanceOf(InvalidApiKey);
  });

  it("refuses: the message has what is available, needed, and where to top up", async () => {
    bench.ledger.admitWith = () => ({ outcome: "refused", available: 1_250_000n, rate: RATE });
    const { error } = await bench.send(chat("local/m", "hi", { max_tokens: 1 }));
    expect(error).toBeInstanceOf(InsufficientBalance);
    expect(String(error)).toMatch(
      /Available is Rp 1\.25, needed is Rp 0\.\d+\. Top up at https:\/\/saldo\.example\/top-up/,
    );
    expect(upstream.received).toHaveLength(0);
    expect(bench.ledger.settlements).toHaveLength(0);
  });

  it("holds what pictures cost where they are asked for and have a price, and refuses them elsewhere", async () => {
    const imageOutput = 600_000_000_000n;
    const painter = openBench({
      models: [modelOf("local/m"), modelOf("local/paints", { otherPrices: { imageOutput } })],
      upstreams: [upstreamOf("local", upstream.baseUrl)],
    });
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 1_300,
      total_tokens: 1_310,
      completion_tokens_details: { image_tokens: 1_290 },
    };
    upstream.run(json(completion({ usage })));
    for (const modalities of [["image"], ["text", "image"], ["image", "text"]]) {
      const more = { modalities, max_tokens: 2_000 };
      const { error } = await painter.send(chat("local/m", "hi", more));
      expect(error).toMatchObject({ details: [{ field: "modalities", rule: "unpriced" }] });
      expect((await painter.send(chat("local/paints", "hi", more))).error).toBeNull();
      expect(JSON.parse(upstream.received.at(-1)?.body.toString() ?? "")).toMatchObject({ modalities });
      const { amount } = painter.ledger.admissions.at(-1) ?? { amount: 0n };
      const settlement = painter.ledger.settlements.at(-1);
      expect(settlement).toMatchObject({ outputTokens: 10, otherTokens: { imageOutput: 1_290 }, basis: "exact" });
      expect(amount).toBeGreaterThanOrEqual((imageOutput * 2_000n) / 1_000_000n);
      expect(amount).toBeGreaterThanOrEqual(settlement?.cost ?? amount + 1n);
    }
    const spoken = await painter.send(chat("local/paints", "hi", { modalities: ["text", "audio"] }));
    expect(spoken.error).toMatchObject({ details: [{ field: "modalities" }] });
    expect(upstream.received).toHaveLength(3);
    await painter.upstreams.close();
  });

  it("refuses an account that owes: the message has how much, and that a top-up pays it first", async () => {
    bench.ledger.admitWith = () => ({ outcome: "refused", available: 0n, owed: 24_000_000_000n, rate: RATE });
    const { error } = await bench.send(chat("local/m", "hi", { max_tokens: 1 }));
    expect(error).toMatchObject({ owed: { units: 24_000_000_000n } });
    expect(String(error)).toMatch(
      /Available is Rp 0\.00, needed is Rp 0\.\d+\. The account owes Rp 24,000\.00 for a payment that was reversed; the next top-up pays that first\. Top up at/,
    );
  });

  it.each<[string, string, string]>([
    ["a part", '[{"type":"text","type":"image_url","image_url":{"url":"https://example.com/a.png"}}]', "type"],
    [
      "what a part points to",
      '[{"type":"image_url","image_url":{"url":"data:,","url":"https://example.com/a"}}]',
      "url",
    ],
    ["another spelling", String.raw`[{"type":"text","text":"a","t\u0065xt":"b"}]`, "text"],
    ["a long text", `[{"type":"text","text":"${"a ".repeat(2_000)}","text":"b:\\"{"}]`, "text"],
    ["a message", '"x","content":"y"', "content"],
  ])("is never asked for where a name comes twice in one object: %s", async (_name, content, field) => {
    const body = `{"model":"local/m","messages":[{"role":"user","content":${content}}],"metadata":{"type":"a:b"}}`;
    const { error } = await bench.send(body);
    expect(error).toMatchObject({ details: [{ field, rule: "unique" }] });
    expect(bench.ledger.admissions).toEqual([]);
  });

  it("grants less: the cap is written into the request and bounds what is billed", async () => {
    bench.ledger.admitWith = ({ leastAmount }) => ({ outcome: "granted", amount: leastAmount, rate: RATE });
    const answer = json(completion({ usage: { prompt_tokens: 9, completion_tokens: 1_000 } }));
    upstream.run(answer);
    const { sink } = await bench.send(chat("local/m", "hi", { max_completion_tokens: 4_000, n: 2 }));
    expect(JSON.parse(upstream.received[0]?.body.toString() ?? "")).toMatchObject({ max_tokens: 256 });
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", outputTokens: 512, clamped: true });
    expect(sink.json["usage"]).toMatchObject({ completion_tokens: 512 });
  });

  it("is settled on the day of the request id, at any later time", async () => {
    const lateUtc = Date.parse("2026-11-20T16:59:59.999Z");
    let now = lateUtc;
    bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", upstream.baseUrl)],
      deps: { clock: { now: () => now } },
    });
    upstream.run((response, received, call) => {
      now = lateUtc + 2;
      return json(completion())(response, received, call);
    });
    await bench.send(chat("local/m", "hi"), new FakeSink(), uuidv7(lateUtc));
    expect(bench.ledger.settlement.billingDay).toBe("2026-11-20");
  });

  it("asks for input and n answers, and settles with the prices it was asked with", async () => {
    await bench.send(chat("local/m", "hi", { n: 3, max_tokens: 100 }));
    const [admission] = bench.ledger.admissions;
    expect(admission).toMatchObject({ model: "local/m", prices: { input: 5_000_000_000n, output: 15_000_000_000n } });
    expect(admission?.amount).toBeGreaterThan(300n * 15_000n);
    expect(admission?.amount).toBeLessThan(300n * 15_000n + 100n * 5_000n);
  });
});

describe("a request that takes longer than any may", () => {
  it("is ended with an error event, and settled", async () => {
    bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", upstream.baseUrl)],
      deps: { maxDurationMs: 100 },
    });
    upstream.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(wire([chunk({ content: "Halo" })]));
    });
    const { sink } = await bench.send(chat("local/m", "hi", { stream: true }));
    expect(sink.events.at(-1)).toContain("upstream_busy");
    expect(bench.ledger.settlement.basis).toBe("estimated");
  });
});
