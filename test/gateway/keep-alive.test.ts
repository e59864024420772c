// Comments that keep a silent stream's connection open, and how a request ends behind them.

import { beforeEach, describe, expect, it } from "vitest";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { STREAMED, usePlayground } from "./playground.ts";
import { chunk, json, ordinaryEvents, type Script, stream, wire } from "./scripted-upstream.ts";
import { FakeSink, modelOf, openBench, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
const SILENCE_MS = 50;
const COMMENT = ": keep-alive\n\n";

function openWith(keepAliveMs: number): void {
  const routes = [
    { upstream: "first", model: "a", mayRepeatPaid: true, firstByteTimeoutMs: 250 },
    { upstream: "second", model: "b" },
  ];
  const limits = { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000 };
  playground.bench = openBench({
    models: [modelOf("local/m"), modelOf("local/two", { routes })],
    upstreams: ["local", "first", "second"].map((id) => upstreamOf(id, playground.upstream.baseUrl, limits)),
    deps: { keepAliveMs },
  });
}
beforeEach(() => openWith(SILENCE_MS));

/** An upstream that does nothing until the client has had a comment. */
const afterComment =
  (sink: FakeSink, then: Script): Script =>
  async (response, received, call) => {
    await until(() => sink.bytes.includes(COMMENT));
    await then(response, received, call);
  };
const always = (script: Script): Script => script;

describe("a stream whose upstream is silent", () => {
  it("is opened with a comment, and its answer follows", async () => {
    const sink = new FakeSink();
    const { outcome, settlement } = await playground.play(
      afterComment(sink, stream(wire(ordinaryEvents()))),
      STREAMED,
      sink,
    );
    expect(outcome).toBe("answered");
    expect(sink.bytes.toString()).toMatch(/^(: keep-alive\n\n)+data: /);
    expect(sink.text).toBe("Halo dunia");
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
    // A comment is no byte of the answer.
    expect(settlement.firstByteMs).toBeGreaterThanOrEqual(SILENCE_MS);
  });

  it("has comments in the middle too, between events", async () => {
    const sink = new FakeSink();
    const events = ordinaryEvents();
    const { settlement } = await playground.play(
      async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(`${wire(events.slice(0, 2))}data: {"choices":[],"system_fingerprint":"half`);
        await until(() => sink.bytes.includes(COMMENT));
        response.end(`"}\n\n${wire(events.slice(2))}`);
      },
      STREAMED,
      sink,
    );
    const text = sink.bytes.toString();
    expect(text).toMatch(/Halo.*\n\n(: keep-alive\n\n)+data: \{[^\n]*"half"\}\n\n/);
    expect(sink.text).toBe("Halo dunia");
    expect(settlement.basis).toBe("exact");
  });

  it("has none while its answer goes on", async () => {
    const sink = new FakeSink();
    await playground.play(
      async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        const begun = performance.now();
        for (let written = 0; performance.now() - begun < 3 * SILENCE_MS; written += 1) {
          response.write(wire([chunk({ content: `${written} ` })]));
          await until(() => sink.text.endsWith(`${written} `));
        }
        response.end(wire([chunk({}, "stop"), "[DONE]"]));
      },
      STREAMED,
      sink,
    );
    expect(sink.bytes.includes(COMMENT)).toBe(false);
  });

  it("has none where they are switched off", async () => {
    openWith(0);
    const { sink } = await playground.play(
      (response, received, call) =>
        void setTimeout(() => void stream(wire(ordinaryEvents()))(response, received, call), 3 * SILENCE_MS),
      STREAMED,
    );
    expect(sink.bytes.includes(COMMENT)).toBe(false);
    expect(sink.text).toBe("Halo dunia");
  });

  it("has none once its client has left", async () => {
    const sink = new FakeSink();
    await playground.play(
      (response, received, call) => {
        sink.leave();
        setTimeout(() => void json("{}", 503)(response, received, call), 3 * SILENCE_MS);
      },
      STREAMED,
      sink,
    );
    expect(sink.head).toBeNull();
  });
});

describe("a failure", () => {
  it("is sent as a status as long as no comment was sent", async () => {
    const { error, sink } = await playground.play(always(json("{}", 503)), STREAMED);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(sink.head).toBeNull();
  });

  it("behind a comment is an error event with the time to wait, settled as free before it is shown", async () => {
    const sink = new FakeSink();
    let shown = "";
    playground.bench.ledger.onSettle = () => {
      shown = sink.bytes.toString();
      return Promise.resolve();
    };
    const { error, outcome, settlement, calls } = await playground.play(
      afterComment(sink, json("{}", 503, { "retry-after": "17" })),
      STREAMED,
      sink,
    );
    expect(error).toBeNull();
    expect(outcome).toBe("upstream_busy");
    expect(calls).toBe(2);
    expect(JSON.parse(sink.events.at(-1) ?? "")).toEqual({
      error: {
        message: "The service is busy. Try again in 17 seconds.",
        type: "server_error",
        code: "upstream_busy",
        retry_after: 17,
      },
    });
    expect(sink.events).not.toContain("[DONE]");
    expect(sink.ended).toBe(true);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n, firstByteMs: null });
    expect(shown).not.toContain("error");
    expect(playground.bench.events.map(({ kind }) => kind)).toEqual(["attempt_failed", "attempt_failed"]);
  });

  it("behind a comment that is the request's own is sent as such", async () => {
    const sink = new FakeSink();
    const { outcome, settlement } = await playground.play(
      afterComment(sink, json('{"error":{"message":"too long"}}', 400)),
      STREAMED,
      sink,
    );
    expect(outcome).toBe("validation_error");
    expect(JSON.parse(sink.events.at(-1) ?? "")).toMatchObject({
      error: { type: "invalid_request_error", code: "validation_error" },
    });
    expect(sink.events.at(-1)).toContain("too long");
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it("behind a comment has the code that a client acts on", async () => {
    const sink = new FakeSink();
    const refused = '{"error":{"message":"No","code":"context_length_exceeded"}}';
    const { outcome } = await playground.play(afterComment(sink, json(refused, 400)), STREAMED, sink);
    expect(outcome).toBe("validation_error");
    expect(JSON.parse(sink.events.at(-1) ?? "")).toMatchObject({
      error: { type: "invalid_request_error", code: "context_length_exceeded" },
    });
  });

  it("of a silent route behind a comment is hidden by the next route", async () => {
    const sink = new FakeSink();
    const { outcome, settlement, calls } = await playground.play(
      (response, received, call) => (call === 1 ? undefined : stream(wire(ordinaryEvents()))(response, received, call)),
      { ...STREAMED, model: "local/two" },
      sink,
    );
    expect(outcome).toBe("answered");
    expect(calls).toBe(2);
    expect(sink.bytes.toString()).toMatch(/^(: keep-alive\n\n)+data: /);
    expect(sink.text).toBe("Halo dunia");
    expect(settlement).toMatchObject({ basis: "exact", upstream: "second", cost: 83_800n, unbilledCost: 25_000n });
  });
});
