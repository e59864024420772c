import { describe, expect, it } from "vitest";
import { STREAMED, usePlayground } from "./playground.ts";
import { chunk, ordinaryEvents, stream, USAGE, usageChunk, wire } from "./scripted-upstream.ts";
import { chat, FakeSink, shown } from "./support.ts";

const playground = usePlayground();
const UNASKED = chat("local/m", "hi", { stream: true });
const ERROR = '{"error":{"message":"overloaded","code":503}}';
const choice = (index: number, delta: unknown, finish: string | null = null): string =>
  chunk(null, null, { choices: [{ index, delta, finish_reason: finish }] });

/** Plays a stream and notes what the client had when the settlement began. */
async function playTo(events: readonly string[], body: unknown = STREAMED, ...packets: readonly string[]) {
  const sink = new FakeSink();
  let visible = "";
  playground.bench.ledger.onSettle = () => {
    visible = sink.bytes.toString();
    return Promise.resolve();
  };
  const played = await playground.play(stream(wire(events), ...packets), body, sink);
  return { ...played, visible };
}

describe("choices", () => {
  it("are not waited for when the upstream writes fewer than were asked for", async () => {
    const { visible, settlement } = await playTo(
      [choice(0, { content: "Halo" }), choice(0, {}, "stop"), usageChunk(), "[DONE]"],
      { ...STREAMED, n: 2 },
    );
    expect(visible).toContain("Halo");
    expect(visible).not.toContain('"stop"');
    expect(settlement.basis).toBe("exact");
  });

  it.each<[string, string[]]>([
    [
      "one after the other",
      [choice(0, { content: "a" }), choice(0, {}, "stop"), choice(1, { content: "b" }), choice(1, {}, "length")],
    ],
    [
      "together",
      [choice(0, { content: "a" }), choice(1, { content: "b" }), choice(1, {}, "length"), choice(0, {}, "stop")],
    ],
    [
      "each with its own end last",
      [choice(0, { content: "a" }), choice(0, {}, "stop"), choice(1, { content: "b" }, "length")],
    ],
  ])("arrive whole and in order when they are written %s", async (_name, frames) => {
    const { sink, visible, requestId } = await playTo([...frames, usageChunk(), "[DONE]"], { ...STREAMED, n: 2 });
    const expected = frames.map((data) => shown(data, requestId));
    expect(sink.events.slice(0, frames.length)).toEqual(expected);
    expect(visible).not.toContain(expected.at(-1));
  });

  it("that end in an error after another was complete break the answer off", async () => {
    const { sink, settlement } = await playTo([
      choice(0, { content: "Halo" }),
      choice(0, {}, "stop"),
      choice(1, {}, "error"),
    ]);
    expect(settlement.basis).toBe("estimated");
    expect(sink.events.at(-1)).toContain("upstream_busy");
  });
});

describe("an answer that was complete", () => {
  it.each<[string, string[]]>([
    ["an error event", [ERROR]],
    ["an error event in place of the answer's begin", [ERROR]],
    ["a finish that is an error", [chunk({}, "error")]],
    ["more than is ever held", Array.from({ length: 9 }, () => chunk({ content: "x".repeat(150_000) }))],
  ])("is billed exactly and never asked for again, whatever follows: %s", async (name, after) => {
    const begin = name.includes("begin") ? [] : [chunk({ content: "Halo" })];
    const { error, sink, calls, settlement } = await playTo([...begin, chunk({}, "stop"), usageChunk(), ...after]);
    expect(error).toBeNull();
    expect(calls).toBe(1);
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(sink.bytes.includes("overloaded")).toBe(false);
  });
});

