// Clients that leave before the upstream has begun to answer.

import { beforeEach, describe, expect, it } from "vitest";
import { Drains } from "../../src/gateway/answer/drains.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, type Script, stream, usageChunk, wire } from "./scripted-upstream.ts";
import { FakeSink, KEY, modelOf, openBench, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
let drains: Drains;

function openWith(limits: { most: number; withinMs: number; unansweredPerAccount?: number }): void {
  drains = new Drains(limits);
  playground.bench = openBench({
    models: [modelOf("local/m", { routes: [{ upstream: "local", model: "m", cost: COST }] })],
    upstreams: [
      upstreamOf("local", playground.upstream.baseUrl, { firstByteTimeoutMs: 60_000, idleTimeoutMs: 60_000 }),
    ],
    deps: { drains },
  });
}
const COST = { input: 1_000_000_000n, output: 2_000_000_000n, cacheHit: null };
/** What the six tokens of the input cost the customer. */
const INPUT_COST = 25_000n;
beforeEach(() => openWith({ most: 8, withinMs: 50 }));

/** An upstream that takes the request and never answers; it notes when it was called off. */
function silence(sink: FakeSink, closed: () => void = () => undefined): Script {
  return (response) => {
    response.on("close", closed);
    sink.leave();
  };
}
/** An upstream that announces a success, writes so much, and then nothing more; the client leaves when that has come. */
const begun =
  (sink: FakeSink, type: string, written: string): Script =>
  (response) => {
    response.writeHead(200, { "content-type": type });
    response.flushHeaders();
    response.write(written);
    setTimeout(() => sink.leave(), 20);
  };
const EVENTS = "text/event-stream";
const QUEUE = ": OPENROUTER PROCESSING\n\n";
const ROLE = wire([chunk({ role: "assistant", content: "" })]);

describe.each([
  ["a stream", STREAMED],
  ["a whole answer", WHOLE],
])("a client that leaves before %s has begun", (_name, body) => {
  it("pays nothing when no answer begins in time, and the operator bears what the upstream may charge", async () => {
    const sink = new FakeSink();
    let isClosed = false;
    const { settlement, calls } = await playground.play(
      silence(sink, () => (isClosed = true)),
      body,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "free", cost: 0n, inputTokensUncached: 0, outputTokens: 0 });
    // Six tokens of input by our count, at the customer's price and at the route's.
    expect(settlement).toMatchObject({ unbilledCost: INPUT_COST, upstreamCost: 5_000n });
    expect(calls).toBe(1);
    await until(() => isClosed);
  });

  it("pays nothing when the process reads on for no more clients", async () => {
    openWith({ most: 0, withinMs: 50 });
    const sink = new FakeSink();
    const { settlement } = await playground.play(silence(sink), body, sink);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n, unbilledCost: INPUT_COST });
  });

  it("pays nothing when the upstream fails then", async () => {
    const sink = new FakeSink();
    const { settlement } = await playground.play(
      async (response) => {
        sink.leave();
        await until(() => drains.running === 1);
        response.socket?.destroy();
      },
      body,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "free", cost: 0n, unbilledCost: INPUT_COST });
  });

  it("pays for its input once its account has left too many such requests at a time", async () => {
    openWith({ most: 8, withinMs: 400, unansweredPerAccount: 1 });
    const first = new FakeSink();
    playground.upstream.run(silence(first));
    const running = playground.bench.send(body, first);
    await until(() => drains.running === 1);
    const second = new FakeSink();
    playground.upstream.run(silence(second));
    await playground.bench.send(body, second);
    const { settlements } = playground.bench.ledger;
    expect(settlements).toHaveLength(1);
    expect(settlements[0]).toMatchObject({ basis: "estimated", cost: INPUT_COST, outputTokens: 0 });
    expect(playground.bench.events).toMatchObject([{ kind: "too_many_unanswered", accountId: KEY.accountId }]);
    await running;
    expect(settlements[1]).toMatchObject({ basis: "free", cost: 0n });
    // The place is free again.
    const third = new FakeSink();
    playground.upstream.run(silence(third));
    await playground.bench.send(body, third);
    expect(settlements[2]).toMatchObject({ basis: "free" });
  });
});

