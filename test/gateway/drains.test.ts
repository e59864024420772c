import { beforeEach, describe, expect, it } from "vitest";
import { countTokens } from "../../src/gateway/metering/estimate.ts";
import { Drains } from "../../src/gateway/answer/drains.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
import { chunk, completion, json, type Script, usageChunk, wire } from "./scripted-upstream.ts";
import { FakeSink, modelOf, openBench, until, upstreamOf } from "./support.ts";

const playground = usePlayground();
let drains: Drains;

function openWith(limits: { most: number; withinMs: number }): void {
  drains = new Drains(limits);
  playground.bench = openBench({
    models: [modelOf("local/m")],
    upstreams: [upstreamOf("local", playground.upstream.baseUrl, { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000 })],
    deps: { drains },
  });
}
beforeEach(() => openWith({ most: 2, withinMs: 20_000 }));

/** A client that leaves as soon as it has had something. */
function leavingSink(): FakeSink {
  const sink = new FakeSink();
  sink.onWrite = () => {
    setImmediate(() => sink.leave());
    return true;
  };
  return sink;
}

/** An upstream that goes on only when the client is gone. */
function inTwoParts(sink: () => boolean, first: string, second: (response: Parameters<Script>[0]) => void): Script {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(first);
    await until(sink);
    second(response);
  };
}
const TEXT = " lorem ipsum".repeat(60);
const WORDS = TEXT.match(/ \w+/g)?.map((content) => chunk({ content })) ?? [];
const TOKENS = await countTokens(TEXT);
const choiceOf = (content: string) => ({
  index: 0,
  message: { role: "assistant", content },
  finish_reason: "stop",
});
const isDraining = (): boolean => drains.running === 1;
const HALO = wire([chunk({ content: "Halo" })]);
const REST = wire([chunk({ content: " dunia" }), chunk({}, "stop"), usageChunk(), "[DONE]"]);

