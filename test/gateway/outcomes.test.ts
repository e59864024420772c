// The outcomes of requests in their counter: an answer that broke off does not count as one.

import { beforeEach, describe, expect, it } from "vitest";
import { Drains } from "../../src/gateway/answer/drains.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, ordinaryEvents, type Script, stream, wire } from "./scripted-upstream.ts";
import { FakeSink, modelOf, openBench, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
const waitingStreams = new Set<unknown>();
const drains = new Drains({ most: 2, withinMs: 60_000 });
beforeEach(() => {
  playground.bench = openBench({
    models: [modelOf("local/m")],
    upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
    deps: { waitingStreams, drains },
  });
});

const LONG = stream(...Array.from({ length: 60 }, () => wire([chunk({ content: "word ".repeat(100) })])));

describe("the outcome of a request", () => {
  it.each<[string, Script, unknown]>([
    ["answered", stream(wire(ordinaryEvents())), STREAMED],
    ["answered", json(completion()), WHOLE],
    ["upstream_busy", stream(wire(ordinaryEvents().slice(0, 2))), STREAMED],
    ["insufficient_balance", LONG, STREAMED],
  ])("is %s", async (outcome, script, body) => {
    playground.bench.ledger.extendWith = () => Promise.resolve({ outcome: "refused", amount: 7n, othersHold: false });
    expect((await playground.play(script, body)).outcome).toBe(outcome);
  });

  it.each<[string, string, unknown]>([
    ["a stream", wire(ordinaryEvents()), STREAMED],
    ["a whole answer", completion(), WHOLE],
    ["an answer that does not come", "", STREAMED],
  ])("is that the client has left: %s", async (_name, answer, body) => {
    const sink = new FakeSink();
    const played = await playground.play(
      async (response) => {
        sink.leave();
        await until(() => drains.running === 1);
        response.writeHead(200, { "content-type": body === WHOLE ? "application/json" : "text/event-stream" });
        response.end(answer);
      },
      body,
      sink,
    );
    expect(played.outcome).toBe("client_left");
  });

  it("is an error of ours when the end of a stream cannot be settled", async () => {
    playground.bench.ledger.onSettle = () => Promise.reject(new Error("a bug"));
    playground.upstream.run(stream(wire(ordinaryEvents())));
    expect((await playground.bench.send(STREAMED)).outcome).toBe("internal_error");
  });
});

describe("streams that wait for money", () => {
  it("are counted while they do", async () => {
    let grant = (): void => undefined;
    playground.bench.ledger.extendWith = ({ amount }) =>
      new Promise((resolve) => (grant = () => resolve({ outcome: "granted", amount })));
    const played = playground.play(LONG, STREAMED);
    await until(() => waitingStreams.size === 1);
    playground.bench.ledger.extendWith = ({ amount }) => Promise.resolve({ outcome: "granted", amount });
    grant();
    await played;
    expect(waitingStreams.size).toBe(0);
  });
});
