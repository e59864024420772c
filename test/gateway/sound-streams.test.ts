// What reaches a client of a stream is sound: whole JSON objects under our id and model, or an error event.

import { describe, expect, it } from "vitest";
import { UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import { STREAMED, usePlayground, WHOLE } from "./playground.ts";
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
import { chat, FakeSink, shown } from "./support.ts";

const playground = usePlayground();
const MARK = "\uFEFF";
const TEXT = wire(ordinaryEvents().slice(0, 3));
const EXACT = { basis: "exact", cost: 83_800n };
const FREE = { basis: "free", cost: 0n };

/** Packets of so many bytes. */
function cutIn(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

describe("a byte order mark", () => {
  it.each([1, 2, 3, 10_000])("before the first event takes nothing of it, in packets of %i bytes", async (size) => {
    const { sink, settlement } = await playground.play(
      stream(...cutIn(MARK + wire(ordinaryEvents().slice(1)), size)),
      STREAMED,
    );
    expect(sink.text).toBe("Halo dunia");
    expect(settlement).toMatchObject(EXACT);
  });

  it("does not hide that events come, where no header announces them", async () => {
    const { sink, settlement } = await playground.play((response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" }).end(MARK + wire(ordinaryEvents()));
    }, STREAMED);
    expect(sink.text).toBe("Halo dunia");
    expect(settlement).toMatchObject(EXACT);
  });

  it.each([
    ["a whole answer", WHOLE],
    ["one JSON text for a stream", STREAMED],
  ])("before %s is left out", async (_name, body) => {
    const { error, sink, settlement } = await playground.play(json(MARK + completion()), body);
    expect(error).toBeNull();
    expect(sink.bytes.includes("Halo!")).toBe(true);
    expect(settlement).toMatchObject(EXACT);
  });
});

const SECRET = "no capacity at http://10.0.0.1/v1";
const ERRORS: readonly (readonly [string, string])[] = [
  [
    "flat, as vLLM writes it",
    wire([JSON.stringify({ object: "error", message: SECRET, type: "Internal", code: 500 })]),
  ],
  ["flat, with a type", wire([JSON.stringify({ type: "error", message: SECRET })])],
  ["with a code and a message", wire([JSON.stringify({ code: 500, message: SECRET })])],
  ["as FastAPI writes it", wire([JSON.stringify({ detail: SECRET })])],
  ["as a text", wire([JSON.stringify({ error: SECRET })])],
  ["by the name of the event", `event: error\ndata: ${JSON.stringify({ reason: SECRET })}\n\n`],
  ["by the name of the event, in words", `event: error\ndata: ${SECRET}\n\n`],
];

describe("an error inside a stream", () => {
  it.each(ERRORS)("before any output is a failure that is tried again: %s", async (_name, error) => {
    const role = wire(ordinaryEvents().slice(0, 1));
    for (const script of [stream(error), stream(role, error, wire(["[DONE]"]))]) {
      const played = await playground.play(script, STREAMED);
      expect(played.error).toBeInstanceOf(UpstreamBusy);
      expect(played.calls).toBe(2);
      expect(played.sink.head).toBeNull();
      expect(played.settlement).toMatchObject(FREE);
      playground.bench.ledger.settlements.length = 0;
    }
  });

  it.each(ERRORS)("behind output is an error event of ours and never relayed: %s", async (_name, error) => {
    const { sink, calls, settlement } = await playground.play(stream(TEXT, error, wire(["[DONE]"])), STREAMED);
    expect(sink.text).toContain("Halo dunia");
    expect(sink.events.at(-1)).toContain('"code":"upstream_busy"');
    expect(sink.bytes.includes("10.0.0.1")).toBe(false);
    expect(sink.bytes.includes("[DONE]")).toBe(false);
    expect(calls).toBe(1);
    expect(settlement.basis).toBe("estimated");
  });

  it("before any output that finds the request wrong is a refusal", async () => {
    const { error, calls } = await playground.play(
      stream(wire([JSON.stringify({ object: "error", message: SECRET, code: 400 })])),
      STREAMED,
    );
    expect(error).toBeInstanceOf(ValidationError);
    expect(calls).toBe(1);
  });

  it.each(["flat, as vLLM writes it", "with a code and a message", "as a text"])(
    "is one in place of a whole answer, too: %s",
    async (name) => {
      const data = ERRORS.find(([of]) => of === name)?.[1] ?? "";
      const { error, calls, settlement } = await playground.play(json(data.slice("data: ".length)), WHOLE);
      expect(error).toBeInstanceOf(UpstreamBusy);
      expect(calls).toBe(2);
      expect(settlement).toMatchObject(FREE);
    },
  );
});

describe("an answer with nothing in it", () => {
  const empty = JSON.stringify({ choices: [] });
  it.each<[string, Script, unknown]>([
    ["no choices", stream(wire([empty, "[DONE]"])), STREAMED],
    ["no choices, and usage", stream(wire([empty, usageChunk(), "[DONE]"])), STREAMED],
    ["a role", stream(wire([chunk({ role: "assistant", content: "" }), "[DONE]"])), STREAMED],
    ["a role, and no end", stream(wire([chunk({ role: "assistant", content: "" })])), STREAMED],
    ["no choices in one piece", json(completion({ choices: [] })), WHOLE],
    ["no choices in one piece for a stream", json(completion({ choices: [] })), STREAMED],
    [
      "no words and no end in one piece",
      json(completion({ choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: null }] })),
      WHOLE,
    ],
  ])("is a failure and costs nothing: %s", async (_name, script, body) => {
    const { error, sink, settlement } = await playground.play(script, body);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(sink.head).toBeNull();
    expect(settlement).toMatchObject(FREE);
  });

  it.each<[string, Script, unknown]>([
    ["a stream", stream(wire([chunk({ role: "assistant", content: "" }), chunk({}, "stop"), "[DONE]"])), STREAMED],
    [
      "one piece",
      json(completion({ choices: [{ index: 0, message: { role: "assistant", content: "" }, finish_reason: "stop" }] })),
      WHOLE,
    ],
  ])("is an answer where the model ended it: %s", async (_name, script, body) => {
    const { error, sink } = await playground.play(script, body);
    expect(error).toBeNull();
    expect(sink.bytes.toString()).toContain('"finish_reason":"stop"');
    expect(sink.bytes.toString()).toContain('"role":"assistant"');
  });
});

