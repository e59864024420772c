// Sixteen ways in which an upstream fails, with a second route that answers: each request is rescued or ends in a clean
// error in time, and none is billed that was not answered. The limits are scaled down: 60 s are 150 ms here.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DomainError } from "../../src/kernel/errors.ts";
import { STREAMED, WHOLE } from "./playground.ts";
import {
  chunk,
  completion,
  json,
  ordinaryEvents,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  wire,
} from "./scripted-upstream.ts";
import { type Bench, type FakeSink, modelOf, openBench, upstreamOf } from "./support.ts";

const FIRST_BYTE_MS = 150;
/** Far below a hundred seconds, with room for a busy machine. */
const IN_TIME_MS = 10_000;
let failing: ScriptedUpstream;
let healthy: ScriptedUpstream;
let bench: Bench;

function open(mayRepeatPaid: boolean): void {
  const limits = { firstByteTimeoutMs: 10 * FIRST_BYTE_MS, idleTimeoutMs: FIRST_BYTE_MS };
  const routes = [
    { upstream: "failing", model: "a", firstByteTimeoutMs: FIRST_BYTE_MS, mayRepeatPaid },
    { upstream: "healthy", model: "b" },
  ];
  bench = openBench({
    models: [modelOf("local/m", { routes })],
    upstreams: [upstreamOf("failing", failing.baseUrl, limits), upstreamOf("healthy", healthy.baseUrl, limits)],
    deps: { slowestTokensPerSecond: 1e9 },
  });
}

beforeAll(async () => {
  [failing, healthy] = await Promise.all([startScriptedUpstream(), startScriptedUpstream()]);
});
beforeEach(() => open(true));
afterAll(async () => {
  await bench.upstreams.close();
  await Promise.all([failing.stop(), healthy.stop()]);
});

const answers: Script = (response, received, call) =>
  (received.body.includes('"stream":true') ? stream(wire(ordinaryEvents())) : json(completion()))(
    response,
    received,
    call,
  );
const isStream = (body: Buffer): boolean => body.includes('"stream":true');
const HTML = "<html><body>Bad gateway</body></html>";

/** The outcome of a request: the second route answered, the first one did after all, or an error. */
type End = "rescued" | "answered" | "error" | "cut";
type Case = readonly [name: string, script: Script, whole: End, streamed: End];

const CASES: readonly Case[] = [
  ["429 with Retry-After", json('{"error":{}}', 429, { "retry-after": "1" }), "rescued", "rescued"],
  ["429 without Retry-After", json('{"error":{}}', 429), "rescued", "rescued"],
  ["500", json('{"error":{}}', 500), "rescued", "rescued"],
  ["503 persistent", json('{"error":{}}', 503), "rescued", "rescued"],
  ["reset before headers", (response) => void response.socket?.destroy(), "rescued", "rescued"],
  ["no response at all", () => undefined, "rescued", "rescued"],
  [
    "slow first token",
    (response, received, call) => void setTimeout(() => void answers(response, received, call), FIRST_BYTE_MS / 3),
    "answered",
    "answered",
  ],
  [
    "cut",
    (response, { body }) => {
      const text = isStream(body) ? wire(ordinaryEvents().slice(0, 3)) : completion().slice(0, 60);
      response.writeHead(200, { "content-type": isStream(body) ? "text/event-stream" : "application/json" });
      response.write(text, () => setImmediate(() => response.socket?.destroy()));
    },
    "rescued",
    "cut",
  ],
  [
    "stall",
    (response, { body }) => {
      response.writeHead(200, { "content-type": isStream(body) ? "text/event-stream" : "application/json" });
      response.write(isStream(body) ? wire(ordinaryEvents().slice(0, 3)) : completion().slice(0, 60));
    },
    "rescued",
    "cut",
  ],
  [
    "malformed chunk",
    (response, received, call) =>
      isStream(received.body)
        ? stream(
            wire([chunk({ content: "Halo" })]),
            'data: {"id":"x","choices":[{"index":0,"del\n\n',
            wire(["[DONE]"]),
          )(response, received, call)
        : json('{"id":"x","choices":[{"index":0,"mess')(response, received, call),
    "rescued",
    "cut",
  ],
  ["401", json('{"error":{"message":"wrong key"}}', 401), "rescued", "rescued"],
  ["empty body", (response) => void response.writeHead(200).end(), "rescued", "rescued"],
  ["HTML", (response) => void response.writeHead(200, { "content-type": "text/html" }).end(HTML), "rescued", "rescued"],
  [
    "wrong content type",
    (response, { body }) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.end(isStream(body) ? wire(ordinaryEvents()) : completion());
    },
    "answered",
    "answered",
  ],
  [
    "flapping",
    (response, received, call) =>
      call % 2 === 1 ? json("{}", 503)(response, received, call) : answers(response, received, call),
    "rescued",
    "rescued",
  ],
  ["overload", json('{"error":{"message":"overloaded","code":529}}', 529), "rescued", "rescued"],
];

