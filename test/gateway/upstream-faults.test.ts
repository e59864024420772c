import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import {
  chunk,
  completion,
  json,
  ordinaryEvents,
  type Script,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  USAGE,
  usageChunk,
  wire,
} from "./scripted-upstream.ts";
import { type Bench, chat, FakeSink, modelOf, openBench, until, upstreamOf } from "./support.ts";

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
  bench = openBench({
    models: [modelOf("local/m")],
    upstreams: [
      upstreamOf("local", upstream.baseUrl, {
        firstByteTimeoutMs: 300,
        idleTimeoutMs: 300,
        apiKeyEnv: "LOCAL_API_KEY",
      }),
    ],
  });
});

const WHOLE = chat("local/m", "hi");
const STREAMED = chat("local/m", "hi", { stream: true, stream_options: { include_usage: true } });
const cutSocket: Script = (response) => void response.socket?.destroy();

async function play(script: Script, body: unknown = WHOLE, sink = new FakeSink()) {
  upstream.run(script);
  const result = await bench.send(body, sink);
  expect(bench.ledger.open.size).toBe(0);
  expect(bench.ledger.settlements).toHaveLength(1);
  return { ...result, calls: upstream.received.length, settlement: bench.ledger.settlement };
}

describe("failures before anything reached the client", () => {
  const html = "<html><body>Sign in to the network</body></html>";
  it.each<[string, Script, number]>([
    ["429", json("{}", 429, { "retry-after": "17" }), 17],
    ["429 with a wait far too long", json("{}", 429, { "retry-after": "86400" }), 60],
    ["429 with a wait in milliseconds", json("{}", 429, { "retry-after-ms": "1500" }), 2],
    ["401", json('{"error":{"message":"bad key sk-secret"}}', 401), 5],
    ["403", json("{}", 403), 5],
    ["404", json("{}", 404), 5],
    ["500", json("{}", 500), 5],
    ["503", json("{}", 503), 5],
    ["a redirect", json("", 302, { location: "http://169.254.169.254/" }), 5],
    [
      "a page with status 200",
      (response) => void response.writeHead(200, { "content-type": "text/html" }).end(html),
      5,
    ],
    ["an error with status 200", json('{"error":{"message":"overloaded","code":502}}'), 5],
  ])("are retried once and then told as upstream_busy: %s", async (_name, script, seconds) => {
    const { error, sink, calls, settlement } = await play(script);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(error).toMatchObject({ retryAfterSeconds: seconds });
    expect(calls).toBe(2);
    expect(sink.head).toBeNull();
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it.each<[string, Script]>([
    ["the connection is reset after the request", cutSocket],
    ["the first byte does not come in time", () => undefined],
    [
      "the body is cut",
      (response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
        response.write(completion().slice(0, 80), () => response.socket?.destroy());
      },
    ],
    ["the answer is no completion", json("{}")],
    ["the answer is empty", json("")],
    [
      "the answer ended in an error",
      json(completion({ choices: [{ index: 0, message: { content: "" }, finish_reason: "error" }] })),
    ],
  ])("are not retried when they may have been billed, and cost the client nothing: %s", async (_name, script) => {
    const { error, calls, settlement } = await play(script);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(calls).toBe(1);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it.each([400, 413, 422])("become our 400 with the upstream's message, scrubbed: %i", async (status) => {
    const message = "Too long, see https://api.example.com/limits?k=1, key sk-live_abcdef0123456789 at 10.0.0.7:8080";
    const { error, calls, settlement } = await play(json(JSON.stringify({ error: { message } }), status));
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).details).toEqual([
      { field: "", rule: "upstream", message: "Too long, see [address] key [secret] at [address]" },
    ]);
    expect(calls).toBe(1);
    expect(settlement.basis).toBe("free");
  });

  it("are hidden when the retry succeeds", async () => {
    const { error, calls, settlement } = await play((response, received, call) =>
      call === 1 ? json("{}", 503)(response, received, call) : json(completion())(response, received, call),
    );
    expect(error).toBeNull();
    expect(calls).toBe(2);
    expect(settlement.basis).toBe("exact");
  });

  it("fall over to the next route, also from an upstream that cannot be reached", async () => {
    bench = openBench({
      models: [
        modelOf("local/m", {
          routes: [
            { upstream: "gone", model: "x" },
            { upstream: "local", model: "y" },
          ],
        }),
      ],
      upstreams: [upstreamOf("gone", "http://127.0.0.1:1/v1"), upstreamOf("local", upstream.baseUrl)],
    });
    const { error, settlement } = await play(json(completion()));
    expect(error).toBeNull();
    expect(settlement).toMatchObject({ upstream: "local", upstreamModel: "y" });
  });

  it("keep a stream from starting: an error as the first event is retried", async () => {
    const { error, sink, calls } = await play(stream(wire(['{"error":{"message":"no capacity"}}'])), STREAMED);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(sink.head).toBeNull();
    expect(calls).toBe(2);
  });

  it("refuse a private address that the operator has not allowed, without a call", async () => {
    bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [
        upstreamOf("local", upstream.baseUrl.replace("127.0.0.1", "localhost"), { allowPrivateAddress: false }),
      ],
    });
    const { error, calls } = await play(json(completion()));
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(calls).toBe(0);
    expect(JSON.stringify(bench.events)).toContain("SALDO_PRIVATE_ADDRESS");
  });
});

