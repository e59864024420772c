import { describe, expect, it } from "vitest";
import { ServiceBusy, UpstreamBusy } from "../../src/kernel/errors.ts";
import { formatMoney, idr } from "../../src/kernel/money.ts";
import { STREAMED, usePlayground } from "./playground.ts";
import {
  chunk,
  completion,
  json,
  ordinaryEvents,
  type Script,
  stream,
  USAGE,
  usageChunk,
  wire,
} from "./scripted-upstream.ts";
import { FakeSink, shown, until } from "./support.ts";

const playground = usePlayground();

describe("streams", () => {
  it("hold back everything from the finish on until the settlement is committed", async () => {
    const sink = new FakeSink();
    let textAtSettlement = "";
    playground.bench.ledger.onSettle = () => {
      textAtSettlement = sink.bytes.toString();
      return Promise.resolve();
    };
    const { settlement, requestId } = await playground.play(stream(wire(ordinaryEvents())), STREAMED, sink);
    expect(textAtSettlement).toContain(" dunia");
    expect(textAtSettlement).not.toContain('"stop"');
    const ordinary = ordinaryEvents().map((data) => shown(data, requestId));
    expect(sink.events.slice(0, -2)).toEqual(ordinary.slice(0, -2));
    expect(JSON.parse(sink.events.at(-2) ?? "")).toMatchObject({ usage: { ...USAGE, cost_idr: "0.0838" } });
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(settlement).toMatchObject({
      basis: "exact",
      cost: 83_800n,
      streamed: true,
      upstreamRequestId: "req_upstream",
    });
  });

  const lines = ordinaryEvents();
  it.each<[string, Script]>([
    ["CRLF", stream(wire(lines).replaceAll("\n", "\r\n"))],
    ["CR", stream(wire(lines).replaceAll("\n", "\r"))],
    ["data: without the space", stream(wire(lines).replaceAll("data: ", "data:"))],
    [
      "comments and other fields",
      stream(`: ping\n\n${lines.map((data) => `event: message\nid: 7\ndata: ${data}\n\n: ping\n\n`).join("")}`),
    ],
    ["single bytes", stream(...wire(lines).split(""))],
    ["no blank line at the end", stream(wire(lines).trimEnd())],
    ["no [DONE]", stream(wire(lines.slice(0, -1)))],
    [
      "usage repeated",
      stream(wire([...lines.slice(0, 2), usageChunk({ prompt_tokens: 1, completion_tokens: 1 }), ...lines.slice(2)])),
    ],
    [
      "empty finish reasons",
      stream(wire([chunk({ content: "Halo" }, ""), chunk({ content: " dunia" }, ""), ...lines.slice(3)])),
    ],
    ["usage with the finish", stream(wire([...lines.slice(0, 3), chunk({}, "stop", { usage: USAGE }), "[DONE]"]))],
    [
      "usage where Groq puts it",
      stream(wire([...lines.slice(0, 3), chunk({}, "stop", { x_groq: { usage: USAGE } }), "[DONE]"])),
    ],
    [
      "another content type",
      (response) => void response.writeHead(200, { "content-type": "text/plain" }).end(wire(lines)),
    ],
    [
      "one JSON text instead",
      json(
        completion({
          choices: [{ index: 0, message: { role: "assistant", content: "Halo dunia" }, finish_reason: "stop" }],
        }),
      ),
    ],
  ])("are understood and billed exactly: %s", async (_name, script) => {
    const { error, sink, settlement } = await playground.play(script, STREAMED);
    expect(error).toBeNull();
    expect(sink.text).toBe("Halo dunia");
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(sink.events.at(-2)).toContain('"cost_idr":"0.0838"');
  });

  const begun = wire(lines.slice(0, 3));
  it.each<[string, Script]>([
    ["the stream ends", stream(begun)],
    [
      "the connection is reset",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(begun, () => setImmediate(() => response.socket?.destroy()));
      },
    ],
    [
      "nothing more comes",
      (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(begun);
      },
    ],
    ["an error event comes", stream(begun, wire(['{"error":{"message":"secret at http://10.0.0.1","code":500}}']))],
    ["the finish is an error", stream(begun, wire([chunk({}, "error")]))],
  ])("that break off are charged by estimate and never look complete: %s", async (_name, script) => {
    const { error, sink, settlement } = await playground.play(script, STREAMED);
    expect(error).toBeNull();
    expect(sink.text).toContain("Halo dunia");
    expect(sink.bytes.includes("[DONE]")).toBe(false);
    const last = JSON.parse(sink.events.at(-1) ?? "") as unknown;
    const cost = formatMoney(idr(settlement.cost));
    const message = `The answer was cut off by the upstream. Rp ${cost} were billed for what was delivered.`;
    expect(last).toEqual({ error: { message, type: "server_error", code: "upstream_busy", cost_idr: cost } });
    expect(sink.bytes.includes("10.0.0.1")).toBe(false);
    expect(settlement).toMatchObject({ basis: "estimated" });
    expect(settlement.outputTokens).toBeGreaterThanOrEqual(2);
    expect(settlement.outputTokens).toBeLessThanOrEqual(6);
  });

  it("that break off before any output cost nothing, and the client gets a status", async () => {
    const { error, sink, settlement } = await playground.play(
      stream(wire([chunk({ role: "assistant", content: "" }), chunk({}, "error")])),
      STREAMED,
    );
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(sink.head).toBeNull();
    expect(settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it("send the client an error event when the settlement fails, and do not finish", async () => {
    playground.bench.ledger.onSettle = () => Promise.reject(new ServiceBusy());
    playground.upstream.run(stream(wire(lines.slice(0, 3)), wire(lines.slice(3))));
    const { error, sink } = await playground.bench.send(STREAMED);
    expect(error).toBeNull();
    expect(sink.bytes.includes('"stop"')).toBe(false);
    expect(sink.events.at(-1)).toContain('"code":"upstream_busy"');
    expect(playground.bench.ledger.settlements).toHaveLength(1);
  });

  it("pause the upstream while the client is slow, and lose nothing", async () => {
    const sink = new FakeSink();
    let isSlow = true;
    sink.onWrite = () => !isSlow;
    const words = Array.from({ length: 2_000 }, (_, index) => chunk({ content: `word${index} ` }));
    playground.upstream.run(stream(...words.map((data) => wire([data])), wire([chunk({}, "stop"), "[DONE]"])));
    const pending = playground.bench.send(STREAMED, sink);
    await until(() => sink.chunks.length === 1);
    isSlow = false;
    sink.drain();
    await pending;
    expect(sink.text).toContain("word1999");
    expect(playground.bench.ledger.open.size).toBe(0);
  });
});
