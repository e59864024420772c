import { describe, expect, it } from "vitest";
import { MessagesAnswerReader } from "./read-messages-answer.ts";

type Json = { readonly [name: string]: unknown };

const read = (...events: Json[]) => {
  const reader = new MessagesAnswerReader("claude");
  return [...events.flatMap((event) => reader.read(event)), ...reader.end()];
};
const begun = (content_block: Json, index = 0): Json => ({ type: "content_block_start", index, content_block });
const delta = (given: Json, index = 0): Json => ({ type: "content_block_delta", index, delta: given });
const stopped = (index = 0): Json => ({ type: "content_block_stop", index });
const ended = (stop_reason: string | null, usage: Json = { output_tokens: 7 }): Json => ({
  type: "message_delta",
  delta: { stop_reason },
  usage,
});
const TOOL = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 30,
  cache_creation_input_tokens: 20,
  cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
  output_tokens: 1,
};

describe("an answer of Messages", () => {
  it("has parallel calls by their blocks, and `{}` for a call without input", () => {
    const input = (text: string, index: number) => delta({ type: "input_json_delta", partial_json: text }, index);
    const events = read(
      begun(TOOL, 1),
      input('{"a"', 1),
      input(":1}", 1),
      stopped(1),
      begun({ ...TOOL, id: "functions.look:0" }, 2),
      stopped(2),
      begun({ ...TOOL, id: "toolu_1", input: { b: 2 } }, 3),
      stopped(3),
      ended("tool_use"),
    );
    expect(events.slice(0, -1)).toEqual([
      { kind: "call", call: 0, id: "toolu_1", name: "look" },
      { kind: "input", call: 0, text: '{"a"' },
      { kind: "input", call: 0, text: ":1}" },
      { kind: "call", call: 1, id: expect.stringMatching(/^call_\w+$/), name: "look" },
      { kind: "input", call: 1, text: "{}" },
      { kind: "call", call: 2, id: expect.stringMatching(/^call_\w+$/), name: "look" },
      { kind: "input", call: 2, text: '{"b":2}' },
      { kind: "finish", reason: "calls" },
    ]);
  });

  it("has thoughts with their signature, one that is not shown, and one that no client may read", () => {
    const thinking = { type: "thinking", thinking: "", signature: "" };
    const events = read(
      begun(thinking, 0),
      delta({ type: "thinking_delta", thinking: "hm" }, 0),
      delta({ type: "signature_delta", signature: "Sig+/==" }, 0),
      stopped(0),
      begun(thinking, 1),
      delta({ type: "signature_delta", signature: "hidden" }, 1),
      stopped(1),
      begun({ type: "redacted_thinking", data: "xyz" }, 2),
      stopped(2),
      ended("end_turn"),
    );
    expect(events.slice(0, -2)).toEqual([
      { kind: "reasoning", text: "hm" },
      { kind: "opaque", origin: "claude", blob: "Sig+/==" },
      { kind: "opaque", origin: "claude", blob: "hidden" },
      { kind: "opaque", origin: "claude", blob: "redacted:xyz" },
    ]);
  });

  it.each([
    ["end_turn", false, "stop"],
    ["end_turn", true, "calls"],
    ["stop_sequence", false, "stop"],
    ["tool_use", true, "calls"],
    ["max_tokens", true, "length"],
    ["model_context_window_exceeded", false, "length"],
    ["refusal", false, "filtered"],
    ["pause_turn", false, "stop"],
    ["something_new", true, "calls"],
  ])("ends for %s (with calls: %s) as %s", (reason, hasCalls, expected) => {
    const events = read(...(hasCalls ? [begun(TOOL), stopped()] : []), ended(reason));
    expect(events).toContainEqual({ kind: "finish", reason: expected });
  });

  it("has the last count of each kind, with what was billed", () => {
    const usage = { output_tokens: 33, output_tokens_details: { thinking_tokens: 9 }, cost_idr: "1.5" };
    expect(read({ type: "message_start", message: { usage: USAGE } }, ended("end_turn", usage)).at(-1)).toEqual({
      kind: "usage",
      usage: { input: 150, cached: 30, written: 5, written1h: 15, output: 33, reasoning: 9, costIdr: "1.5" },
    });
    expect(read(ended("end_turn", {})).at(-1)).toMatchObject({ usage: { input: 0, output: 0, costIdr: "0" } });
  });

  it("has nothing for pings, unknown events and blocks, and members of other types than they have", () => {
    const odd: Json[] = [
      { type: "ping" },
      { type: "news" },
      {},
      begun({ type: "server_tool_use", id: "s", name: "web_search", input: {} }, 5),
      delta({ type: "input_json_delta", partial_json: "{}" }, 5),
      stopped(5),
      delta({ type: "citations_delta", citation: {} }, 0),
      delta({ type: "text_delta", text: 5 }, 0),
      stopped(9),
      { type: "content_block_start", index: 0, content_block: null },
      { type: "content_block_delta", index: 0 },
      { type: "message_start", message: null },
    ];
    expect(read(...odd).map(({ kind }) => kind)).toEqual(["finish", "usage"]);
  });

  it("is the same whole", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "Looking." },
      { ...TOOL, input: { a: 1 } },
    ];
    expect(read({ type: "message", content, stop_reason: "tool_use", usage: { ...USAGE, output_tokens: 7 } })).toEqual([
      { kind: "reasoning", text: "hm" },
      { kind: "opaque", origin: "claude", blob: "s" },
      { kind: "text", text: "Looking." },
      { kind: "call", call: 0, id: "toolu_1", name: "look" },
      { kind: "input", call: 0, text: '{"a":1}' },
      { kind: "finish", reason: "calls" },
      expect.objectContaining({ kind: "usage" }),
    ]);
  });
});