describe("an upstream whose client has left", () => {
  it("is read to its end and billed by what it counted: mid-stream", async () => {
    const sink = leavingSink();
    const { settlement } = await playground.play(
      inTwoParts(isDraining, HALO, (response) => response.end(REST)),
      STREAMED,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "drained", inputTokensUncached: 7, outputTokens: 3, cost: 83_800n });
    expect(sink.text).toBe("Halo");
    expect(sink.ended).toBe(false);
    expect(drains.running).toBe(0);
  });

  it("is read to its end and billed by what it counted: before the headers, of a stream", async () => {
    const sink = new FakeSink();
    const { settlement } = await playground.play(
      async (response) => {
        sink.leave();
        await until(isDraining);
        response.writeHead(200, { "content-type": "text/event-stream" }).end(HALO + REST);
      },
      STREAMED,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "drained", outputTokens: 3 });
    expect(sink.head).toBeNull();
  });

  it("is read to its end and billed by what it counted: before the headers, of a whole answer", async () => {
    const sink = new FakeSink();
    const { settlement } = await playground.play(
      async (response, received, call) => {
        sink.leave();
        await until(isDraining);
        return json(completion())(response, received, call);
      },
      WHOLE,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "drained", outputTokens: 3 });
    expect(sink.head).toBeNull();
  });

  it("is read to its end and billed by what it counted: just before the usage", async () => {
    const sink = leavingSink();
    const { settlement } = await playground.play(
      inTwoParts(isDraining, HALO + wire([chunk({}, "stop")]), (response) =>
        response.end(wire([usageChunk(), "[DONE]"])),
      ),
      STREAMED,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "drained", outputTokens: 3 });
  });

  it("goes on though its client was too slow for it", async () => {
    const sink = leavingSink();
    const onWrite = sink.onWrite;
    sink.onWrite = (bytes) => !onWrite(bytes);
    const { settlement } = await playground.play(
      inTwoParts(isDraining, HALO, (response) => response.end(REST)),
      STREAMED,
      sink,
    );
    expect(settlement.basis).toBe("drained");
  });

  it.each<[string, (response: Parameters<Script>[0]) => void]>([
    ["resets", (response) => response.socket?.destroy()],
    ["ends silently", (response) => response.end()],
    ["ends in the middle", (response) => response.end(wire([chunk({ content: TEXT })]))],
    ["sends an error", (response) => response.end(wire(['{"error":{"message":"x"}}']))],
  ])("is billed by an estimate of what was relayed when it %s", async (_name, second) => {
    const { settlement, calls } = await playground.play(inTwoParts(isDraining, HALO, second), STREAMED, leavingSink());
    expect(settlement).toMatchObject({ basis: "estimated", outputTokens: 1 });
    expect(calls).toBe(1);
  });

  it.each<[string, unknown, string, string]>([
    ["a stream", STREAMED, "text/event-stream", wire([...WORDS, chunk({}, "stop"), "[DONE]"])],
    ["a whole answer", WHOLE, "application/json", completion({ usage: undefined, choices: [choiceOf(TEXT)] })],
  ])("is billed by an estimate of all that it wrote when that was complete without usage: %s", async (...row) => {
    const [, body, type, answer] = row;
    const sink = new FakeSink();
    const { settlement } = await playground.play(
      async (response) => {
        sink.leave();
        await until(isDraining);
        response.writeHead(200, { "content-type": type }).end(answer);
      },
      body,
      sink,
    );
    expect(settlement.basis).toBe("estimated");
    expect(settlement.outputTokens).toBeGreaterThan(0.9 * TOKENS);
    expect(settlement.outputTokens).toBeLessThan(1.2 * TOKENS);
  });

  it("is billed by an estimate of what was read and what was not, when it is complete without usage", async () => {
    const sink = leavingSink();
    const script = inTwoParts(isDraining, HALO, (response) =>
      response.end(wire([...WORDS, chunk({}, "stop"), "[DONE]"])),
    );
    const { settlement } = await playground.play(script, STREAMED, sink);
    expect(sink.text).toBe("Halo");
    expect(settlement.basis).toBe("estimated");
    expect(settlement.outputTokens).toBeGreaterThan(0.9 * TOKENS);
  });

  it("is not called again when it fails, and costs nothing where nothing was relayed", async () => {
    const sink = new FakeSink();
    const { settlement, calls } = await playground.play(
      async (response) => {
        sink.leave();
        await until(isDraining);
        response.writeHead(503).end("{}");
      },
      STREAMED,
      sink,
    );
    expect(calls).toBe(1);
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it("is given up after its time", async () => {
    openWith({ most: 2, withinMs: 50 });
    let isClosed = false;
    const { settlement } = await playground.play(
      (response) => {
        response.on("close", () => (isClosed = true));
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(HALO);
      },
      STREAMED,
      leavingSink(),
    );
    expect(settlement.basis).toBe("estimated");
    await until(() => isClosed);
    expect(drains.running).toBe(0);
  });

  it("is given up at once when as many are read on already, or the process is about to end", async () => {
    openWith({ most: 1, withinMs: 20_000 });
    const opened: Parameters<Script>[0][] = [];
    playground.upstream.run((response) => {
      opened.push(response);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(HALO);
    });
    const [first, second] = [leavingSink(), leavingSink()];
    const running = playground.bench.send(STREAMED, first);
    await until(isDraining);
    await playground.bench.send(STREAMED, second);
    const { settlements } = playground.bench.ledger;
    expect(settlements.map(({ basis }) => basis)).toEqual(["estimated"]);
    drains.stop();
    await running;
    expect(settlements.map(({ basis }) => basis)).toEqual(["estimated", "estimated"]);
    await playground.bench.send(STREAMED, leavingSink());
    expect(drains.running).toBe(0);
    expect(settlements).toHaveLength(3);
    for (const response of opened) response.destroy();
  });

  it("takes one place though its leaving is reported twice, as of an RPC", async () => {
    const sink = new FakeSink();
    let gone = (): void => undefined;
    sink.onGone = (callback) => (gone = callback);
    sink.onWrite = () => {
      setImmediate(() => (gone(), gone()));
      return true;
    };
    let running = 0;
    const { settlement } = await playground.play(
      inTwoParts(
        () => drains.running > 0,
        HALO,
        (response) => {
          running = drains.running;
          response.end(REST);
        },
      ),
      STREAMED,
      sink,
    );
    expect(running).toBe(1);
    expect(settlement.basis).toBe("drained");
    expect(drains.running).toBe(0);
  });

  it("is billed by the usage of one JSON text, also where more of it came than is held", async () => {
    const sink = new FakeSink();
    const message = { role: "assistant", content: "word ".repeat(10_000) };
    const { settlement } = await playground.play(
      async (response, received, call) => {
        sink.leave();
        await until(isDraining);
        const usage = { prompt_tokens: 11, completion_tokens: 9_000 };
        const choices = [{ index: 0, message, finish_reason: "stop" }];
        return json(completion({ choices, usage }))(response, received, call);
      },
      STREAMED,
      sink,
    );
    expect(settlement).toMatchObject({ basis: "drained", outputTokens: 9_000 });
    expect(playground.bench.ledger.extensions).toEqual([]);
  });

  it("is given up where more than the hold would be needed", async () => {
    const many = Array.from({ length: 400 }, () => wire([chunk({ content: "x".repeat(1_000) })]));
    const { settlement } = await playground.play(
      inTwoParts(isDraining, HALO, (response) => response.end(many.join("") + REST)),
      STREAMED,
      leavingSink(),
    );
    expect(settlement).toMatchObject({ basis: "estimated", outputTokens: 1 });
    expect(playground.bench.ledger.extensions).toEqual([]);
  });
});
