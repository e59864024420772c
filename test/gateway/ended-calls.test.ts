// Calls that are over for us: their connections do not stay with upstreams that go on.

import { beforeEach, describe, expect, it } from "vitest";
import { Drains } from "../../src/gateway/answer/drains.ts";
import { createUpstreams } from "../../src/gateway/upstreams/upstreams.ts";
import type { UpstreamFailure } from "../../src/gateway/upstreams/chat-upstream.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, ordinaryEvents, type Script, wire } from "./scripted-upstream.ts";
import { FakeSink, modelOf, openBench, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
const PATIENT = { firstByteTimeoutMs: 60_000, idleTimeoutMs: 60_000 };

beforeEach(() => {
  playground.bench = openBench({
    models: [modelOf("local/m")],
    upstreams: [upstreamOf("local", playground.upstream.baseUrl, PATIENT)],
    deps: { drains: new Drains({ most: 2, withinMs: 60_000 }) },
  });
});

/** An upstream that goes on with comments as long as its client is connected. */
function goesOnBehind(events: string, closed: () => void): Script {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(events);
    const comments = setInterval(() => response.write(": keep-alive\n\n"), 20);
    response.on("close", () => {
      clearInterval(comments);
      closed();
    });
  };
}

describe("a call that is over for us", () => {
  it("is let go when the upstream goes on behind [DONE]", async () => {
    let isClosed = false;
    const { settlement } = await playground.play(
      goesOnBehind(wire(ordinaryEvents()), () => (isClosed = true)),
      STREAMED,
    );
    expect(settlement.basis).toBe("exact");
    await until(() => isClosed);
  });

  it("is not cut when the upstream ends soon after [DONE], so that the connection stays", async () => {
    let isFinished = false;
    await playground.play((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(wire(ordinaryEvents()));
      // An answer whose connection was cut never finishes.
      response.on("finish", () => (isFinished = true));
      setTimeout(() => response.end(), 30);
    }, STREAMED);
    await until(() => isFinished);
    expect(playground.upstream.openSockets).toBeGreaterThan(0);
  });

  it("is aborted when the client left while more was asked for, though that is granted then", async () => {
    const sink = new FakeSink();
    let isClosed = false;
    let grant = (): void => undefined;
    playground.bench.ledger.extendWith = ({ amount }) =>
      new Promise((resolve) => (grant = () => resolve({ outcome: "granted", amount })));
    const text = wire(Array.from({ length: 100 }, () => chunk({ content: "word ".repeat(200) })));
    const played = playground.play(
      goesOnBehind(text, () => (isClosed = true)),
      STREAMED,
      sink,
    );
    await until(() => playground.bench.ledger.extensions.length === 1);
    // Nothing comes any more: the stream waits.
    let before = -1;
    await until(() => {
      const isQuiet = sink.bytes.length === before;
      before = sink.bytes.length;
      return isQuiet;
    });
    sink.leave();
    const { settlement } = await played;
    grant();
    expect(settlement.basis).toBe("estimated");
    await until(() => isClosed);
  });

  it("is aborted when a whole answer is too large", async () => {
    let isClosed = false;
    const piece = Buffer.alloc(1024 * 1024, "x");
    const { settlement } = await playground.play((response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.on("close", () => (isClosed = true));
      const goOn = (): void => {
        if (!isClosed) response.write(piece, goOn);
      };
      goOn();
    }, WHOLE);
    expect(settlement.basis).toBe("free");
    await until(() => isClosed);
  });
});

describe("a refusal whose body does not end", () => {
  it("does not keep the client from its second call", async () => {
    let drips: NodeJS.Timeout | undefined;
    const { settlement, calls, error } = await playground.play((response, received, call) => {
      if (call === 2) return json(completion())(response, received, call);
      response.writeHead(503);
      drips = setInterval(() => response.write(" "), 50);
      response.on("close", () => clearInterval(drips));
      return undefined;
    });
    expect(error).toBeNull();
    expect(calls).toBe(2);
    expect(settlement.basis).toBe("exact");
  });
});

describe("upstreams that are closed", () => {
  it("cut what is still under way after a moment", async () => {
    const upstreams = createUpstreams({ credential: () => undefined, closeWithinMs: 20 });
    const config = upstreamOf("local", playground.upstream.baseUrl, PATIENT);
    const [route] = upstreams.open([{ upstream: "local", model: "m" }], new Map([["local", config]]), () => undefined);
    playground.upstream.run(() => undefined);
    const failures: UpstreamFailure[] = [];
    route?.upstream.call(
      { requestId: "r", attempt: 1, model: "m", body: Buffer.from("{}"), stream: false },
      {
        onAnswer: () => undefined,
        onData: () => undefined,
        onEnd: () => undefined,
        onFailure: (failure) => failures.push(failure),
      },
    );
    await until(() => playground.upstream.received.length === 1);
    await upstreams.close();
    await until(() => failures.length === 1);
    expect(failures[0]?.kind).toBe("perhaps_billed");
  });
});