describe("a malformed event", () => {
  const whole = chunk({ content: " lagi" });
  it.each<[string, string]>([
    ["half an object", whole.slice(0, -20)],
    ["an object cut in its text", whole.slice(0, whole.indexOf("lagi") + 2)],
    ["an object with more behind it", `${whole}}`],
    ["a bad escape", whole.replace("lagi", "\\x41")],
    ["a control character in the text", whole.replace("lagi", "la\tgi")],
    ["a list", "[1]"],
    ["words", "overloaded"],
  ])("is an error event and never reaches the client: %s", async (_name, data) => {
    // The same frame as the events before it, in one packet with them and in one of its own.
    for (const packets of [[wire([chunk({ content: "x" }), data])], [wire([chunk({ content: "x" })]), wire([data])]]) {
      const { sink, settlement } = await playground.play(stream(TEXT, ...packets, wire(["[DONE]"])), STREAMED);
      expect(sink.text).toContain("Halo dunia");
      expect(sink.events.at(-1)).toContain('"code":"upstream_busy"');
      expect(sink.events.every((event) => typeof JSON.parse(event) === "object")).toBe(true);
      expect(settlement.basis).toBe("estimated");
      playground.bench.ledger.settlements.length = 0;
    }
  });

  it("before any output is a failure that may have cost something", async () => {
    const { error, calls, settlement } = await playground.play(stream(wire([whole.slice(0, -20)])), STREAMED);
    expect(error).toBeInstanceOf(UpstreamBusy);
    expect(calls).toBe(1);
    expect(settlement).toMatchObject(FREE);
  });

  it("behind a complete answer takes nothing from it", async () => {
    const { sink, settlement } = await playground.play(
      stream(TEXT, wire([chunk({}, "stop"), usageChunk(), whole.slice(0, -20)])),
      STREAMED,
    );
    expect(sink.events.at(-1)).toBe("[DONE]");
    expect(settlement).toMatchObject(EXACT);
  });

  it("that is unknown to clients is left out", async () => {
    const ping = 'event: ping\ndata: {"type":"ping"}\n\n';
    const { sink, settlement } = await playground.play(
      stream(ping, TEXT, ping, wire(ordinaryEvents().slice(3))),
      STREAMED,
    );
    expect(sink.bytes.includes("ping")).toBe(false);
    expect(sink.text).toBe("Halo dunia");
    expect(settlement).toMatchObject(EXACT);
  });
});