describe("answers that are not streamed", () => {
  it("come back byte for byte but for the id, the model and the cost", async () => {
    const body = `{ "id" : "x",\n "choices":[{"index":0,"message":{"role":"assistant","content":"é\\u00e9 😀"},"finish_reason":"stop","extra":1.50}],"model":"m-2026", "usage": ${JSON.stringify(USAGE)} }`;
    const { sink, requestId, settlement } = await play(json(body, 200, { "x-request-id": "req_1" }));
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
    });
  });

  it.each<[string, unknown, object]>([
    ["missing", undefined, { basis: "estimated" }],
    ["null", null, { basis: "estimated" }],
    ["empty", {}, { basis: "estimated" }],
    ["without the completion", { prompt_tokens: 3 }, { basis: "estimated" }],
    ["negative", { prompt_tokens: -5, completion_tokens: -1 }, { basis: "exact", clamped: true, cost: 0n }],
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
    ["absurd", { prompt_tokens: 1e300, completion_tokens: 9e15 }, { clamped: true, outputTokens: 16_384 }],
    [
      "DeepSeek's",
      { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 3 },
      { clamped: false, inputTokensUncached: 3, inputTokensCached: 6 },
    ],
  ])("are billed soundly when the usage is %s", async (_name, usage, expected) => {
    const { sink, settlement } = await play(json(completion({ usage })));
    expect(settlement).toMatchObject(expected);
    expect(settlement.cost).toBeGreaterThanOrEqual(0n);
    expect(settlement.inputTokensUncached).toBeLessThanOrEqual(JSON.stringify(WHOLE).length);
    expect(sink.json["usage"]).toMatchObject({ completion_tokens: settlement.outputTokens });
  });

  it("are sent with the upstream's credential and model, and nothing else changed", async () => {
    await play(json(completion()));
    expect(upstream.received[0]?.headers.authorization).toBe("Bearer sk-upstream-secret");
    expect(upstream.received[0]?.body.toString()).toBe(JSON.stringify({ ...WHOLE, model: "m" }));
  });

  it("are settled before they are shown, and not shown when the settlement fails", async () => {
    const sink = new FakeSink();
    bench.ledger.onSettle = () => {
      expect(sink.head).toBeNull();
      return Promise.reject(new UpstreamBusy());
    };
    upstream.run(json(completion()));
    const { error } = await bench.send(WHOLE, sink);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(sink.head).toBeNull();
    expect(bench.ledger.settlements).toHaveLength(1);
  });
});

