// Requests of a process that did not run for longer than its lease: another process may have resolved their holds.

import { describe, expect, it } from "vitest";
import { ServiceBusy } from "../../src/kernel/errors.ts";
import { ProgressRecorder } from "../../src/gateway/answer/progress.ts";
import { LeaseTerm } from "../../src/ledger/lease-term.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, ordinaryEvents, type Script, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { FakeSink, modelOf, openBench, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
const BUSY = { error: { type: "server_error", code: "upstream_busy" } };

function eventsOf(sink: FakeSink): unknown[] {
  return sink.events.map((data) => (data === "[DONE]" ? data : (JSON.parse(data) as unknown)));
}

describe("a settlement that comes after a recovery of its request", () => {
  it.each(["posted", "refused"] as const)("ends a stream that was relayed in part with an error (%s)", async (late) => {
    playground.bench.ledger.lateAs = late;
    const { sink, outcome } = await playground.play(stream(wire(ordinaryEvents())), STREAMED);
    expect(outcome).toBe("service_busy");
    expect(sink.text).toBe("Halo dunia");
    expect(eventsOf(sink).at(-1)).toMatchObject(BUSY);
    expect(sink.bytes.toString()).not.toContain('"stop"');
    expect(sink.ended).toBe(true);
  });

  it("shows no whole answer that was not charged", async () => {
    playground.bench.ledger.lateAs = "refused";
    const { sink, error, settlement } = await playground.play(json(completion()), WHOLE);
    expect(error).toBeInstanceOf(ServiceBusy);
    expect(sink.head).toBeNull();
    expect(settlement.delivered).toBe(false);
  });

  it("shows a whole answer that was charged in full", async () => {
    playground.bench.ledger.lateAs = "posted";
    const { sink, outcome } = await playground.play(json(completion()), WHOLE);
    expect(outcome).toBe("answered");
    expect(sink.json).toMatchObject({ usage: { cost_idr: "0.0838" } });
  });

  // Everything from the finish on is held back, so of this answer nothing has gone out.
  const atOnce = stream(wire([chunk({ content: "Halo" }, "stop"), usageChunk(), "[DONE]"]));
  it("treats a stream of which nothing was relayed as a whole answer", async () => {
    playground.bench.ledger.lateAs = "refused";
    const refused = await playground.play(atOnce, STREAMED);
    expect(refused.error).toBeInstanceOf(ServiceBusy);
    expect(refused.sink.head).toBeNull();
    playground.bench.ledger.settlements.length = 0;
    playground.bench.ledger.lateAs = "posted";
    const { sink, outcome } = await playground.play(atOnce, STREAMED);
    expect(outcome).toBe("answered");
    expect(sink.events.at(-1)).toBe("[DONE]");
  });
});

describe("a lease that is over", () => {
  const clock = { hasLapsed: false };
  function benchWith(term: LeaseTerm) {
    clock.hasLapsed = false;
    playground.bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
      deps: { term: () => term },
    });
  }

  it("keeps the next packet of a stream from being written, and settles what was relayed", async () => {
    benchWith(new LeaseTerm(() => clock.hasLapsed));
    const sink = new FakeSink();
    const script: Script = async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(wire([chunk({ content: "Halo" })]));
      await until(() => sink.text === "Halo");
      clock.hasLapsed = true;
      response.end(wire(ordinaryEvents()));
    };
    const { outcome, settlement } = await playground.play(script, STREAMED, sink);
    expect(outcome).toBe("service_busy");
    expect(sink.text).toBe("Halo");
    expect(eventsOf(sink).at(-1)).toMatchObject(BUSY);
    expect(settlement).toMatchObject({ basis: "estimated", delivered: true });
    expect(playground.bench.events).toEqual([{ kind: "lease_lapsed", requestId: settlement.requestId }]);
    expect(settlement.outputTokens).toBeGreaterThan(0);
  });

  it.each([
    ["a stream that is silent", STREAMED],
    ["a whole answer", WHOLE],
  ])("ends %s at once, which costs nothing and calls no other upstream", async (_what, body) => {
    const term = new LeaseTerm(() => false);
    benchWith(term);
    const received = Promise.withResolvers<void>();
    const script: Script = () => received.resolve();
    const played = playground.play(script, body);
    await received.promise;
    term.end();
    const { error, settlement, calls } = await played;
    expect(error).toBeInstanceOf(ServiceBusy);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
    expect(calls).toBe(1);
    // The upstream is not counted as failing.
    expect(playground.bench.events).toEqual([{ kind: "lease_lapsed", requestId: settlement.requestId }]);
  });
});

describe("the progress of a stream", () => {
  it("is recorded with its input and what was relayed, and holds nothing more", async () => {
    playground.bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
      deps: { progress: new ProgressRecorder({ firstMs: 1, everyMs: 1, lookMs: 1 }) },
    });
    const { ledger } = playground.bench;
    const relayed = Array.from({ length: 40 }, () => wire([chunk({ content: " word" })]));
    const { settlement } = await playground.play(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const packet of relayed) response.write(packet);
      await until(() => ledger.extensions.some(({ outputTokens }) => outputTokens === relayed.length));
      response.end(wire(ordinaryEvents()));
    }, STREAMED);
    expect(ledger.extensions[0]).toMatchObject({ requestId: settlement.requestId, amount: 0n, leastAmount: 0n });
    expect(ledger.extensions[0]?.inputTokens).toBeGreaterThan(0);
    const recorded = ledger.extensions.length;
    await until(() => !ledger.open.has(settlement.requestId));
    expect(settlement.basis).toBe("exact");
    expect(ledger.extensions).toHaveLength(recorded);
  });
});
