// What is read and written again in the same protocol stays the same: requests with every known member, and answers however their
// bytes are cut.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dataOf, EventCutter, splitEvents } from "../../stream/sse.ts";
import type { AnswerEvent } from "../answer-events.ts";
import { MessagesAnswerReader } from "./read-messages-answer.ts";
import { readMessagesRequest } from "./read-messages-request.ts";
import { MessagesAnswerWriter } from "./write-messages-answer.ts";
import { writeMessagesRequest } from "./write-messages-request.ts";

type Json = { readonly [name: string]: unknown };

const words = fc.string({ unit: "binary", maxLength: 12 }).map((text) => `w${text}.`);
const json = fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.oneof(words, fc.integer(), fc.boolean()), {
  maxKeys: 3,
});
const mark = fc.constantFrom({}, { cache_control: { type: "ephemeral" } });
const textBlock = fc.tuple(words, mark).map(([text, marked]): Json => ({ type: "text", text, ...marked }));
const image = fc.constantFrom<Json>(
  { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
  { type: "image", source: { type: "url", url: "https://a.example/b.png" } },
);
const pdf: Json = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
  title: "a",
};
const unmarked = words.map((text): Json => ({ type: "text", text }));
const thought = words.map((text): Json => ({ type: "thinking", thinking: text, signature: "claude.Sig+/==" }));

/** A turn of the assistant with calls, and the turn of the user that answers them. */
const exchange = (number: number) =>
  fc
    .record({
      thoughts: fc.array(thought, { maxLength: 1 }),
      said: fc.array(unmarked, { minLength: 1, maxLength: 2 }),
      inputs: fc.array(json, { maxLength: 3 }),
      results: fc.array(fc.tuple(fc.array(fc.oneof(unmarked, image), { maxLength: 2 }), fc.boolean()), {
        minLength: 3,
        maxLength: 3,
      }),
      asked: fc.array(fc.oneof(textBlock, image, fc.constant(pdf)), { minLength: 1, maxLength: 2 }),
    })
    .map(({ thoughts, said, inputs, results, asked }): Json[] => {
      const id = (index: number) => `toolu_${number}_${index}`;
      const calls = inputs.map((input, index) => ({ type: "tool_use", id: id(index), name: "look", input }));
      const answered = results.slice(0, inputs.length).map(([content, isError], index) => ({
        type: "tool_result",
        tool_use_id: id(index),
        ...(content.length === 0 ? {} : { content }),
        ...(isError ? { is_error: true } : {}),
      }));
      return [
        { role: "assistant", content: [...thoughts, ...said, ...calls] },
        { role: "user", content: [...answered, ...asked] },
      ];
    });

const tool = (name: string): Json => ({
  name,
  description: "d",
  input_schema: { type: "object", properties: {} },
  strict: true,
});
const one = (...members: Json[]) => fc.constantFrom<Json>({}, ...members);

const request: fc.Arbitrary<Json> = fc
  .record({
    system: fc.array(textBlock, { maxLength: 1 }),
    first: fc.array(fc.oneof(textBlock, image), { minLength: 1, maxLength: 2 }),
    exchanges: fc.tuple(exchange(0), exchange(1)).chain(([a, b]) => fc.constantFrom([], a, [...a, ...b])),
    tools: one({ tools: [tool("look")] }, { tools: [tool("look"), tool("see")], tool_choice: { type: "any" } }),
    choice: one({ disable_parallel_tool_use: true }),
    output: one(
      { output_config: { format: { type: "json_schema", schema: { type: "object" } } } },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "max" } },
    ),
    stops: one({ stop_sequences: ["END", "x"] }),
    sampling: one({ temperature: 0.5, top_k: 3 }, { top_p: 0.25 }),
    stream: one({ stream: true }),
  })
  .map(({ system, first, exchanges, tools, choice, output, stops, sampling, stream }) => ({
    model: "opus",
    max_tokens: 900,
    ...(system.length === 0 ? {} : { system }),
    messages: [{ role: "user", content: first }, ...exchanges],
    ...tools,
    ...("tool_choice" in tools ? { tool_choice: { ...(tools["tool_choice"] as Json), ...choice } } : {}),
    ...output,
    ...stops,
    // A model that thinks takes none.
    ...("thinking" in output ? {} : sampling),
    ...stream,
  }));

/** Anthropic takes calls of earlier turns only beside tools. */
const lacksTools = (body: Json): boolean => !("tools" in body) && JSON.stringify(body).includes('"tool_use"');
const marksIn = (body: Json): number => JSON.stringify(body).split('"cache_control"').length - 1;

