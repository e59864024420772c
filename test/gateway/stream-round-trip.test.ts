// A stream of any protocol, read into events and written as a stream of the same protocol, is the same to its client in every byte of text,
// thoughts and arguments, wherever the network cuts it, and wherever an upstream cuts its characters.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AnswerEvent } from "../../src/gateway/conversation/answer-events.ts";
import { ChatAnswerReader } from "../../src/gateway/conversation/chat/read-chat-answer.ts";
import { ChatAnswerWriter } from "../../src/gateway/conversation/chat/write-chat-answer.ts";
import { GeminiAnswerReader } from "../../src/gateway/conversation/gemini/read-gemini-answer.ts";
import { GeminiAnswerWriter } from "../../src/gateway/conversation/gemini/write-gemini-answer.ts";
import { MessagesAnswerReader } from "../../src/gateway/conversation/messages/read-messages-answer.ts";
import { MessagesAnswerWriter } from "../../src/gateway/conversation/messages/write-messages-answer.ts";
import type { AnswerWriter, ProtocolEvent } from "../../src/gateway/conversation/protocol.ts";
import { ResponsesAnswerReader } from "../../src/gateway/conversation/responses/read-responses-answer.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { StreamTranslation } from "../../src/gateway/conversation/translation.ts";
import { WholeCharacters } from "../../src/gateway/conversation/whole-characters.ts";
import { CHAT_FORMAT } from "../../src/gateway/formats/chat/chat-format.ts";
import { GEMINI_FORMAT } from "../../src/gateway/formats/gemini/gemini-format.ts";
import { MESSAGES_FORMAT } from "../../src/gateway/formats/messages/messages-format.ts";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";
import type { AnswerReader, ShownFormat } from "../../src/gateway/formats/shown-format.ts";
import { EventCutter, eventOf, namedEventOf } from "../../src/gateway/stream/sse.ts";

const FACTS = { requestId: "0193a8c0-0000-7000-8000-000000000000", createdAtMs: 0, inputTokens: 9 };
const EMPTY = Buffer.alloc(0);

type Protocol = {
  readonly format: ShownFormat;
  readonly reader: () => AnswerReader;
  readonly writer: () => AnswerWriter;
};

const PROTOCOLS: readonly (readonly [string, Protocol])[] = [
  [
    "chat",
    {
      format: CHAT_FORMAT,
      reader: () => new ChatAnswerReader(),
      writer: () => new ChatAnswerWriter(FACTS, { model: "acme/m", wantsUsage: true, tools: [], hasFunctions: false }),
    },
  ],
  [
    "Messages",
    {
      format: MESSAGES_FORMAT,
      reader: () => new MessagesAnswerReader("there"),
      writer: () => new MessagesAnswerWriter(FACTS, "acme/m"),
    },
  ],
  [
    "Responses",
    {
      format: RESPONSES_FORMAT,
      reader: () => new ResponsesAnswerReader("there"),
      writer: () => responsesProtocol.read(Buffer.from('{"model":"acme/m","input":"hi"}')).writer(FACTS),
    },
  ],
  [
    "Gemini",
    {
      format: GEMINI_FORMAT,
      reader: () => new GeminiAnswerReader("there"),
      writer: () => new GeminiAnswerWriter(FACTS, { model: "acme/m", showsThoughts: true }),
    },
  ],
];

const words = fc.string({
  unit: fc.constantFrom("a", " ", "\n", '"', "\\", "é", "\u{1F642}", "\u2028"),
  minLength: 1,
  maxLength: 9,
});
/** Pieces of a text, cut between code units: a character outside of the first plane may lie in two. */
const cut = (text: string, at: number): string[] => {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += at) pieces.push(text.slice(from, from + at));
  return pieces;
};
const size = fc.integer({ min: 1, max: 5 });
type Part = { readonly kind: "text" | "reasoning" | "call"; readonly text: string; readonly size: number };
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ kind: fc.constantFrom("text" as const, "reasoning" as const), text: words, size }),
  fc.record({
    kind: fc.constant("call" as const),
    text: words.map((said) => JSON.stringify({ at: said, by: [1] })),
    size,
  }),
);

