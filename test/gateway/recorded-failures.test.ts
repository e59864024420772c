// The settlement of a request that failed has the code that its client got, and changes no amount by it.

import { describe, expect, it } from "vitest";
import { ENDLESS_TERM } from "../../src/ledger/lease-term.ts";
import { usePlayground, STREAMED, WHOLE } from "./playground.ts";
import { chunk, completion, json, type Script, stream, wire } from "./scripted-upstream.ts";
import { FakeSink, openBench } from "./support.ts";

const playground = usePlayground();
const SECRET = "sk-secret-of-the-upstream";
const TEXT = chunk({ role: "assistant", content: "some text" });
const refusal = (code: string) => json(`{"error":{"message":"${SECRET}","code":"${code}"}}`, 400);

describe("the record of a request that failed", () => {
  it.each<[string, Script, unknown, object]>([
    ["a busy upstream", json("{}", 503), WHOLE, { code: "upstream_busy", inStream: false }],
    ["a busy upstream of a stream", json("{}", 503), STREAMED, { code: "upstream_busy", inStream: false }],
    ["a refused request", refusal("invalid"), WHOLE, { code: "validation_error", inStream: false }],
    [
      "a conversation that is too long",
      refusal("context_length_exceeded"),
      STREAMED,
      { code: "context_length_exceeded", inStream: false },
    ],
    ["a stream that breaks off", stream(wire([TEXT])), STREAMED, { code: "upstream_busy", inStream: true }],
  ])("has its code and no text of the upstream: %s", async (_name, script, body, failure) => {
    const { settlement } = await playground.play(script, body);
    expect(settlement?.metering?.failure).toEqual(failure);
    expect(JSON.stringify(settlement?.metering)).not.toContain(SECRET);
  });

  it("blames no upstream for a stream whose process has lost its lease", async () => {
    const lease = { over: (): void => {} };
    const term = () => ({ ...ENDLESS_TERM, whenOver: (end: () => void) => ((lease.over = end), () => {}) });
    const bench = openBench({ deps: { term } });
    const sink = new FakeSink();
    sink.onWrite = () => (lease.over(), true);
    await bench.send({ model: "demo/small", stream: true, messages: [{ role: "user", content: "hello there" }] }, sink);
    expect(bench.ledger.settlement.metering?.failure).toEqual({ code: "service_busy", inStream: true });
  });

  it("says that the client left before any answer", async () => {
    const sink = new FakeSink();
    const { settlement } = await playground.play(() => sink.leave(), WHOLE, sink);
    expect(settlement).toMatchObject({ cost: 0n, metering: { failure: { code: "client_left", inStream: false } } });
  });

  it("is of the answer, not of an attempt that was repeated", async () => {
    const { settlement, calls } = await playground.play((response, received, call) =>
      (call === 1 ? json("{}", 503) : json(completion()))(response, received, call),
    );
    expect(calls).toBe(2);
    expect(settlement?.basis).toBe("exact");
    expect(settlement?.metering ?? null).toBeNull();
  });
});
