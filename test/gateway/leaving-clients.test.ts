import { describe, expect, it } from "vitest";
import { STREAMED, WHOLE, usePlayground } from "./playground.ts";
import { chunk, completion, json, wire } from "./scripted-upstream.ts";
import { FakeSink, until } from "./support.ts";

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