describe("a client that leaves once the upstream has announced a success", () => {
  it.each([
    ["comments of a queue", STREAMED, EVENTS, QUEUE],
    ["a role and comments", STREAMED, EVENTS, QUEUE + ROLE + QUEUE],
    ["line breaks where events were announced", STREAMED, EVENTS, "\n"],
    ["objects that are no chunks", STREAMED, EVENTS, 'data: {"type":"ping"}\n\n'],
    ["line breaks before a whole answer", WHOLE, "application/json", "\n\n"],
    ["comments for a whole answer", WHOLE, EVENTS, QUEUE],
  ])("pays nothing, because they are no answer: %s", async (_name, body, type, written) => {
    const sink = new FakeSink();
    const { settlement } = await playground.play(begun(sink, type, written), body, sink);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n, unbilledCost: INPUT_COST });
  });

  it("has such a request counted among those that its account may leave at a time", async () => {
    openWith({ most: 8, withinMs: 400, unansweredPerAccount: 1 });
    const [first, second] = [new FakeSink(), new FakeSink()];
    playground.upstream.run(begun(first, EVENTS, QUEUE));
    const running = playground.bench.send(STREAMED, first);
    await until(() => drains.running === 1);
    expect(drains.unanswered).toBe(1);
    playground.upstream.run(begun(second, EVENTS, QUEUE));
    await playground.bench.send(STREAMED, second);
    await running;
    expect(playground.bench.ledger.settlements).toMatchObject([
      { basis: "estimated", cost: INPUT_COST },
      { basis: "free", cost: 0n },
    ]);
  });

  it.each([
    ["usage", STREAMED, EVENTS, wire([usageChunk({ prompt_tokens: 5, completion_tokens: 0 })])],
    ["an end", STREAMED, EVENTS, wire([chunk({}, "stop")])],
    ["a part of a whole answer", WHOLE, "application/json", '{"id":"'],
    ["a part of a whole answer where a stream was asked for", STREAMED, "application/json", '{"id":"'],
    ["a part of a whole answer that was announced as a stream", STREAMED, EVENTS, '{"id":"'],
  ])("pays for its input where that was said: %s", async (_name, body, type, written) => {
    const sink = new FakeSink();
    const { settlement } = await playground.play(begun(sink, type, written), body, sink);
    expect(settlement).toMatchObject({ basis: "estimated", outputTokens: 0, cost: INPUT_COST });
  });

  it("pays for its input and for what was relayed", async () => {
    const sink = new FakeSink();
    sink.onWrite = () => {
      setImmediate(() => sink.leave());
      return true;
    };
    const { settlement } = await playground.play(
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(wire([chunk({ content: "Halo" })]));
      },
      STREAMED,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "estimated", outputTokens: 1, cost: INPUT_COST + 15_000n });
    expect(settlement.unbilledCost ?? 0n).toBe(0n);
  });
});

describe("a stream that breaks off before any output", () => {
  it("is free, and the operator bears what the upstream may charge", async () => {
    const script = stream(wire([chunk({ role: "assistant", content: "" }), chunk({}, "error")]));
    const { settlement } = await playground.play(script, STREAMED);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n, unbilledCost: INPUT_COST, upstreamCost: 5_000n });
  });
});

describe("places for unanswered requests", () => {
  it("are each account's own, and come back after the time of a drain", async () => {
    const own = new Drains({ most: 0, withinMs: 30, unansweredPerAccount: 2 });
    const other = uuidv7();
    expect([1, 2, 3].map(() => own.takeUnanswered(KEY.accountId) !== null)).toEqual([true, true, false]);
    expect(own.takeUnanswered(other)).not.toBeNull();
    expect(own.unanswered).toBe(3);
    await until(() => own.unanswered === 0);
    const place = own.takeUnanswered(KEY.accountId);
    expect(place).not.toBeNull();
    place?.();
    place?.();
    expect(own.unanswered).toBe(0);
  });
});
