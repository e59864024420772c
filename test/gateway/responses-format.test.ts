// What the wire of Responses means for the money, and how it is shown.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventsOf, type Json } from "./fakes/responses-wire.ts";
import type { BilledUsage } from "../../src/gateway/metering/bill.ts";
import type { AnswerStream, ReadEvent } from "../../src/gateway/formats/answer-format.ts";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";

const NAMES = { id: "resp_ours", model: "acme/gpt" };
const USAGE = {
  input_tokens: 150,
  input_tokens_details: { cached_tokens: 30, cache_write_tokens: 20 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 157,
};
const BILLED: BilledUsage = {
  counts: { inputTokensUncached: 100, inputTokensCached: 30, outputTokens: 7, otherTokens: { cacheWrite: 20 } },
  basis: "exact",
  clamped: false,
  settled: { cost: 1_500_000n, charge: 1_500_000n },
  reasoningTokens: 2,
  isAsReported: true,
};
const OWN_COUNTS = { ...BILLED, isAsReported: false };
const REASONING = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "Sealed",
};
const messageOf = (text: string): Json => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});
const CALL = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "look",
  arguments: '{"at":1}',
  status: "completed",
};
const PATCH = {
  id: "ctc_1",
  type: "custom_tool_call",
  call_id: "call_2",
  name: "patch",
  input: "*** é",
  status: "completed",
};
const responseOf = (output: readonly Json[], more: Json = {}): Json => ({
  id: "theirs",
  object: "response",
  created_at: 1_790_000_000,
  model: "gpt-1",
  status: "completed",
  error: null,
  incomplete_details: null,
  safety_identifier: "customer-1",
  output,
  extra: 1,
  usage: USAGE,
  ...more,
});

const bytesOf = (data: Json): Buffer =>
  Buffer.from(`event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`);
const open = (): AnswerStream => RESPONSES_FORMAT.openStream({ names: NAMES, wantsUsage: false });
const read = (stream: AnswerStream, data: Json): ReadEvent => stream.read(bytesOf(data));
const show = (stream: AnswerStream, data: Json): Buffer => {
  const found = read(stream, data);
  if (found.meaning.kind !== "part") throw new Error(`${String(data["type"])} is no part`);
  return stream.show(found, found.meaning) ?? Buffer.alloc(0);
};
const parsed = (bytes: Buffer): Json[] => RESPONSES_FORMAT.chunksIn(bytes).map((json) => JSON.parse(json) as Json);
const textsOf = (stream: AnswerStream, events: readonly Json[]): string[] =>
  events.map((event) => {
    const found = read(stream, event);
    if (found.meaning.kind === "part") stream.show(found, found.meaning);
    return found.text;
  });
const read1 = (bytes: Buffer) => {
  const reader = RESPONSES_FORMAT.openReader("gpt");
  return [...parsed(bytes).flatMap((event) => reader.read(event)), ...reader.end()];
};
const LONG = eventsOf(responseOf([REASONING, messageOf("Hello there."), CALL, PATCH]), 5);
const whole = (answer: unknown) => RESPONSES_FORMAT.readWhole(Buffer.from(JSON.stringify(answer)));

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
        const came = read1(Buffer.concat(events.map(bytesOf)));
        const after = read1(Buffer.concat([...shown.slice(0, -1), end]));
        expect(after.slice(0, -1)).toEqual(came.slice(0, -1));
        expect(after.at(-1)).toMatchObject({
          usage: { input: 150, cached: 30, written: 20, output: 7, costIdr: "1.5" },
        });
      }),
    );
  });
});

describe("a whole response", () => {
  const RESPONSE = responseOf([REASONING, messageOf("Hello there."), CALL]);

  it("has our names and the billed usage, and all else as it came", () => {
    const found = whole(RESPONSE);
    if ("kind" in found) throw new Error("it is an answer");
    const written = RESPONSES_FORMAT.writeWhole(found, NAMES, BILLED).toString();
    const usage = { ...USAGE, cost_idr: "1.5" };
    expect(JSON.parse(written)).toEqual({ ...RESPONSE, ...NAMES, safety_identifier: null, usage });
    expect(written).toContain(JSON.stringify(RESPONSE["output"]));
    expect(RESPONSES_FORMAT.piecesOfAnswer(RESPONSE).map(({ text }) => text)).toEqual([
      "hm",
      "Hello there.",
      "look",
      '{"at":1}',
    ]);
  });

  it("gets what it lacks", () => {
    const { id: _id, usage: _usage, ...lacking } = RESPONSE;
    const found = whole(lacking);
    if ("kind" in found) throw new Error("it is an answer");
    const written = JSON.parse(RESPONSES_FORMAT.writeWhole(found, NAMES, OWN_COUNTS).toString()) as Json;
    expect(written).toMatchObject({ ...NAMES, output: RESPONSE["output"], usage: USAGE });
  });

  it("is none without output or an end, and where it failed", () => {
    expect(whole(responseOf([]))).not.toHaveProperty("kind");
    expect(whole(responseOf([], { status: "in_progress" }))).toMatchObject({ kind: "failed" });
    expect(whole(responseOf([messageOf("hi")], { status: "failed" }))).toMatchObject({ kind: "failed" });
    expect(whole(responseOf([], { error: { code: "server_error", message: "It broke" } }))).toMatchObject({
      kind: "failed",
    });
    expect(whole({ choices: [] })).toMatchObject({ kind: "failed" });
  });

  it("in place of a stream is written as one", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(RESPONSE)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    expect(unstreamed.read.text).toBe('hmHello there.look{"at":1}');
    const complete = stream.complete([unstreamed.shown], BILLED);
    const reader = RESPONSES_FORMAT.openReader("gpt");
    expect(read1(complete).slice(0, -1)).toEqual([...reader.read(RESPONSE), ...reader.end()].slice(0, -1));
    expect(parsed(complete).map(({ sequence_number: number }) => number)).toEqual(parsed(complete).map((_, at) => at));
  });

  it("in place of a stream goes out in part where not all of it is held for", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(RESPONSE)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    expect(open().showShare(unstreamed.part, 0)).toBeNull();
    const share = stream.showShare(unstreamed.part, 0.3);
    const shown = parsed(Buffer.concat([share ?? Buffer.alloc(0), stream.stop([0], BILLED)]));
    expect(shown.map(({ type }) => String(type).replace("response.", ""))).toEqual(
      (
        "created output_item.added output_item.done output_item.added content_part.added output_text.delta " +
        "output_text.done content_part.done output_item.done incomplete"
      ).split(" "),
    );
    expect(shown.at(-1)).toMatchObject({ response: { output: [REASONING, { content: [{ text: "Hello" }] }] } });
  });
});

describe("an error", () => {
  it("costs nothing before any count, and refuses by its code", () => {
    expect(RESPONSES_FORMAT.failureOf({ code: "server_is_overloaded" }, null)).toMatchObject({ kind: "unbilled" });
    expect(RESPONSES_FORMAT.failureOf({ code: "server_error" }, USAGE)).toMatchObject({ kind: "perhaps_billed" });
    expect(RESPONSES_FORMAT.failureOf({ code: "context_length_exceeded" }, null)).toMatchObject({ kind: "refused" });
  });
});