function eventsOf(parts: readonly Part[]): AnswerEvent[] {
  const calls = parts.filter(({ kind }) => kind === "call");
  const events = parts.flatMap(({ kind, text, size: at }, index): AnswerEvent[] => {
    if (kind !== "call") return cut(text, at).map((piece) => ({ kind, text: piece }));
    const call = calls.indexOf(parts[index] as Part);
    const inputs = cut(text, at).map((piece) => ({ kind: "input", call, text: piece }) as const);
    return [{ kind: "call", call, id: `call_${call}`, name: `look_${call}` }, ...inputs];
  });
  const usage = { input: 9, cached: 0, written: 0, written1h: 0, output: 4, reasoning: 0, costIdr: "1" };
  return [...events, { kind: "finish", reason: calls.length > 0 ? "calls" : "stop" }, { kind: "usage", usage }];
}

type Content = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly input: string }[];
  readonly finish: string | null;
};

/** What a client makes of the events. */
function contentOf(events: readonly AnswerEvent[]): Content {
  const textIn = (kind: "text" | "reasoning"): string =>
    events.map((event) => (event.kind === kind ? event.text : "")).join("");
  const inputOf = (call: number): string =>
    events.map((event) => (event.kind === "input" && event.call === call ? event.text : "")).join("");
  const calls = events.filter((event) => event.kind === "call");
  return {
    text: textIn("text"),
    // The parts of one thought may be apart in some protocols.
    reasoning: textIn("reasoning").replaceAll("\n\n", ""),
    calls: calls.map(({ name, call }) => ({ name, input: inputOf(call) })),
    finish: events.find((event) => event.kind === "finish")?.reason ?? null,
  };
}

const bytesOf = (events: readonly ProtocolEvent[]): Buffer =>
  Buffer.concat(
    events.map(({ name, data }) => {
      const json = JSON.stringify(data);
      return name === null ? eventOf(json) : namedEventOf(name, json);
    }),
  );

function written({ writer }: Protocol, events: readonly AnswerEvent[]): Buffer {
  const open = writer();
  return bytesOf([...open.begin(), ...events.flatMap((event) => open.write(event)), ...open.end()]);
}

function read({ format, reader }: Protocol, bytes: Buffer): AnswerEvent[] {
  const open = reader();
  const parts = format.chunksIn(bytes).map((json) => JSON.parse(json) as Record<string, unknown>);
  return [...parts.flatMap((each) => open.read(each)), ...open.end()];
}

/** The stream as a client of the same protocol gets it by way of the events, from packets of one byte. */
function translated({ format, writer }: Protocol, bytes: Buffer): Buffer {
  const translation = new StreamTranslation(writer(), "there");
  const cutter = new EventCutter();
  const shown: Buffer[] = [];
  for (const byte of bytes) {
    const whole = cutter.push(Buffer.of(byte));
    if (whole !== null) shown.push(bytesOf(translation.pass(whole, format)));
  }
  return Buffer.concat([...shown, bytesOf(translation.end(cutter.takeRest() ?? EMPTY, format))]);
}

/** The JSON texts that have half of a character: they write it as an escape. */
const halves = ({ format }: Protocol, bytes: Buffer): string[] =>
  format.chunksIn(bytes).filter((json) => /\\ud[89a-f]/i.test(json));

describe.each(PROTOCOLS)("a stream of %s", (_name, protocol) => {
  it("is the same in text, thoughts and arguments behind the events, split at every byte", () => {
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const events = eventsOf(parts);
        const sent = written(protocol, events);
        const shown = translated(protocol, sent);
        expect(contentOf(read(protocol, shown))).toEqual(contentOf(events));
        expect(halves(protocol, shown)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a half of a character", () => {
  const joined = (events: readonly AnswerEvent[]): AnswerEvent[] => {
    const characters = new WholeCharacters();
    return events.flatMap((event) => characters.read(event));
  };
  const finish: AnswerEvent = { kind: "finish", reason: "length" };

  it("is replaced in a text that ends with it", () => {
    const textOf = (text: string): AnswerEvent => ({ kind: "text", text });
    const last = joined([textOf("a\ud83d"), finish]).map((event) => ("text" in event ? event.text : event.kind));
    expect(last.join("")).toBe("a\ufffdfinish");
  });

  it("is left out of the arguments of a call, of which it makes no JSON", () => {
    const input = (call: number, text: string): AnswerEvent => ({ kind: "input", call, text });
    expect(joined([input(0, "a\ud83d"), input(1, "\ud83d"), input(1, "\ude42"), finish])).toEqual([
      input(0, "a"),
      input(1, "\u{1F642}"),
      finish,
    ]);
  });
});
