// What the wire of Messages means for the money, and how it is shown.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnswerEvent } from "../../conversation/answer-events.ts";
import type { BilledUsage } from "../../metering/bill.ts";
import { dataOf, splitEvents } from "../../stream/sse.ts";
import type { AnswerStream, ReadEvent } from "../answer-format.ts";
import { MESSAGES_FORMAT } from "./messages-format.ts";

type Json = { readonly [name: string]: unknown };

const NAMES = { id: "msg_ours", model: "acme/opus" };
const USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 20,
  cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
  output_tokens: 1,
  service_tier: "standard",
};
const BILLED: BilledUsage = {
  counts: {
    inputTokensUncached: 100,
    inputTokensCached: 30,
    outputTokens: 7,
    otherTokens: { cacheWrite: 5, cacheWrite1h: 15 },
  },
  basis: "exact",
  clamped: false,
  settled: { cost: 1_500_000n, charge: 1_500_000n },
  reasoningTokens: 2,
  isAsReported: true,
};
const SHOWN_USAGE = {
  ...USAGE,
  output_tokens: 7,
  output_tokens_details: { thinking_tokens: 2 },
  cost_idr: "1.5",
};

const bytesOf = (data: Json, name: string | null = String(data["type"])): Buffer =>
  Buffer.from(`${name === null ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);
const START = {
  type: "message_start",
  message: { id: "msg_theirs", type: "message", model: "opus-1", usage: USAGE, extra: 1 },
};
const begun = (content_block: Json, index = 0): Json => ({ type: "content_block_start", index, content_block });
const added = (delta: Json, index = 0): Json => ({ type: "content_block_delta", index, delta });
const stopped = (index = 0): Json => ({ type: "content_block_stop", index });
const TEXT = begun({ type: "text", text: "" });
const HELLO = added({ type: "text_delta", text: "hello é" });
const TOOL = begun({ type: "tool_use", id: "toolu_1", name: "look", input: {} }, 1);
const ended = (stop_reason: string, usage: Json = { output_tokens: 7 }): Json => ({
  type: "message_delta",
  delta: { stop_reason, stop_sequence: null },
  usage,
});
const STOP = { type: "message_stop" };

const open = (): AnswerStream => MESSAGES_FORMAT.openStream({ names: NAMES, wantsUsage: false });
const read = (stream: AnswerStream, data: Json): ReadEvent => stream.read(bytesOf(data));
const show = (stream: AnswerStream, data: Json): Buffer => {
  const found = read(stream, data);
  if (found.meaning.kind !== "part") throw new Error(`${String(data["type"])} is no part`);
  return stream.show(found, found.meaning) ?? Buffer.alloc(0);
};
const parsed = (bytes: Buffer): Json[] => MESSAGES_FORMAT.chunksIn(bytes).map((json) => JSON.parse(json) as Json);
const meaningOf = (...events: Json[]) => {
  const stream = open();
  return events.map((event) => read(stream, event).meaning).at(-1);
};

describe("an event", () => {
  it.each<[string, Json, object]>([
    ["the start", START, { kind: "part", usage: USAGE, hasOutput: false, finished: [] }],
    ["the start of a text", TEXT, { kind: "part", usage: null, hasOutput: false }],
    ["the start of a call", TOOL, { hasOutput: true }],
    ["the start of a hidden thought", begun({ type: "thinking", thinking: "" }), { hasOutput: true }],
    ["a piece of text", HELLO, { hasOutput: true, choices: [0], finished: [] }],
    ["the end of a block", stopped(), { kind: "part", hasOutput: false, finished: [] }],
    ["the end", ended("end_turn"), { kind: "part", usage: { output_tokens: 7 }, isUsageOnly: false, finished: [0] }],
    ["a usage before the end", { ...ended("end_turn"), delta: { stop_reason: null } }, { finished: [] }],
    ["the mark behind it", STOP, { kind: "done" }],
    ["a ping", { type: "ping" }, { kind: "opaque" }],
    ["an unknown event", { type: "news", text: "hm" }, { kind: "opaque" }],
    ["an object without a type", { choices: [] }, { kind: "foreign" }],
    [
      "an error",
      { type: "error", error: { type: "overloaded_error" } },
      { kind: "error", error: { type: "overloaded_error" } },
    ],
  ])("that is %s", (_name, event, expected) => {
    expect(meaningOf(event)).toMatchObject(expected);
  });

  it("is nothing, or broken, where its data is no object", () => {
    const stream = open();
    expect(stream.read(Buffer.from(": comment\n\n")).meaning).toEqual({ kind: "opaque" });
    expect(stream.read(Buffer.from('data: {"type"\n\n')).meaning).toEqual({ kind: "malformed" });
    expect(stream.read(Buffer.from("event: error\ndata: oops\n\n")).meaning).toMatchObject({
      kind: "error",
      error: null,
    });
  });

  it("has the text that the model wrote in it", () => {
    const texts = [TEXT, HELLO, added({ type: "thinking_delta", thinking: "hm" }), TOOL].map(
      (event) => read(open(), event).text,
    );
    expect(texts).toEqual(["", "hello é", "hm", "look"]);
    expect(read(open(), HELLO).size).toMatchObject({ asciiBytes: 6, otherBytes: 2, events: 1 });
    expect(read(open(), added({ type: "signature_delta", signature: "Sig" })).size.events).toBe(0);
    expect(MESSAGES_FORMAT.piecesOfEvent(added({ type: "input_json_delta", partial_json: "{" }, 4))).toEqual([
      { place: 4, text: "{", mediaTokens: 0 },
    ]);
  });

  it("is free where it refuses before any output, and only there", () => {
    expect(meaningOf(START, ended("refusal"))).toMatchObject({ isFree: true, finished: [0] });
    expect(meaningOf(START, TEXT, HELLO, ended("refusal"))).not.toHaveProperty("isFree");
    expect(meaningOf(START, ended("end_turn"))).not.toHaveProperty("isFree");
  });
});

describe("a shown stream", () => {
  it("has our names at its start, and everything else as it came", () => {
    const stream = open();
    expect(parsed(show(stream, START))).toEqual([{ ...START, message: { ...START.message, ...NAMES } }]);
    for (const event of [TEXT, HELLO, stopped()]) expect(show(stream, event)).toEqual(bytesOf(event));
  });

  it("names each event, as clients need it", () => {
    const stream = open();
    const unnamed = stream.read(bytesOf(HELLO, null));
    if (unnamed.meaning.kind !== "part") throw new Error("it is a part");
    expect(stream.show(unnamed, unnamed.meaning)).toEqual(bytesOf(HELLO));
    const onLines = stream.read(Buffer.from(`data: {"type":"content_block_stop",\ndata: "index":0}\n\n`));
    if (onLines.meaning.kind !== "part") throw new Error("it is a part");
    expect(String(stream.show(onLines, onLines.meaning))).toBe(
      'event: content_block_stop\ndata: {"type":"content_block_stop", "index":0}\n\n',
    );
  });

  it("ends with the billed usage, and keeps what else the upstream reported", () => {
    const stream = open();
    const events = [START, TEXT, HELLO, stopped()];
    for (const event of events) show(stream, event);
    const held = [show(stream, ended("end_turn", { ...USAGE, output_tokens: 7 })), bytesOf({ type: "ping" })];
    expect(parsed(stream.complete(held, BILLED))).toEqual([ended("end_turn", SHOWN_USAGE), { type: "ping" }, STOP]);
    const estimated = { ...BILLED, basis: "estimated", isAsReported: false } as const;
    const [last] = parsed(stream.complete(held, estimated));
    expect(last?.["usage"]).not.toHaveProperty("service_tier");
    expect(last?.["usage"]).toMatchObject({ input_tokens: 100, output_tokens: 7, cost_idr: "1.5" });
  });

  it("ends as a cap does where it goes no further, with its open blocks closed", () => {
    const stream = open();
    for (const event of [START, TEXT, HELLO, stopped(), TOOL]) show(stream, event);
    const events = parsed(stream.stop([0], { ...BILLED, isAsReported: false }));
    expect(events).toMatchObject([
      stopped(1),
      { delta: { stop_reason: "max_tokens" }, usage: { cost_idr: "1.5" } },
      STOP,
    ]);
    expect(parsed(open().stop([0], BILLED)).map(({ type }) => type)).toEqual([
      "message_start",
      "message_delta",
      "message_stop",
    ]);
  });

  it("gets an end where its upstream sends the mark alone", () => {
    const stream = open();
    for (const event of [START, TOOL, stopped(1)]) show(stream, event);
    const events = parsed(stream.complete([], BILLED));
    expect(events).toMatchObject([{ delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } }, STOP]);
  });

  it("has the share of a text that is held for, and no half of an input", () => {
    const share = (event: Json, part: number) => {
      const stream = open();
      const found = read(stream, event);
      const shown = found.meaning.kind === "part" ? stream.showShare(found.meaning, part) : null;
      return shown === null ? null : parsed(shown)[0];
    };
    expect(share(added({ type: "text_delta", text: "ab\u{1F642}cd" }), 0.5)).toEqual(
      added({ type: "text_delta", text: "ab" }),
    );
    expect(share(HELLO, 0)).toBeNull();
    expect(share(added({ type: "input_json_delta", partial_json: '{"a":1}' }), 0.5)).toBeNull();
    expect(share(TEXT, 0.5)).toBeNull();
  });

  it("is the same to a reader as what came", () => {
    const piece = fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 5 }), fc.array(piece, { maxLength: 3 }), (texts, inputs) => {
        const events = [
          START,
          TEXT,
          ...texts.map((text) => added({ type: "text_delta", text })),
          stopped(),
          TOOL,
          ...inputs.map((partial_json) => added({ type: "input_json_delta", partial_json }, 1)),
          stopped(1),
        ];
        const stream = open();
        const last = ended("tool_use", { ...USAGE, output_tokens: 7 });
        const shown = events.map((event) => show(stream, event));
        const end = stream.complete([show(stream, last)], BILLED);
        const eventsIn = (all: readonly Json[]): AnswerEvent[] => {
          const reader = MESSAGES_FORMAT.openReader("claude");
          return [...all.flatMap((event) => reader.read(event)), ...reader.end()];
        };
        const before = eventsIn([...events, last]).slice(0, -1);
        const after = eventsIn(parsed(Buffer.concat([...shown, end])));
        expect(after.slice(0, -1)).toEqual(before);
        expect(after.at(-1)).toMatchObject({ usage: { input: 150, output: 7, reasoning: 2, costIdr: "1.5" } });
      }),
    );
  });
});

const MESSAGE = {
  id: "msg_theirs",
  type: "message",
  role: "assistant",
  model: "opus-1",
  content: [
    { type: "thinking", thinking: "hm", signature: "Sig" },
    { type: "text", text: "Looking." },
    { type: "tool_use", id: "toolu_1", name: "look", input: { at: 1 } },
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { ...USAGE, output_tokens: 7 },
};
const wholeOf = (message: unknown) => MESSAGES_FORMAT.readWhole(Buffer.from(JSON.stringify(message)));

describe("a whole message", () => {
  it("has our names and the billed usage, and all else as it came", () => {
    const found = wholeOf(MESSAGE);
    if ("kind" in found) throw new Error("it is an answer");
    const written = MESSAGES_FORMAT.writeWhole(found, NAMES, BILLED).toString();
    expect(JSON.parse(written)).toEqual({ ...MESSAGE, ...NAMES, usage: SHOWN_USAGE });
    expect(written).toContain(JSON.stringify(MESSAGE.content));
    expect(MESSAGES_FORMAT.piecesOfAnswer(MESSAGE).map(({ text }) => text)).toEqual(["hm", "Looking.", 'look{"at":1}']);
  });

  it("gets what it lacks", () => {
    const { id: _id, usage: _usage, ...lacking } = MESSAGE;
    const found = wholeOf(lacking);
    if ("kind" in found) throw new Error("it is an answer");
    const written = JSON.parse(
      MESSAGES_FORMAT.writeWhole(found, NAMES, { ...BILLED, isAsReported: false }).toString(),
    ) as Json;
    expect(written).toMatchObject({ ...NAMES, content: MESSAGE.content, usage: { input_tokens: 100 } });
  });

  it("is free where it refuses before any output, and none without content or an end", () => {
    expect(wholeOf({ ...MESSAGE, content: [], stop_reason: "refusal" })).toMatchObject({ isFree: true });
    expect(wholeOf({ ...MESSAGE, stop_reason: "refusal" })).not.toHaveProperty("isFree");
    expect(wholeOf({ ...MESSAGE, content: [], stop_reason: "end_turn" })).not.toHaveProperty("kind");
    expect(wholeOf({ ...MESSAGE, content: [], stop_reason: null })).toMatchObject({ kind: "failed" });
    expect(wholeOf({ choices: [] })).toMatchObject({ kind: "failed" });
    expect(wholeOf({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })).toMatchObject({
      kind: "failed",
    });
  });

  it("in place of a stream is written as one", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(MESSAGE)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    const { read: all, part, shown } = unstreamed;
    expect(all.text).toBe('hmLooking.look{"at":1}');
    expect(part).toMatchObject({ usage: MESSAGE.usage, finished: [0] });
    const reader = MESSAGES_FORMAT.openReader("claude");
    const complete = stream.complete([shown], BILLED);
    expect(splitEvents(complete).map((event) => dataOf(event) !== null)).not.toContain(false);
    const events = [...parsed(complete).flatMap((event) => reader.read(event)), ...reader.end()];
    const whole = MESSAGES_FORMAT.openReader("claude");
    expect(events.slice(0, -1)).toEqual([...whole.read(MESSAGE), ...whole.end()].slice(0, -1));
    expect(parsed(complete)[0]).toMatchObject({ type: "message_start", message: NAMES });
  });

  it("in place of a stream goes out in part where not all of it is held for", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(MESSAGE)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    const none = open();
    expect(none.showShare(unstreamed.part, 0)).toBeNull();
    expect(parsed(none.stop([0], BILLED)).map(({ type }) => type)).toEqual([
      "message_start",
      "message_delta",
      "message_stop",
    ]);
    const share = stream.showShare(unstreamed.part, 0.3);
    const shown = parsed(Buffer.concat([share ?? Buffer.alloc(0), stream.stop([0], BILLED)]));
    const reader = MESSAGES_FORMAT.openReader("claude");
    expect([...shown.flatMap((event) => reader.read(event)), ...reader.end()]).toMatchObject([
      { kind: "reasoning", text: "hm" },
      { kind: "opaque" },
      { kind: "text", text: "Look" },
      { kind: "finish", reason: "length" },
      { kind: "usage" },
    ]);
    expect(shown.filter(({ type }) => type === "message_start")).toHaveLength(1);
  });
});

describe("an error", () => {
  it("costs nothing before any count, and perhaps something behind one", () => {
    const error = { type: "overloaded_error", message: "Overloaded" };
    expect(MESSAGES_FORMAT.failureOf(error, null)).toMatchObject({ kind: "unbilled" });
    expect(MESSAGES_FORMAT.failureOf(error, USAGE)).toMatchObject({ kind: "perhaps_billed" });
  });
});
