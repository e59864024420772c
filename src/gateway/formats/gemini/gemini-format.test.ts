// What the wire of Gemini means for the money, and how it is shown.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnswerEvent } from "../../conversation/answer-events.ts";
import type { BilledUsage } from "../../metering/bill.ts";
import type { AnswerStream, ReadEvent } from "../answer-format.ts";
import { GEMINI_FORMAT } from "./gemini-format.ts";

type Json = { readonly [name: string]: unknown };

const NAMES = { id: "01a2", model: "acme/gemini" };
const HEAD = { modelVersion: "acme/gemini", responseId: "01a2" };
const USAGE = {
  promptTokenCount: 130,
  cachedContentTokenCount: 30,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 2,
  totalTokenCount: 137,
  trafficType: "ON_DEMAND",
};
const BILLED: BilledUsage = {
  counts: { inputTokensUncached: 100, inputTokensCached: 30, outputTokens: 7 },
  basis: "exact",
  clamped: false,
  settled: { cost: 1_500_000n, charge: 1_500_000n },
  reasoningTokens: 2,
  isAsReported: true,
};
const { trafficType: _trafficType, ...OWN_USAGE } = { ...USAGE, costIdr: "1.5" };
const piece = (parts: readonly Json[], more: Json = {}): Json => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
  modelVersion: "gemini-9",
  responseId: "theirs",
});
const HELLO = piece([{ text: "hello é" }]);
const THOUGHT = piece([{ text: "hm", thought: true }]);
const CALL = { functionCall: { name: "look", args: { at: 1 } }, thoughtSignature: "U2ln" };
const LAST: Json = { ...piece([CALL], { finishReason: "STOP" }), usageMetadata: USAGE };