describe("usage inside a stream", () => {
  const frames = [
    chunk({ content: "Halo" }, null, { usage: { prompt_tokens: 11, completion_tokens: 1 } }),
    chunk({}, "stop", { usage: USAGE, x_groq: { id: "req_1", usage: USAGE } }),
  ];
  const withoutUsage = frames.map((data) => {
    const { x_groq: groq, ...rest } = JSON.parse(data) as Record<string, unknown>;
    return { ...rest, usage: null, ...(groq === undefined ? {} : { x_groq: null }) };
  });

  it.each<[string, string]>([
    ["on one line", wire([...frames, "[DONE]"])],
    ["with other fields", wire([...frames, "[DONE]"]).replaceAll("data: {", "event: message\nid: 7\ndata: {")],
    ["over several lines", wire([...frames, "[DONE]"]).replaceAll(',"', ',\ndata: "')],
  ])("does not reach a client with the upstream's numbers: %s", async (_name, text) => {
    const { sink, settlement, requestId } = await playground.play(stream(text), UNASKED);
    const names = { id: `chatcmpl-${requestId}`, model: "local/m" };
    expect(sink.events.slice(0, -1).map((data) => JSON.parse(data) as unknown)).toEqual(
      withoutUsage.map((chunkOf) => ({ ...chunkOf, ...names })),
    );
    expect(sink.bytes.includes("prompt_tokens")).toBe(false);
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
  });

  it("is sent once, with the cost, to a client that asked", async () => {
    const { sink } = await playground.play(stream(wire([...frames, "[DONE]"])), STREAMED);
    expect(sink.events.filter((data) => data.includes("prompt_tokens"))).toHaveLength(1);
    expect(sink.events.at(-2)).toContain('"cost_idr":"0.0838"');
  });

  it("arrives on one line though it was sent over several", async () => {
    const spread = JSON.stringify(JSON.parse(usageChunk()), null, 1).replaceAll("\n", "\ndata: ");
    const { sink } = await playground.play(
      stream(wire([chunk({ content: "Halo" }), chunk({}, "stop"), spread])),
      STREAMED,
    );
    expect(JSON.parse(sink.events.at(-2) ?? "")).toMatchObject({ usage: { ...USAGE, cost_idr: "0.0838" } });
    expect(
      sink.bytes
        .toString()
        .trimEnd()
        .split("\n")
        .every((line) => line === "" || line.startsWith("data: ")),
    ).toBe(true);
  });

  it.each([65, 15_000])("is written again where the upstream's is nested %i deep", async (depth) => {
    const nested = `{"choices":[],"usage":${JSON.stringify(USAGE)},"x":${"[".repeat(depth)}${"]".repeat(depth)}}`;
    const id = `{"id":${"[".repeat(depth)}${"]".repeat(depth)},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`;
    const { error, sink, settlement } = await playground.play(
      stream(wire([chunk({ content: "Halo" }), id, nested, "[DONE]"])),
      STREAMED,
    );
    expect(error).toBeNull();
    expect(settlement).toMatchObject({ basis: "exact", cost: 83_800n });
    expect(JSON.parse(sink.events.at(-2) ?? "")).toMatchObject({ choices: [], usage: { cost_idr: "0.0838" } });
    expect(sink.events.at(-1)).toBe("[DONE]");
  });

  const EARLY = chunk({ content: "Halo" }, null, { usage: { prompt_tokens: 11, completion_tokens: 1 } });
  it.each<[string, string[], object]>([
    ["more came behind it", [chunk({ content: " dunia" })], { basis: "estimated", outputTokens: 2 }],
    ["nothing came behind it", [], { basis: "exact", outputTokens: 1 }],
    ["a later one came", [chunk({ content: " dunia" }, null, { usage: USAGE })], { basis: "exact", outputTokens: 3 }],
  ])("from before the end is billed by what it covers: %s", async (_name, between, billed) => {
    for (const packets of [
      [wire([EARLY, ...between, chunk({}, "stop"), "[DONE]"])],
      [EARLY, ...between, chunk({}, "stop"), "[DONE]"].map((data) => wire([data])),
    ]) {
      const { settlement } = await playground.play(stream(...packets), STREAMED);
      expect(settlement).toMatchObject(billed);
      playground.bench.ledger.settlements.length = 0;
    }
  });
});

describe("what a stream is", () => {
  it("is found in any case of the content type", async () => {
    const { settlement } = await playground.play((response) => {
      response.writeHead(200, { "content-type": "Text/Event-Stream; Charset=UTF-8" }).end(wire(ordinaryEvents()));
    }, STREAMED);
    expect(settlement.basis).toBe("exact");
  });

  it.each([1, 2, 3])("is found without a content type in packets of %i bytes", async (size) => {
    const text = `\r\n${wire(ordinaryEvents())}`;
    const packets = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.slice(at * size, at * size + size),
    );
    const { sink, settlement } = await playground.play(async (response) => {
      response.socket?.setNoDelay(true);
      response.writeHead(200, { "content-type": "application/octet-stream" });
      for (const packet of packets) {
        response.write(packet);
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    }, STREAMED);
    expect(sink.text).toBe("Halo dunia");
    expect(settlement.basis).toBe("exact");
  });
});

describe("an answer that cannot be written", () => {
  it("is not reported as a settlement that failed", async () => {
    const sink = new FakeSink();
    sink.onWrite = (bytes) => {
      if (bytes.includes("[DONE]")) throw new Error("the socket is gone");
      return true;
    };
    const { settlement } = await playground.play(stream(wire(ordinaryEvents())), STREAMED, sink);
    expect(settlement.basis).toBe("exact");
    expect(playground.bench.events.map(({ kind }) => kind)).toEqual(["answer_failed"]);
  });
});
