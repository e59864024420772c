import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import type { UpstreamListener } from "../../src/gateway/upstreams/chat-upstream.ts";
import { createOpenAiCompatibleUpstream } from "../../src/gateway/upstreams/openai-compatible/openai-compatible-upstream.ts";
import { STREAMED, WHOLE, usePlayground } from "./playground.ts";
import { chunk, completion, json, wire } from "./scripted-upstream.ts";
import { FakeSink, until, upstreamOf } from "./support.ts";

const playground = usePlayground();

describe("clients that leave", () => {
  it("stop the upstream in the middle of a stream, and pay for what they were given", async () => {
    const sink = new FakeSink();
    let isClosed = false;
    sink.onWrite = () => {
      setImmediate(() => sink.leave());
      return true;
    };
    const { settlement } = await playground.play(
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
    await playground.play(
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
    expect(playground.bench.ledger.settlement.basis).toBe("estimated");
  });

  it("never reach the upstream when they left before it was called", async () => {
    const sink = new FakeSink();
    playground.bench.ledger.admitWith = ({ amount }) => {
      sink.leave();
      return { outcome: "granted", amount, rate: { limit: 60, remaining: 1, resetSeconds: 1 } };
    };
    const { calls, settlement } = await playground.play(json(completion()), WHOLE, sink);
    expect(calls).toBe(0);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });
});

describe("requests that wait for a connection", () => {
  const listen = (end: () => void): UpstreamListener => ({
    onAnswer: () => undefined,
    onData: () => undefined,
    onEnd: end,
    onFailure: end,
  });

  it("give up their body at once when they are given up, and their place to the next", async () => {
    const config = upstreamOf("local", playground.upstream.baseUrl, { firstByteTimeoutMs: 60_000 });
    const upstream = createOpenAiCompatibleUpstream(config, {
      apiKey: null,
      limits: { connections: 1, waiting: 1 },
    });
    const answers: (() => void)[] = [];
    playground.upstream.run((response) => void answers.push(() => response.writeHead(200).end("{}")));
    const ends: string[] = [];
    const call = (name: string, body: Buffer = Buffer.from(name)) =>
      upstream.call(
        { requestId: name, attempt: 1, model: "m", body, stream: false },
        listen(() => ends.push(name)),
      );

    call("first");
    await until(() => answers.length === 1);
    let body: Buffer | null = Buffer.alloc(1_000_000);
    const held = new WeakRef(body);
    const given = call("second", body);
    body = null;
    given.abort();
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    await until(() => {
      collect();
      return held.deref() === undefined;
    });

    call("third");
    call("fourth is one too many");
    await until(() => ends.length === 1);
    answers[0]?.();
    await until(() => answers.length === 2);
    answers[1]?.();
    await until(() => ends.length === 3);
    expect(ends).toEqual(["fourth is one too many", "first", "third"]);
    expect(playground.upstream.received.map((received) => received.body.toString())).toEqual(["first", "third"]);
    await upstream.close();
  });
});
