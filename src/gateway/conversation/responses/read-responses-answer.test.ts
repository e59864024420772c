import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../request/field-rules.ts";
import type { AnswerEvent } from "../answer-events.ts";
import { readResponsesAnswer, ResponsesAnswerReader } from "./read-responses-answer.ts";

/** The events of a stream whose events have these data. */
function read(...data: readonly JsonObject[]): AnswerEvent[] {
  const reader = new ResponsesAnswerReader("openai");
  return [...data.flatMap((each) => reader.read(each)), ...reader.end()];
}

/** The same without how it ended. */
const outputOf = (...data: readonly JsonObject[]): AnswerEvent[] => read(...data).slice(0, -2);
const finishOf = (...data: readonly JsonObject[]): unknown => read(...data).at(-2);
const added = (index: number, item: JsonObject): JsonObject => ({
  type: "response.output_item.added",
  output_index: index,
  item,
});
const done = (index: number | undefined, item: JsonObject): JsonObject => ({
  type: "response.output_item.done",
  ...(index === undefined ? {} : { output_index: index }),
  item,
});
const said = (text: string): JsonObject => ({
  type: "message",
  role: "assistant",
  content: [{ type: "output_text", text }],
});
const call: JsonObject = { type: "function_call", id: "fc_1", call_id: "call_1", name: "exec", arguments: "" };
const completed = (response: JsonObject): JsonObject => ({ type: "response.completed", response });

describe("a stream of a Responses upstream", () => {
  it("may have whole items alone, which are not numbered", () => {
    const events = read(
      { type: "response.created", response: { id: "r" } },
      done(undefined, said("a")),
      done(undefined, said("b")),
      completed({
        id: "r",
        output: [said("a"), said("b")],
        usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
      }),
    );
    expect(events).toMatchObject([
      { kind: "text", text: "a" },
      { kind: "text", text: "b" },
      { kind: "finish", reason: "stop" },
      { kind: "usage", usage: { input: 5, output: 2, cached: 0, costIdr: "0" } },
    ]);
  });

  it("may have its output in the last event alone", () => {
    expect(outputOf(completed({ output: [said("a")] }))).toEqual([{ kind: "text", text: "a" }]);
  });

  it("is read once, though it is repeated", () => {
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hel" };
    const events = outputOf(
      added(0, { type: "message" }),
      delta,
      done(0, said("Hello")),
      completed({ output: [said("Hello")] }),
    );
    expect(events).toEqual([
      { kind: "text", text: "Hel" },
      { kind: "text", text: "lo" },
    ]);
  });

  it("may alternate between the inputs of calls", () => {
    const input = (index: number, delta: string): JsonObject => ({
      type: "response.function_call_arguments.delta",
      output_index: index,
      delta,
    });
    const other = { ...call, call_id: "call_2", namespace: "agents" };
    const events = outputOf(added(3, call), added(5, other), input(5, "{}"), input(3, '{"a":'), input(3, "1}"));
    expect(events).toEqual([
      { kind: "call", call: 0, id: "call_1", name: "exec" },
      { kind: "call", call: 1, id: "call_2", name: "agents__exec" },
      { kind: "input", call: 1, text: "{}" },
      { kind: "input", call: 0, text: '{"a":' },
      { kind: "input", call: 0, text: "1}" },
    ]);
  });

  it("ends the input of a freeform tool though the item does not end", () => {
    const piece = { type: "response.custom_tool_call_input.delta", output_index: 0, delta: 'a"\n' };
    const events = outputOf(added(0, { type: "custom_tool_call", call_id: "c", name: "patch", input: "" }), piece);
    const input = events.map((event) => (event.kind === "input" ? event.text : "")).join("");
    expect(JSON.parse(input)).toEqual({ input: 'a"\n' });
  });

  it("parts the parts of a summary, and seals reasoning at its end", () => {
    const piece = (order: number, delta: string): JsonObject => ({
      type: "response.reasoning_summary_text.delta",
      output_index: 0,
      summary_index: order,
      delta,
    });
    const summary = ["a", "bc"].map((text) => ({ type: "summary_text", text }));
    const item = { type: "reasoning", summary, encrypted_content: "gAAAA" };
    expect(outputOf(added(0, { type: "reasoning" }), piece(0, "a"), piece(1, "b"), done(0, item))).toEqual([
      { kind: "reasoning", text: "a" },
      { kind: "reasoning", text: "\n\nb" },
      { kind: "reasoning", text: "c" },
      { kind: "opaque", origin: "openai", blob: "gAAAA" },
    ]);
  });

  it("shows what a model thought rather than its summary", () => {
    const content = [{ type: "reasoning_text", text: "hm" }];
    const item = { type: "reasoning", summary: [{ type: "summary_text", text: "short" }], content };
    expect(outputOf(done(0, item))).toEqual([{ kind: "reasoning", text: "hm" }]);
  });

  it.each<[unknown, unknown]>([
    ["max_output_tokens", "length"],
    ["content_filter", "filtered"],
    ["max_tool_calls", "stop"],
  ])("that is incomplete for %s ended by %s", (reason, finish) => {
    const response = { status: "incomplete", incomplete_details: { reason }, output: [] };
    expect(finishOf({ type: "response.incomplete", response })).toEqual({ kind: "finish", reason: finish });
  });

  it("ends with calls where there are any", () => {
    expect(finishOf(done(0, call), completed({ output: [call] }))).toEqual({ kind: "finish", reason: "calls" });
  });

  it("leaves out what no client knows", () => {
    const search = { type: "web_search_call", id: "ws_1", status: "completed" };
    const part = { type: "response.content_part.added", output_index: 0, content_index: 0, part: {} };
    const odd = { type: "response.output_text.delta", output_index: 9, delta: "lost" };
    expect(outputOf(added(0, search), part, odd, done(0, search), { type: "response.in_progress" })).toEqual([]);
  });
});

describe("a whole response", () => {
  it("has the events of a stream, and the billed usage", () => {
    const details = { cached_tokens: 4, cache_write_tokens: 3, cache_write_tokens_details: { ttl_12h_tokens: 1 } };
    const usage = {
      input_tokens: 10,
      input_tokens_details: details,
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 15,
      cost_idr: "0.5",
    };
    const response = { object: "response", status: "completed", output: [said("a")], usage };
    expect(readResponsesAnswer(JSON.stringify(response), "openai")).toEqual([
      { kind: "text", text: "a" },
      { kind: "finish", reason: "stop" },
      {
        kind: "usage",
        usage: { input: 10, cached: 4, written: 2, written1h: 1, output: 5, reasoning: 2, costIdr: "0.5" },
      },
    ]);
  });

  it("may be no JSON", () => {
    expect(readResponsesAnswer("<html>", "openai")).toBeNull();
  });
});
