// However the network cuts a stream, its client gets the same bytes, in every protocol.

import { describe, expect, it } from "vitest";
import { CHAT_FORMAT } from "../../src/gateway/formats/chat/chat-format.ts";
import { GEMINI_FORMAT } from "../../src/gateway/formats/gemini/gemini-format.ts";
import { MESSAGES_FORMAT } from "../../src/gateway/formats/messages/messages-format.ts";
import { RESPONSES_FORMAT } from "../../src/gateway/formats/responses/responses-format.ts";
import { eventsOf as responseEvents } from "./fakes/responses-wire.ts";
import { eventsOf, relayed } from "./relayed-format.ts";

const event = (data: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\r\n`}data: ${JSON.stringify(data)}\r\n\r\n`;
const TEXT = "grüße \u{1F642}\u2028";
const INPUT = ['{"at":"', "é\\", 'n"}'];

const piecesOf = (text: string): string[] => text.match(/[^]{1,8}/g) ?? [];

const CHAT = [
  ...[TEXT, " more"].map((content) => ({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: null },
  { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } },
]
  .map((chunk) => event({ id: "theirs", model: "m-1", ...chunk }))
  .join("");

const MESSAGES = [
  { type: "message_start", message: { id: "theirs", model: "m-1", usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "ping" },
  ...[TEXT, " more"].map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
  { type: "content_block_stop", index: 0 },
  {
    type: "content_block_start",
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "look", input: {} },
  },
  ...INPUT.map((partial_json) => ({
    type: "content_block_delta",
    index: 1,
    delta: { type: "input_json_delta", partial_json },
  })),
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 4 } },
  { type: "message_stop" },
]
  .map((data) => event(data, data.type))
  .join("");

const RESPONSE = {
  id: "theirs",
  object: "response",
  model: "m-1",
  status: "completed",
  output: [
    { id: "msg_1", type: "message", content: [{ type: "output_text", text: TEXT }] },
    { id: "fc_1", type: "function_call", call_id: "call_1", name: "look", arguments: INPUT.join("") },
  ],
  usage: { input_tokens: 9, output_tokens: 4, total_tokens: 13 },
};
// The ends of texts repeat what came before, and would only make the stream longer.
const RESPONSES = responseEvents(RESPONSE, 8)
  .filter(({ type }) => !/text.done|part|arguments.done|in_progress/.test(String(type)))
  .map((each) => event(each, String(each["type"])))
  .join("");

const GEMINI = [
  ...[TEXT, " more"].map((text) => ({ candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0 }] })),
  {
    candidates: [
      { content: { parts: [{ functionCall: { name: "look", args: { at: "é\n" } } }] }, finishReason: "STOP" },
    ],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
  },
]
  .map((piece) => event({ responseId: "theirs", ...piece }))
  .join("");

describe.each([
  ["chat", CHAT_FORMAT, CHAT, [TEXT, " more"], '"finish_reason":"stop"'],
  ["Messages", MESSAGES_FORMAT, MESSAGES, [TEXT, " more", ...INPUT], '"stop_reason":"tool_use"'],
  ["Responses", RESPONSES_FORMAT, RESPONSES, [...piecesOf(TEXT), ...piecesOf(INPUT.join(""))], '"response.completed"'],
  ["Gemini", GEMINI_FORMAT, GEMINI, [TEXT, " more", INPUT.join("")], '"finishReason":"STOP"'],
] as const)("a stream of %s", (_name, format, stream, texts, end) => {
  const bytes = Buffer.from(stream);

  it("is shown the same however it is cut", async () => {
    const whole = await relayed(format, [bytes]);
    expect(whole.after).not.toBeNull();
    for (let at = 1; at < bytes.length; at += 1) {
      expect(await relayed(format, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
    expect(
      await relayed(
        format,
        [...bytes].map((byte) => Buffer.of(byte)),
      ),
    ).toEqual(whole);
  });

  it("keeps every text, and shows the billed usage at its end", async () => {
    const { before, after } = await relayed(format, [bytes]);
    const events = eventsOf(format, Buffer.concat([before, after ?? Buffer.alloc(0)]));
    expect(events.flatMap((each) => (each.kind === "text" || each.kind === "input" ? [each.text] : []))).toEqual(texts);
    expect(events.at(-1)).toMatchObject({ usage: { input: 132, cached: 31, output: 17, costIdr: "1.5" } });
    expect(String(before)).not.toContain('"theirs"');
  });

  it("has no end before its settlement, and none where it is cut", async () => {
    const { before, after } = await relayed(format, [bytes]);
    expect(String(before)).not.toContain(end);
    expect(String(after)).toContain(end);
    const cut = bytes.subarray(0, bytes.indexOf(texts[1] ?? "") + 3);
    expect((await relayed(format, [cut])).after).toBeNull();
  });
});