const bytesOf = (data: Json): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\r\n\r\n`);
const open = (): AnswerStream => GEMINI_FORMAT.openStream({ names: NAMES, wantsUsage: false });
const read = (stream: AnswerStream, data: Json): ReadEvent => stream.read(bytesOf(data));
const show = (stream: AnswerStream, data: Json): Buffer => {
  const found = read(stream, data);
  if (found.meaning.kind !== "part") throw new Error("it is no part");
  return stream.show(found, found.meaning) ?? Buffer.alloc(0);
};
const parsed = (bytes: Buffer): Json[] => GEMINI_FORMAT.chunksIn(bytes).map((json) => JSON.parse(json) as Json);
const eventsIn = (all: readonly Json[]): AnswerEvent[] => {
  const reader = GEMINI_FORMAT.openReader("google");
  return [...all.flatMap((event) => reader.read(event)), ...reader.end()];
};

describe("an event", () => {
  it.each<[string, Json, object]>([
    [
      "a piece of text",
      HELLO,
      { kind: "part", usage: null, hasOutput: true, choices: [0], finished: [], isUsageOnly: false },
    ],
    ["a thought", THOUGHT, { hasOutput: true }],
    ["a signature alone", piece([{ text: "", thoughtSignature: "U2ln" }]), { kind: "part", hasOutput: false }],
    ["the end", LAST, { hasOutput: true, usage: USAGE, finished: [0] }],
    ["an end without output", { candidates: [{ finishReason: "MAX_TOKENS" }] }, { hasOutput: false, finished: [0] }],
    ["the usage alone", { usageMetadata: USAGE }, { isUsageOnly: true, hasOutput: false, choices: [] }],
    [
      "a prompt that was refused",
      { promptFeedback: { blockReason: "SAFETY" } },
      { kind: "part", isUsageOnly: false, finished: [0] },
    ],
    ["an end in an error", piece([], { finishReason: "MALFORMED_FUNCTION_CALL" }), { hasFailed: true, finished: [0] }],
    ["an error", { error: { code: 503, status: "UNAVAILABLE" } }, { kind: "error", error: { code: 503 } }],
    ["an object of another kind", { choices: [] }, { kind: "foreign" }],
  ])("that is %s", (_name, event, expected) => {
    expect(read(open(), event).meaning).toMatchObject(expected);
  });

  it("is nothing, or broken, where its data is no object", () => {
    const stream = open();
    expect(stream.read(Buffer.from(": comment\n\n")).meaning).toEqual({ kind: "opaque" });
    expect(stream.read(Buffer.from('data: {"cand\n\n')).meaning).toEqual({ kind: "malformed" });
    expect(stream.read(Buffer.from("event: error\ndata: oops\n\n")).meaning).toMatchObject({
      kind: "error",
      error: null,
    });
  });

  it("has the text that the model wrote in it, and pictures", () => {
    expect([HELLO, THOUGHT, LAST].map((event) => read(open(), event).text)).toEqual(["hello é", "hm", 'look{"at":1}']);
    expect(read(open(), HELLO).size).toEqual({ asciiBytes: 6, otherBytes: 2, events: 1, hasMedia: false });
    const picture = piece([{ inlineData: { mimeType: "image/png", data: "aW1n" } }]);
    expect(read(open(), picture).size).toMatchObject({ hasMedia: true });
    expect(GEMINI_FORMAT.piecesOfEvent(picture)).toMatchObject([{ text: "", mediaTokens: 1_290 }]);
  });
});

describe("a shown stream", () => {
  it("has our names in each piece, and no usage before it is billed", () => {
    const stream = open();
    expect(parsed(show(stream, HELLO))).toEqual([{ ...HELLO, ...HEAD }]);
    expect(parsed(show(stream, { ...THOUGHT, usageMetadata: USAGE }))).toEqual([{ ...THOUGHT, ...HEAD }]);
  });

  it("ends with the billed usage, and keeps what else the upstream reported", () => {
    const end = (billed: BilledUsage, usage: Json = USAGE) => {
      const stream = open();
      const held = [show(stream, piece([CALL], { finishReason: "STOP" }))];
      stream.keepUsage(read(stream, { usageMetadata: usage }));
      return parsed(stream.complete(held, billed));
    };
    expect(end(BILLED)).toEqual([
      { ...piece([CALL], { finishReason: "STOP" }), ...HEAD, usageMetadata: { ...USAGE, costIdr: "1.5" } },
    ]);
    expect(end({ ...BILLED, isAsReported: false })).toMatchObject([{ usageMetadata: OWN_USAGE }]);
    expect(end({ ...BILLED, isAsReported: false })[0]).not.toHaveProperty("usageMetadata.trafficType");
    expect(end(BILLED, { promptTokenCount: 130 })[0]?.["usageMetadata"]).toEqual(OWN_USAGE);
  });

  it("has the usage in its last piece where several were held", () => {
    const stream = open();
    const held = [show(stream, LAST), Buffer.from(": comment\n\n")];
    const shown = stream.complete([show(open(), HELLO), ...held], BILLED);
    expect(parsed(shown)).toMatchObject([HEAD, { usageMetadata: { costIdr: "1.5" } }]);
    expect(parsed(shown)[0]).not.toHaveProperty("usageMetadata");
    expect(String(shown)).toContain(": comment");
  });

  it("ends as a cap does where it goes no further", () => {
    expect(parsed(open().stop([0], BILLED))).toEqual([
      {
        candidates: [{ content: { role: "model", parts: [{ text: "" }] }, index: 0, finishReason: "MAX_TOKENS" }],
        usageMetadata: OWN_USAGE,
        ...HEAD,
      },
    ]);
  });

  it("has the share of the parts that is held for, and no half of a call", () => {
    const share = (parts: readonly Json[], part: number) => {
      const stream = open();
      const found = read(stream, piece(parts));
      const shown = found.meaning.kind === "part" ? stream.showShare(found.meaning, part) : null;
      const [event] = shown === null ? [] : parsed(shown);
      const [candidate] = (event?.["candidates"] ?? []) as { readonly content: { readonly parts: Json[] } }[];
      return candidate?.content.parts ?? null;
    };
    expect(share([{ text: "ab\u{1F642}cd" }], 0.5)).toEqual([{ text: "ab" }]);
    expect(share([{ text: "hm", thought: true }, { text: "hello" }], 0.5)).toEqual([
      { text: "hm", thought: true },
      { text: "h" },
    ]);
    expect(share([{ text: "hm", thought: true }], 0.5)).toEqual([{ text: "h", thought: true }]);
    expect(share([CALL], 0.9)).toBeNull();
    expect(share([{ text: "hello" }], 0)).toBeNull();
  });

  it("is the same to a reader as what came", () => {
    const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
    const part = fc.oneof(
      words.map((text): Json => ({ text })),
      words.map((text): Json => ({ text, thought: true })),
      words.map((at): Json => ({ functionCall: { name: "look", args: { at } } })),
      words.map((at): Json => ({ functionCall: { name: "look", args: { at } }, thoughtSignature: "U2ln" })),
    );
    fc.assert(
      fc.property(fc.array(fc.array(part, { minLength: 1, maxLength: 3 }), { maxLength: 5 }), (pieces) => {
        const events = [
          ...pieces.map((parts) => ({ ...piece(parts), responseId: NAMES.id })),
          { ...LAST, responseId: NAMES.id },
        ];
        const stream = open();
        const shown = events.map((event) => show(stream, event));
        const after = eventsIn(
          parsed(Buffer.concat([...shown.slice(0, -1), stream.complete(shown.slice(-1), BILLED)])),
        );
        expect(after.slice(0, -1)).toEqual(eventsIn(events).slice(0, -1));
        expect(after.at(-1)).toMatchObject({
          usage: { input: 130, cached: 30, output: 7, reasoning: 2, costIdr: "1.5" },
        });
      }),
    );
  });
});

const ANSWER: Json = {
  ...piece([{ text: "hm", thought: true }, { text: "Looking." }, CALL], { finishReason: "STOP" }),
  usageMetadata: USAGE,
};
const wholeOf = (answer: unknown) => GEMINI_FORMAT.readWhole(Buffer.from(JSON.stringify(answer)));
const writtenOf = (answer: unknown, billed: BilledUsage) => {
  const found = wholeOf(answer);
  if ("kind" in found) throw new Error("it is an answer");
  return GEMINI_FORMAT.writeWhole(found, NAMES, billed).toString();
};

describe("a whole answer", () => {
  it("has our names and the billed usage, and all else as it came", () => {
    const written = writtenOf(ANSWER, BILLED);
    expect(JSON.parse(written)).toEqual({ ...ANSWER, ...HEAD, usageMetadata: { ...USAGE, costIdr: "1.5" } });
    expect(written).toContain(JSON.stringify(ANSWER["candidates"]));
    expect(GEMINI_FORMAT.piecesOfAnswer(ANSWER).map(({ text }) => text)).toEqual(['hmLooking.look{"at":1}']);
    const lacking = { candidates: ANSWER["candidates"] };
    expect(JSON.parse(writtenOf(lacking, { ...BILLED, isAsReported: false }))).toMatchObject({
      ...HEAD,
      usageMetadata: OWN_USAGE,
    });
  });

  it("may be a refusal of its prompt", () => {
    const refused = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: USAGE };
    expect(wholeOf(refused)).toMatchObject({ usage: USAGE });
    expect(JSON.parse(writtenOf(refused, BILLED))).toMatchObject({ ...refused, usageMetadata: { costIdr: "1.5" } });
    expect(eventsIn([refused])[0]).toEqual({ kind: "finish", reason: "filtered" });
  });

  it.each<[string, Json]>([
    ["without output or an end", { candidates: [] }],
    ["whose only answer did not begin", piece([])],
    ["that ended in an error", piece([], { finishReason: "MALFORMED_FUNCTION_CALL" })],
    ["that is an error", { error: { code: 503, message: "Overloaded", status: "UNAVAILABLE" } }],
    ["of another kind", { choices: [] }],
  ])("is none where it is one %s", (_what, answer) => {
    expect(wholeOf(answer)).toMatchObject({ kind: "failed" });
  });

  it("in place of a stream is one piece", () => {
    const stream = open();
    const unstreamed = stream.readUnstreamed(Buffer.from(JSON.stringify(ANSWER, null, 1)));
    if (unstreamed.kind === "failed") throw new Error("it is an answer");
    expect(unstreamed.part).toMatchObject({ usage: USAGE, finished: [0] });
    expect(unstreamed.read.text).toBe('hmLooking.look{"at":1}');
    expect(parsed(stream.complete([unstreamed.shown], BILLED))).toEqual([JSON.parse(writtenOf(ANSWER, BILLED))]);
  });
});

describe("the events of an answer", () => {
  it("have what its provider wants back, and ids of this answer alone", () => {
    const [call] = eventsIn([{ ...piece([CALL]), responseId: "01a2" }]);
    expect(call).toEqual({
      kind: "call",
      call: 0,
      id: "call_01a2_0",
      name: "look",
      opaque: { origin: "google", blob: "U2ln" },
    });
    expect(eventsIn([piece([{ text: "yes", thoughtSignature: "U2ln" }])]).slice(0, 2)).toEqual([
      { kind: "text", text: "yes" },
      { kind: "opaque", origin: "google", blob: "U2ln" },
    ]);
  });

  it.each([
    ["STOP", "stop"],
    ["MAX_TOKENS", "length"],
    ["SAFETY", "filtered"],
    ["RECITATION", "filtered"],
    ["IMAGE_SAFETY", "filtered"],
  ])("end with %s as %s", (finishReason, reason) => {
    expect(eventsIn([piece([{ text: "a" }], { finishReason })]).at(-2)).toEqual({ kind: "finish", reason });
    const expected = reason === "stop" ? "calls" : reason;
    expect(eventsIn([piece([CALL], { finishReason })]).at(-2)).toEqual({ kind: "finish", reason: expected });
  });
});

describe("an error", () => {
  it("costs nothing before any count, and perhaps something behind one", () => {
    expect(GEMINI_FORMAT.failureOf({ code: 503, status: "UNAVAILABLE" }, null)).toMatchObject({ kind: "unbilled" });
    expect(GEMINI_FORMAT.failureOf({ code: 503, status: "UNAVAILABLE" }, USAGE)).toMatchObject({
      kind: "perhaps_billed",
    });
    expect(GEMINI_FORMAT.failureOf({ code: 400, status: "INVALID_ARGUMENT" }, null)).toMatchObject({ kind: "refused" });
  });
});