describe("the chunks of a stream", () => {
  const WORDS = ["Halo", ' "dunia"', " \\ dan", " ☀️ 你好", "\n\t", " 🇮🇩", "", " z"];
  const DELTAS: readonly (readonly [string, (text: string) => string])[] = [
    ["text", (text) => chunk({ content: text })],
    [
      "text that another member pads",
      (text) => chunk({ content: text }, null, { obfuscation: "xy".repeat(text.length) }),
    ],
    ["reasoning", (text) => chunk({ reasoning_content: text })],
    ["reasoning twice", (text) => chunk({ reasoning: text, reasoning_details: [{ type: "reasoning.text", text }] })],
    ["arguments", (text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })],
    ["parts", (text) => chunk({ content: [{ type: "text", text }] })],
    ["another number each", (text) => chunk({ content: text }, null, { created: 1_700_000_000 + text.length })],
    [
      "names behind the choices",
      (text) =>
        JSON.stringify({
          choices: [{ index: 0, delta: { content: text } }],
          model: "upstream-model-2026",
          id: "chatcmpl-upstream",
        }),
    ],
    [
      "two choices",
      (text) =>
        chunk(null, null, { choices: [{ index: text.length % 2, delta: { content: text }, finish_reason: null }] }),
    ],
  ];
  it.each(DELTAS)("have our id and the catalog's model, and else their own bytes: %s", async (_name, write) => {
    const chunks = WORDS.concat(WORDS).map(write);
    for (const packets of [chunks.map((data) => wire([data])), [wire(chunks)], cutIn(wire(chunks), 97)]) {
      const sink = new FakeSink();
      const { requestId } = await playground.play(
        stream(...packets, wire([chunk({}, "stop", { usage: USAGE }), "[DONE]"])),
        { ...STREAMED, n: 2 },
        sink,
      );
      const sent = chunks.map((data) => shown(data, requestId));
      expect(sink.events.slice(0, chunks.length)).toEqual(sent);
      const named = sink.events.slice(0, -1).map((data) => JSON.parse(data) as { id: string; model: string });
      expect(named.every(({ id, model }) => id === `chatcmpl-${requestId}` && model === "local/m")).toBe(true);
      playground.bench.ledger.settlements.length = 0;
    }
  });

  it("get an id and a model where they have none", async () => {
    const bare = (delta: object, finish: string | null = null): string =>
      JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });
    const { sink, requestId } = await playground.play(
      stream(wire([bare({ content: "a" }), bare({ content: "b" }), bare({}, "stop"), "[DONE]"])),
      STREAMED,
    );
    expect(sink.text).toBe("ab");
    for (const data of sink.events.slice(0, -1)) {
      expect(JSON.parse(data)).toMatchObject({ id: `chatcmpl-${requestId}`, model: "local/m" });
    }
  });
});

describe("sound in a stream", () => {
  it("goes out only once the whole bound is held", async () => {
    const sound = chunk({ audio: { id: "audio_1", data: "UklGRg==".repeat(100) } });
    const events = wire([sound, chunk({ audio: { transcript: "Halo" } }), chunk({}, "stop"), usageChunk(), "[DONE]"]);
    await playground.play(stream(events), chat("local/m", "hi", { stream: true }));
    const { admissions, extensions } = playground.bench.ledger;
    expect(extensions).toHaveLength(1);
    // All of 16 384 tokens at Rp 0.015 each.
    expect(extensions[0]?.leastAmount).toBeGreaterThanOrEqual(16_384n * 15_000n);
    expect(admissions[0]?.amount).toBeLessThan(16_384n * 15_000n);
  });
});