/** Plays a request against a failing first route and names what became of it. */
async function play(script: Script, body: unknown): Promise<{ end: End; sink: FakeSink; error: unknown }> {
  failing.run(script);
  healthy.run(answers);
  const begun = performance.now();
  const { sink, error, outcome } = await bench.send(body);
  expect(performance.now() - begun).toBeLessThan(IN_TIME_MS);
  expect(bench.ledger.open.size).toBe(0);
  if (error !== null) return { end: "error", sink, error };
  if (outcome !== "answered") return { end: "cut", sink, error };
  return { end: healthy.received.length > 0 ? "rescued" : "answered", sink, error };
}

/** The failures behind which an upstream may charge for its call. */
const MAY_BE_CHARGED = new Set([
  "reset before headers",
  "no response at all",
  "cut",
  "stall",
  "malformed chunk",
  "empty body",
]);
const endsIn = (end: End, column: 2 | 3) => CASES.filter((example) => example[column] === end);

describe.each([
  ["a whole answer", WHOLE, 2],
  ["a stream", STREAMED, 3],
] as const)("%s of an upstream that fails", (_name, body, column) => {
  const isWhole = column === 2;
  const lastOf = (sink: FakeSink): unknown => (isWhole ? sink.json["choices"] : sink.events.at(-1));
  const DONE = isWhole ? [expect.objectContaining({ finish_reason: "stop" })] : "[DONE]";
  const rescued = endsIn("rescued", column);

  it.each([...rescued, ...endsIn("answered", column)])("is rescued: %s", async (...example) => {
    const { end, sink } = await play(example[1], body);
    expect(end).toBe(example[column]);
    const upstream = end === "rescued" ? "healthy" : "failing";
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", upstream });
    expect(lastOf(sink)).toEqual(DONE);
  });

  it.each(rescued.filter(([name]) => !MAY_BE_CHARGED.has(name)))(
    "is rescued where only what cannot be charged is repeated: %s",
    async (_case, script) => {
      open(false);
      const { end, sink } = await play(script, body);
      expect(end).toBe("rescued");
      expect(bench.ledger.settlement).toMatchObject({ basis: "exact", upstream: "healthy" });
      expect(bench.ledger.settlement.unbilledCost).toBeUndefined();
      expect(lastOf(sink)).toEqual(DONE);
    },
  );

  it.each(rescued.filter(([name]) => MAY_BE_CHARGED.has(name)))(
    "ends in a clean error where only what cannot be charged is repeated: %s",
    async (_case, script) => {
      open(false);
      const { sink, error } = await play(script, body);
      expect(error).toBeInstanceOf(DomainError);
      expect(error).toMatchObject({ code: "upstream_busy" });
      expect(sink.head).toBeNull();
      expect(healthy.received).toHaveLength(0);
      expect(bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n, unbilledCost: 25_000n });
    },
  );
});

describe("a stream that breaks off behind its beginning", () => {
  it.each(endsIn("cut", 3))("never looks complete, and is billed for what was relayed: %s", async (_case, script) => {
    const { end, sink } = await play(script, STREAMED);
    expect(end).toBe("cut");
    expect(sink.events.at(-1)).toContain('"error"');
    expect(sink.events).not.toContain("[DONE]");
    expect(bench.ledger.settlement.basis).toBe("estimated");
  });
});

describe("a route that was given up", () => {
  it.each<[string, Script]>([
    ["silent", () => undefined],
    ["reset", (response) => void response.socket?.destroy()],
  ])("is never billed to the customer, and its possible cost is the operator's: %s", async (_name, script) => {
    const cost = { input: 1_000_000_000n, output: 2_000_000_000n, cacheHit: null };
    const limits = { firstByteTimeoutMs: 1_500, idleTimeoutMs: 1_500 };
    const routes = [
      { upstream: "failing", model: "a", cost, firstByteTimeoutMs: FIRST_BYTE_MS, mayRepeatPaid: true },
      { upstream: "healthy", model: "b", cost },
    ];
    bench = openBench({
      models: [modelOf("local/m", { routes })],
      upstreams: [upstreamOf("failing", failing.baseUrl, limits), upstreamOf("healthy", healthy.baseUrl, limits)],
    });
    const { end } = await play(script, STREAMED);
    expect(end).toBe("rescued");
    // Seven uncached tokens, four cached ones and three of output; six of input by our count for the other call.
    expect(bench.ledger.settlement).toMatchObject({
      cost: 83_800n,
      unbilledCost: 25_000n,
      upstreamCost: 17_000n + 5_000n,
    });
  });
});