describe("streams", () => {
  it("hold back everything from the finish on until the settlement is committed", async () => {
    const sink = new FakeSink();
    let textAtSettlement = "";
    bench.ledger.onSettle = () => {
      textAtSettlement = sink.bytes.toString();
      return Promise.resolve();
    };
    const { settlement } = await play(stream(wire(ordinaryEvents())), STREAMED, sink);
    expect(textAtSettlement).toContain(" dunia");
    expect(textAtSettlement).not.toContain('"stop"');
    expect(sink.events.slice(0, -2)).toEqual(ordinaryEvents().slice(0, -2));
    expect(JSON.parse(sink.events.at(-2) ?? "")).toMatchObject({ usage: { ...USAGE, cost_idr: "0.0838" } });
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(settlement).toMatchObject({
      basis: "exact",
      cost: 83_800n,
      streamed: true,
      upstreamRequestId: "req_upstream",
    });
  });

  const lines = ordinaryEvents();
  it.each<[string, Script]>([
    ["CRLF", stream(wire(lines).replaceAll("\n", "\r\n"))],
    ["CR", stream(wire(lines).replaceAll("\n", "\r"))],
    ["data: without the space", stream(wire(lines).replaceAll("data: ", "data:"))],
    [
      "comments and other fields",
      stream(`: ping\n\n${lines.map((data) => `event: message\nid: 7\ndata: ${data}\n\n: ping\n\n`).join("")}`),
    ],
    ["single bytes", stream(...wire(lines).split(""))],
    ["no blank line at the end", stream(wire(lines).trimEnd())],
    ["no [DONE]", stream(wire(lines.slice(0, -1)))],
    [
      "usage repeated",
      stream(wire([...lines.slice(0, 2), usageChunk({ prompt_tokens: 1, completion_tokens: 1 }), ...lines.slice(2)])),
    ],
    [
      "empty finish reasons",
      stream(wire([chunk({ content: "Halo" }, ""), chunk({ content: " dunia" }, ""), ...lines.slice(3)])),
    ],
    ["usage with the finish", stream(wire([...lines.slice(0, 3), chunk({}, "stop", { usage: USAGE }), "[DONE]"]))],
    [
      "usage where Groq puts it",
      stream(wire([...lines.slice(0, 3), chunk({}, "stop", { x_groq: { usage: USAGE } }), "[DONE]"])),
    ],
    [
      "another content type",
      (response) => void response.writeHead(200, { "content-type": "text/plain" }).end(wire(lines)),
    ],
    [
      "one JSON text instead",
      json(
        completion({
          choices: [{ index: 0, message: { role: "assistant", content: "Halo dunia" }, finish_reason: "stop" }],
        }),
      ),
    ],
  ])("are understood and billed exactly: %s", async (_name, script) => {
    const { error, sink, settlement } = await play(script, STREAMED);
    expect(error).toBeNull();
    expect(sink.text).toBe("Halo dunia");
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(sink.events.at(-2)).toContain('"cost_idr":"0.0838"');
  });

  const begun = wire(lines.slice(0, 3));
  it.each<[string, Script]>([
    ["the stream ends", stream(begun)],
    [
      "the connection is reset",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(begun, () => setImmediate(() => response.socket?.destroy()));
      },
    ],
    [
      "nothing more comes",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(begun);
      },
    ],
    ["an error event comes", stream(begun, wire(['{"error":{"message":"secret at http://10.0.0.1","code":500}}']))],
    ["the finish is an error", stream(begun, wire([chunk({}, "error")]))],
  ])("that break off are charged by estimate and never look complete: %s", async (_name, script) => {
    const { error, sink, settlement } = await play(script, STREAMED);
    expect(error).toBeNull();
    expect(sink.text).toContain("Halo dunia");
    expect(sink.bytes.includes("[DONE]")).toBe(false);
    const last = JSON.parse(sink.events.at(-1) ?? "") as unknown;
    expect(last).toEqual({ error: { message: expect.any(String), type: "server_error", code: "upstream_busy" } });
    expect(sink.bytes.includes("10.0.0.1")).toBe(false);
    expect(settlement).toMatchObject({ basis: "estimated" });
    expect(settlement.outputTokens).toBeGreaterThanOrEqual(2);
    expect(settlement.outputTokens).toBeLessThanOrEqual(6);
  });

  it("that break off before they said anything cost nothing", async () => {
    const { settlement } = await play(
      stream(wire([chunk({ role: "assistant", content: "" }), chunk({}, "error")])),
      STREAMED,
    );
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it("tell the client by an error event when the settlement fails, and do not finish", async () => {
    bench.ledger.onSettle = () => Promise.reject(new UpstreamBusy());
    upstream.run(stream(wire(lines.slice(0, 3)), wire(lines.slice(3))));
    const { error, sink } = await bench.send(STREAMED);
    expect(error).toBeNull();
    expect(sink.bytes.includes('"stop"')).toBe(false);
    expect(sink.events.at(-1)).toContain('"code":"upstream_busy"');
    expect(bench.ledger.settlements).toHaveLength(1);
  });

  it("pause the upstream while the client is slow, and lose nothing", async () => {
    const sink = new FakeSink();
    let isSlow = true;
    sink.onWrite = () => !isSlow;
    const words = Array.from({ length: 2_000 }, (_, index) => chunk({ content: `word${index} `.repeat(20) }));
    upstream.run(stream(...words.map((data) => wire([data])), wire([chunk({}, "stop"), "[DONE]"])));
    const pending = bench.send(STREAMED, sink);
    await until(() => sink.chunks.length === 1);
    isSlow = false;
    sink.drain();
    await pending;
    expect(sink.text).toContain("word1999");
    expect(bench.ledger.open.size).toBe(0);
  });
});

describe("clients that leave", () => {
  it("stop the upstream in the middle of a stream, and pay for what they were given", async () => {
    const sink = new FakeSink();
    let isClosed = false;
    sink.onWrite = () => {
      setImmediate(() => sink.leave());
      return true;
    };
    const { settlement } = await play(
      (response) => {
        response.on("close", () => {
          isClosed = true;
        });
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(wire([chunk({ content: "Halo" })]));
      },
      STREAMED,
      sink,
    );
    await until(() => isClosed);
    expect(settlement).toMatchObject({ basis: "estimated" });
    expect(settlement.cost).toBeGreaterThan(0n);
  });

  it("are never waited for: one that leaves while its upstream is paused frees the connection", async () => {
    const sink = new FakeSink();
    sink.onWrite = () => {
      setImmediate(() => sink.leave());
      return false;
    };
    let isClosed = false;
    await play(
      (response) => {
        response.on("close", () => {
          isClosed = true;
        });
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(wire([chunk({ content: "Halo" })]));
      },
      STREAMED,
      sink,
    );
    await until(() => isClosed);
    expect(bench.ledger.settlement.basis).toBe("estimated");
  });

  it("never reach the upstream when they left before it was called", async () => {
    const sink = new FakeSink();
    bench.ledger.admitWith = ({ amount }) => {
      sink.leave();
      return { outcome: "granted", amount, rate: { limit: 60, remaining: 1, resetSeconds: 1 } };
    };
    const { calls, settlement } = await play(json(completion()), WHOLE, sink);
    expect(calls).toBe(0);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });
});
