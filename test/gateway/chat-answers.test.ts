// Answers of other protocols, written as chat: they follow the document, and reading them again finds every text and every input,
// wherever packets cut the stream.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnswerEvent } from "../../src/gateway/conversation/answer-events.ts";
import { ChatAnswerReader } from "../../src/gateway/conversation/chat/read-chat-answer.ts";
import { ChatAnswerWriter } from "../../src/gateway/conversation/chat/write-chat-answer.ts";
import { CHAT_FORMAT } from "../../src/gateway/formats/chat/chat-format.ts";
import { parseObject } from "../../src/gateway/request/parse-object.ts";
import { EventCutter, eventOf } from "../../src/gateway/stream/sse.ts";
import { DocumentedAnswers } from "../setup/answers/document.ts";

const FACTS = { requestId: "01a20a18-90e1-71af-abb6-25530962f602", createdAtMs: 1_795_392_000_123, inputTokens: 7 };
const documented = new DocumentedAnswers();

const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 });
const opaque = fc.record({ origin: fc.stringMatching(/^[a-z0-9][a-z0-9.]{0,5}$/), blob: text });
/** A piece of the answer. A call is given as the input that it adds to, as a share of the calls that have begun. */
const piece = fc.oneof(
  fc.record({ kind: fc.constantFrom("text", "refusal", "reasoning"), text }),
  fc.record({ kind: fc.constant("opaque"), opaque }),
  fc.record({ kind: fc.constant("call"), name: fc.stringMatching(/^[a-z]\w{0,8}$/) }),
  fc.record({ kind: fc.constant("input"), share: fc.double({ min: 0, max: 0.999, noNaN: true }), text }),
);
type Piece = typeof piece extends fc.Arbitrary<infer T> ? T : never;
const count = fc.nat({ max: 1_000_000 });
const usage = fc
  .record({ plain: count, cached: count, written: count, written1h: count, output: count, share: fc.nat({ max: 100 }) })
  .map(({ plain, share, ...rest }) => ({
    cached: rest.cached,
    written: rest.written,
    written1h: rest.written1h,
    output: rest.output,
    input: plain + rest.cached + rest.written + rest.written1h,
    reasoning: Math.floor((rest.output * share) / 100),
    costIdr: "1.25",
  }));
const answer = fc.record({ pieces: fc.array(piece, { maxLength: 12 }), usage, isCut: fc.boolean() });
type Answer = typeof answer extends fc.Arbitrary<infer T> ? T : never;

/** The events of an answer. Every call has some input, as an upstream of any protocol gives it. */
function eventsOf({ pieces, usage: billed, isCut }: Answer): AnswerEvent[] {
  let calls = 0;
  const events = pieces.flatMap((each): AnswerEvent[] => {
    if ("share" in each)
      return calls === 0 ? [] : [{ kind: "input", call: Math.floor(each.share * calls), text: each.text }];
    if ("opaque" in each) return [{ kind: "opaque", ...each.opaque }];
    if ("text" in each) return [{ kind: each.kind as "text", text: each.text }];
    calls += 1;
    const call = calls - 1;
    return [
      { kind: "call", call, id: `c${call}`, name: each.name },
      { kind: "input", call, text: "[" },
    ];
  });
  const reason = isCut ? "length" : calls > 0 ? "calls" : "stop";
  return [...events, { kind: "finish", reason }, { kind: "usage", usage: billed }];
}

/** Neighbours of one kind as one event: how texts are cut has no meaning, and what a provider wants back is not read here. */
function merged(events: readonly AnswerEvent[]): AnswerEvent[] {
  const result: AnswerEvent[] = [];
  for (const event of events) {
    if (event.kind === "opaque") continue;
    const last = result.at(-1);
    const isSame =
      last?.kind === event.kind && (last.kind !== "input" || (event.kind === "input" && last.call === event.call));
    if (isSame && "text" in last && "text" in event)
      result[result.length - 1] = { ...last, text: last.text + event.text };
    else result.push(event);
  }
  return result;
}