describe("a request", () => {
  it("keeps every known member", () => {
    fc.assert(
      fc.property(
        request.filter((body) => marksIn(body) <= 4 && !lacksTools(body)),
        (body) => {
          const written = writeMessagesRequest(readMessagesRequest(body, { isOnlyCounted: false }), {
            model: "opus",
            origin: "claude",
            outputBound: 900,
            accepts: { thinking: "adaptive", sampling: true, prefill: true, cacheMarkers: true },
            cacheWrites: "long",
            takesDocuments: true,
            takesServiceTier: false,
            userTag: null,
          });
          // Clients get signatures with the name of their upstream, which is taken off again.
          const expected = JSON.stringify(body).replaceAll('"claude.Sig', '"Sig');
          expect(JSON.parse(written.toString())).toEqual(JSON.parse(expected));
        },
      ),
    );
  });
});

type Block = { readonly start: Json; readonly deltas: readonly Json[] };

const pieces = fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 });
const block: fc.Arbitrary<Block> = fc.oneof(
  pieces.map((texts) => ({
    start: { type: "text", text: "" },
    deltas: texts.map((text) => ({ type: "text_delta", text })),
  })),
  fc.tuple(pieces, fc.constantFrom("Sig+/==", "a b")).map(([texts, signature]) => ({
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...texts.map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature },
    ],
  })),
  fc.tuple(pieces, fc.uuid()).map(([texts, id]) => ({
    start: { type: "tool_use", id: `toolu_${id}`, name: "look", input: {} },
    deltas: texts.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  })),
);
const FACTS = { requestId: "r1", createdAtMs: 0, inputTokens: 9 };
const STOPS = ["end_turn", "max_tokens", "refusal", "tool_use"] as const;

const named = (data: Json): string => `event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`;

/** The bytes of a stream with pings and an event of an unknown kind. */
function streamOf(blocks: readonly Block[], stopReason: string): Buffer {
  const usage = { input_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 0, output_tokens: 1 };
  const events: Json[] = [
    { type: "message_start", message: { type: "message", content: [], usage } },
    ...blocks.flatMap(({ start, deltas }, index): Json[] => [
      { type: "content_block_start", index, content_block: start },
      { type: "ping" },
      ...deltas.map((delta): Json => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
      { type: "news", index },
    ]),
    { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];
  return Buffer.from(events.map(named).join(""));
}

function readStream(packets: readonly Buffer[], origin: string): AnswerEvent[] {
  const cutter = new EventCutter();
  const reader = new MessagesAnswerReader(origin);
  const events = packets.flatMap((packet) => splitEvents(cutter.push(packet) ?? Buffer.alloc(0)));
  const datas = events.flatMap((event) => dataOf(event) ?? []);
  return [...datas.flatMap((data) => reader.read(JSON.parse(data) as Json)), ...reader.end()];
}

/** Events with the pieces of each text, and of the input of each call, put together. */
function joined(events: readonly AnswerEvent[]): AnswerEvent[] {
  const all: AnswerEvent[] = [];
  for (const event of events) {
    const last = all.at(-1);
    if (last !== undefined && "text" in last && "text" in event && last.kind === event.kind) {
      const isOfCall = last.kind === "input" && event.kind === "input" && last.call !== event.call;
      if (!isOfCall) {
        all[all.length - 1] = { ...last, text: last.text + event.text };
        continue;
      }
    }
    all.push(event);
  }
  return all;
}

function streamWritten(events: readonly AnswerEvent[]): Buffer {
  const writer = new MessagesAnswerWriter(FACTS, "opus");
  const all = [...writer.begin(), ...events.flatMap((event) => writer.write(event)), ...writer.end()];
  return Buffer.from(all.map(({ data }) => named(data as Json)).join(""));
}

describe("a stream", () => {
  it("is the same in text, thoughts and inputs after it was read and written", () => {
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 4 }), fc.constantFrom(...STOPS), (blocks, stopReason) => {
        const first = joined(readStream([streamOf(blocks, stopReason)], "claude"));
        const again = joined(readStream([streamWritten(first)], "claude"));
        // Clients get signatures with the name of their upstream.
        const tagged = first.map((event) =>
          event.kind === "opaque" ? { ...event, blob: `claude.${event.blob}` } : event,
        );
        expect(again).toEqual(tagged);
        const given = blocks.flatMap(({ deltas }) =>
          deltas.map((delta) => delta["text"] ?? delta["thinking"] ?? delta["partial_json"] ?? ""),
        );
        const read = first.map((event) => ("text" in event ? event.text : ""));
        expect(read.join("")).toBe(given.map(String).join(""));
      }),
    );
  });

  it("is the same wherever its bytes are cut", () => {
    const [sample] = fc.sample(fc.array(block, { minLength: 3, maxLength: 3 }), { numRuns: 1, seed: 7 });
    const bytes = streamOf(sample ?? [], "tool_use");
    const whole = readStream([bytes], "claude");
    expect(whole.length).toBeGreaterThan(5);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(readStream([bytes.subarray(0, cut), bytes.subarray(cut)], "claude")).toEqual(whole);
    }
  });
});
