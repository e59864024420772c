// What the wire of Responses means for the money, and how it is shown.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventsOf, type Json } from "./fakes/responses-wire.ts";
import type { BilledUsage } from "../../src/gateway/metering/bill.ts";
import type { AnswerStream, ReadEvent } from "../../src/gateway/formats/answer-format.ts";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";
import {
  NAMES,
  USAGE,
  BILLED,
  OWN_COUNTS,
  REASONING,
  messageOf,
  CALL,
  PATCH,
  responseOf,
  open,
  parsed,
  readAll,
} from "./responses-samples.ts";

const bytesOf = (data: Json): Buffer =>
  Buffer.from(`event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`);
const read = (stream: AnswerStream, data: Json): ReadEvent => stream.read(bytesOf(data));
const show = (stream: AnswerStream, data: Json): Buffer => {
  const found = read(stream, data);
  if (found.meaning.kind !== "part") throw new Error(`${String(data["type"])} is no part`);
  return stream.show(found, found.meaning) ?? Buffer.alloc(0);
};
const textsOf = (stream: AnswerStream, events: readonly Json[]): string[] =>
  events.map((event) => {
    const found = read(stream, event);
    if (found.meaning.kind === "part") stream.show(found, found.meaning);
    return found.text;
  });
const LONG = eventsOf(responseOf([REASONING, messageOf("Hello there."), CALL, PATCH]), 5);

describe("an event", () => {
  const [created = {}] = LONG;
  const added = (item: Json): Json => ({ type: "response.output_item.added", output_index: 0, item });
  it.each<[string, Json, object]>([
    ["the start", created, { kind: "part", usage: null, hasOutput: false, finished: [] }],
    ["the start of a message", added({ ...messageOf(""), content: [] }), { kind: "part", hasOutput: false }],
    ["the start of a call", added({ ...CALL, arguments: "" }), { hasOutput: true }],
    ["the start of hidden thoughts", added({ ...REASONING, summary: [] }), { hasOutput: true }],
    [
      "a piece of text",
      { type: "response.output_text.delta", output_index: 0, delta: "é" },
      { hasOutput: true, choices: [0] },
    ],
    [
      "the end of a text",
      { type: "response.output_text.done", output_index: 0, text: "é" },
      { hasOutput: false, finished: [] },
    ],
    [
      "the end",
      { type: "response.completed", response: responseOf([]) },
      { usage: USAGE, finished: [0], isLast: true },
    ],
    ["an end by the cap", { type: "response.incomplete", response: responseOf([]) }, { finished: [0], isLast: true }],
    ["of a type that is not known", { type: "response.news", text: "hm" }, { kind: "part", hasOutput: false }],
    ["of another kind", { type: "keepalive" }, { kind: "opaque" }],
    ["an object without a type", { choices: [] }, { kind: "foreign" }],
    [
      "an error",
      { type: "error", code: "rate_limit_exceeded", message: "Slow" },
      { kind: "error", error: { code: "rate_limit_exceeded" } },
    ],
    ["an error in an object", { error: { code: "server_error" } }, { kind: "error", error: { code: "server_error" } }],
    [
      "a failure",
      { type: "response.failed", response: responseOf([], { error: { code: "server_is_overloaded" } }) },
      { kind: "error", error: { code: "server_is_overloaded" }, usage: USAGE },
    ],
  ])("that is %s", (_name, event, expected) => {
    expect(read(open(), event).meaning).toMatchObject(expected);
  });

  it("is nothing, or broken, where its data is no object", () => {
    const stream = open();
    expect(stream.read(Buffer.from(": comment\n\n")).meaning).toEqual({ kind: "opaque" });
    expect(stream.read(Buffer.from("data: [DONE]\n\n")).meaning).toEqual({ kind: "opaque" });
    expect(stream.read(Buffer.from('data: {"type"\n\n')).meaning).toEqual({ kind: "malformed" });
    expect(stream.read(Buffer.from("event: error\ndata: oops\n\n")).meaning).toMatchObject({
      kind: "error",
      error: null,
    });
  });

  it("has the text that the model wrote in it, and none that it repeats", () => {
    expect(textsOf(open(), LONG).filter((text) => text !== "")).toEqual([
      "hm",
      ..."Hello| ther|e.".split("|"),
      "look",
      ...'{"at"|:1}'.split("|"),
      "patch",
      "*** é",
    ]);
    expect(
      LONG.flatMap((event) => RESPONSES_FORMAT.piecesOfEvent(event))
        .map(({ text }) => text)
        .join(""),
    ).toBe('hmHello there.look{"at":1}patch*** é');
    expect(read(open(), { type: "response.output_text.delta", output_index: 0, delta: "aé" }).size).toEqual({
      asciiBytes: 1,
      otherBytes: 2,
      events: 1,
      hasMedia: false,
    });
  });

  it("has the text that came in no pieces", () => {
    const ends = LONG.filter(({ type }) => type === "response.output_item.done");
    expect(textsOf(open(), ends)).toEqual(["hm", "Hello there.", 'look{"at":1}', "patch*** é"]);
    const search = { id: "ts_1", type: "tool_search_call", arguments: { query: "é" } };
    const begun = { type: "response.output_item.added", output_index: 0, item: { ...search, arguments: {} } };
    const ended = { type: "response.output_item.done", output_index: 0, item: search };
    expect(textsOf(open(), [begun, ended, ended])).toEqual(["", '{"query":"é"}', ""]);
    const last = LONG.at(-1) ?? {};
    expect(textsOf(open(), [last])).toEqual(['hmHello there.look{"at":1}patch*** é']);
    const stream = open();
    expect([read(stream, last).text, read(stream, last).text, ...textsOf(stream, [last, last])].at(-1)).toBe("");
  });
});