const writer = () => new ChatAnswerWriter(FACTS, { model: "acme/m", wantsUsage: true, tools: [], hasFunctions: false });

/** The chunks of a stream as JSON texts. */
function streamOf(events: readonly AnswerEvent[]): string[] {
  const stream = writer();
  const written = [...stream.begin(), ...events.flatMap((event) => stream.write(event)), ...stream.end()];
  return written.map(({ data }) => JSON.stringify(data));
}

function readText(reader: ChatAnswerReader, json: string): AnswerEvent[] {
  return reader.read(parseObject(json) ?? {});
}

/** Reads bytes in packets of one size. */
function readInPackets(bytes: Buffer, size: number): AnswerEvent[] {
  const cutter = new EventCutter();
  const reader = new ChatAnswerReader();
  const events: AnswerEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const whole = cutter.push(bytes.subarray(at, at + size));
    if (whole !== null) events.push(...CHAT_FORMAT.chunksIn(whole).flatMap((json) => readText(reader, json)));
  }
  return [...events, ...reader.end()];
}

describe("an answer that is written as chat", () => {
  it("has the same texts, inputs and usage when its stream is read, in packets of any size", () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 40 }), (random, size) => {
        const events = eventsOf(random);
        const bytes = Buffer.concat(streamOf(events).map(eventOf));
        expect(merged(readInPackets(bytes, size))).toEqual(merged(events));
      }),
    );
  });

  it("has them when it is cut at every byte", () => {
    const pieces: Piece[] = [
      { kind: "reasoning", text: "hm, 漢" },
      { kind: "text", text: 'a\n\n"🙂' },
      { kind: "call", name: "look" },
      { kind: "input", share: 0, text: '"x"]' },
    ];
    const billed = { input: 9, cached: 4, written: 3, written1h: 2, output: 5, reasoning: 1, costIdr: "0.5" };
    const events = eventsOf({ pieces, usage: billed, isCut: false });
    const bytes = Buffer.concat(streamOf(events).map(eventOf));
    for (let at = 1; at < bytes.length; at += 1) {
      const cutter = new EventCutter();
      const reader = new ChatAnswerReader();
      const found = [bytes.subarray(0, at), bytes.subarray(at)]
        .flatMap((packet) => cutter.push(packet) ?? [])
        .flatMap((whole) => CHAT_FORMAT.chunksIn(whole))
        .flatMap((json) => readText(reader, json));
      expect(merged([...found, ...reader.end()])).toEqual(merged(events));
    }
  });

  it("has them as a whole, in the order of a message", () => {
    fc.assert(
      fc.property(answer, (random) => {
        const events = eventsOf(random);
        const reader = new ChatAnswerReader();
        const found = [...readText(reader, JSON.stringify(writer().whole(events))), ...reader.end()];
        const textOf = (all: readonly AnswerEvent[], kind: string, call?: number) =>
          all
            .flatMap((each) =>
              each.kind === kind && "text" in each && (each.kind !== "input" || each.call === call) ? each.text : [],
            )
            .join("");
        for (const kind of ["text", "refusal", "reasoning"]) expect(textOf(found, kind)).toBe(textOf(events, kind));
        const calls = events.filter((each) => each.kind === "call");
        expect(found.filter((each) => each.kind === "call")).toEqual(calls);
        for (const { call } of calls) expect(textOf(found, "input", call)).toBe(textOf(events, "input", call));
        expect(found.slice(-2)).toEqual(events.slice(-2));
      }),
    );
  });

  it("follows the document, streamed and whole", () => {
    fc.assert(
      fc.property(answer, (random) => {
        const events = eventsOf(random);
        const schemaOf = (name: string) => ["components", "schemas", name];
        const chunks = streamOf(events).map((json): unknown => JSON.parse(json));
        expect(documented.problemAt(schemaOf("StreamChatCompletionResponse"), chunks)).toBeNull();
        expect(documented.problemAt(schemaOf("CreateChatCompletionResponse"), [writer().whole(events)])).toBeNull();
      }),
    );
  });
});
