// Upstreams that keep their connection open with bytes that are no part of an answer.

import { beforeEach, describe, expect, it } from "vitest";
import { UpstreamBusy } from "../../src/kernel/errors.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, ordinaryEvents, type Script, wire } from "./scripted-upstream.ts";
import { modelOf, openBench, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
const IDLE_MS = 200;
const EVERY_MS = 20;

/** Writes `first`, and then the same bytes for ever. */
const forEver =
  (type: string, first: string, again: string, closed: () => void = () => undefined): Script =>
  (response) => {
    response.writeHead(200, { "content-type": type });
    response.write(first);
    const timer = setInterval(() => response.write(again), EVERY_MS);
    response.on("error", () => undefined);
    response.on("close", () => {
      clearInterval(timer);
      closed();
    });
  };
const EVENTS = "text/event-stream";

function openWith(firstByteTimeoutMs: number): void {
  const limits = { firstByteTimeoutMs, idleTimeoutMs: IDLE_MS };
  playground.bench = openBench({
    models: [modelOf("local/m")],
    upstreams: [upstreamOf("local", playground.upstream.baseUrl, limits)],
    deps: { slowestTokensPerSecond: 1e9 },
  });
}
beforeEach(() => openWith(IDLE_MS));

describe("an upstream that keeps its connection open and does not answer", () => {
  it.each([
    ["comments for a stream", STREAMED, EVENTS, ": wait\n\n", ": wait\n\n"],
    ["objects that are no chunks", STREAMED, EVENTS, "", 'data: {"type":"ping"}\n\n'],
    ["a role and then comments", STREAMED, EVENTS, wire(ordinaryEvents().slice(0, 1)), ": wait\n\n"],
    ["line breaks for a whole answer", WHOLE, "application/json", "\n", "\n"],
  ])("is given up after the limit for a silence: %s", async (_name, body, type, first, again) => {
    let isClosed = false;
    const script = forEver(type, first, again, () => (isClosed = true));
    const { error, settlement, calls } = await playground.play(script, body);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
    expect(calls).toBe(1);
    expect(playground.bench.events).toMatchObject([{ kind: "attempt_failed", failure: { timedOut: true } }]);
    await until(() => isClosed);
  });

  it("has its answer cut where it stops in the middle, and what was delivered is billed", async () => {
    const { sink, settlement } = await playground.play(
      forEver(EVENTS, wire([chunk({ content: "Halo" })]), ": wait\n\n"),
      STREAMED,
    );
    expect(sink.text).toBe("Halo");
    expect(sink.events.at(-1)).toContain('"code":"upstream_busy"');
    expect(settlement).toMatchObject({ basis: "estimated", outputTokens: 1 });
  });
});

describe("an upstream that is slow", () => {
  it("is not given up while parts of an answer come between the comments", async () => {
    const events = ordinaryEvents();
    const { sink, error } = await playground.play(async (response) => {
      response.writeHead(200, { "content-type": EVENTS });
      const began = performance.now();
      for (const event of events.slice(0, 3)) {
        const from = performance.now();
        while (performance.now() - from < 0.7 * IDLE_MS) {
          response.write(": wait\n\n");
          await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
        }
        response.write(wire([event]));
      }
      expect(performance.now() - began).toBeGreaterThan(2 * IDLE_MS);
      response.end(wire(events.slice(3)));
    }, STREAMED);
    expect(error).toBeNull();
    expect(sink.text).toBe("Halo dunia");
  });

  it("may write line breaks within the time of a whole answer", async () => {
    openWith(5_000);
    const { error } = await playground.play((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      let written = 0;
      const timer = setInterval(() => {
        written += 1;
        response.write("\n");
        if (written * EVERY_MS < 2 * IDLE_MS) return;
        clearInterval(timer);
        response.end(completion());
      }, EVERY_MS);
    }, WHOLE);
    expect(error).toBeNull();
  });
});