describe("a shown stream", () => {
  it("has our names wherever it has theirs, and everything else as it came", () => {
    const stream = open();
    for (const event of LONG) {
      const { response } = event as { readonly response?: Json };
      const expected =
        response === undefined ? event : { ...event, response: { ...response, ...NAMES, safety_identifier: null } };
      expect(parsed(show(stream, event))).toEqual([expected]);
    }
    const onLines = stream.read(Buffer.from('data: {"type":"response.news",\ndata: "at":0}\n\n'));
    if (onLines.meaning.kind !== "part") throw new Error("it is a part");
    expect(String(stream.show(onLines, onLines.meaning))).toBe(
      'event: response.news\ndata: {"type":"response.news", "at":0}\n\n',
    );
  });

  it("ends with the billed usage, and keeps what else the upstream reported", () => {
    const end = (billed: BilledUsage, event: Json) => {
      const stream = open();
      return parsed(stream.complete([show(stream, event)], billed))[0]?.["response"];
    };
    const reported = { ...USAGE, tool_usage: {} };
    const completed = { type: "response.completed", response: responseOf([messageOf("hi")], { usage: reported }) };
    expect(end(BILLED, completed)).toMatchObject({
      ...NAMES,
      output: [messageOf("hi")],
      usage: { ...reported, cost_idr: "1.5" },
    });
    expect(end(OWN_COUNTS, completed)).not.toHaveProperty("usage.tool_usage");
    expect(end(OWN_COUNTS, completed)).toMatchObject({ usage: { ...USAGE, cost_idr: "1.5" } });
    const without = { type: "response.incomplete", response: responseOf([], { usage: null }) };
    expect(end(BILLED, without)).toMatchObject({ usage: { total_tokens: 157 } });
  });

  it("ends as a cap does where it goes no further: messages are closed, and no half of a call is left", () => {
    const events = eventsOf(responseOf([messageOf("Done."), { ...messageOf("Hello there."), id: "msg_2" }]), 5);
    const at = events.findLastIndex(({ type }) => type === "response.output_text.delta");
    const stream = open();
    for (const event of events.slice(0, at)) show(stream, event);
    const shown = parsed(stream.stop([0], OWN_COUNTS));
    const content = [{ type: "output_text", text: "Hello ther", annotations: [] }];
    const cut = { ...messageOf(""), id: "msg_2", status: "incomplete", content };
    expect(shown).toMatchObject([
      { type: "response.output_text.done", text: "Hello ther", item_id: "msg_2", output_index: 1, content_index: 0 },
      { type: "response.content_part.done", part: content[0] },
      { type: "response.output_item.done", item: cut },
      {
        response: {
          ...NAMES,
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
          output: [messageOf("Done."), cut],
        },
      },
    ]);
    expect(shown.map(({ sequence_number: number }) => number)).toEqual([at, at + 1, at + 2, at + 3]);
    const calls = open();
    const half = LONG.findIndex(({ type }) => type === "response.custom_tool_call_input.delta");
    for (const event of LONG.slice(0, half + 1)) show(calls, event);
    expect(parsed(calls.stop([0], OWN_COUNTS))).toMatchObject([
      { type: "response.incomplete", response: { output: [REASONING, messageOf("Hello there."), CALL] } },
    ]);
    expect(parsed(open().stop([0], BILLED)).map(({ type }) => type)).toEqual([
      "response.created",
      "response.incomplete",
    ]);
  });

  it("has the share of a text that is held for, and no half of an input", () => {
    const share = (event: Json, part: number) => {
      const stream = open();
      const found = read(stream, event);
      return found.meaning.kind === "part" ? stream.showShare(found.meaning, part) : null;
    };
    const text = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "ab\u{1F642}cd" };
    expect(parsed(share(text, 0.5) ?? Buffer.alloc(0))).toEqual([{ ...text, delta: "ab", sequence_number: 0 }]);
    expect(share(text, 0)).toBeNull();
    expect(share({ ...text, type: "response.function_call_arguments.delta" }, 0.5)).toBeNull();
    expect(share({ type: "response.completed", response: responseOf([messageOf("hello")]) }, 0.5)).toBeNull();
  });

  it("is the same to a reader as what came", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
    const item = fc.oneof(
      text.map((each) => messageOf(each)),
      text.map((input) => ({ ...PATCH, input })),
      text.map((each) => ({ ...CALL, arguments: JSON.stringify({ each }) })),
      text.map((each) => ({ ...REASONING, summary: [{ type: "summary_text", text: each }] })),
    );
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 6 }), (items, size) => {
        const output = items.map((each, at) => ({ ...each, id: `item_${at}` }));
        const events = eventsOf(responseOf(output), size);
        const stream = open();
        const shown = events.map((event) => show(stream, event));
        const end = stream.complete(shown.slice(-1), BILLED);
        const came = readAll(Buffer.concat(events.map(bytesOf)));
        const after = readAll(Buffer.concat([...shown.slice(0, -1), end]));
        expect(after.slice(0, -1)).toEqual(came.slice(0, -1));
        expect(after.at(-1)).toMatchObject({
          usage: { input: 150, cached: 30, written: 20, output: 7, costIdr: "1.5" },
        });
      }),
    );
  });
});
