import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import type { Conversation, Part, Turn } from "../conversation.ts";
import { writeResponsesRequest } from "./write-responses-request.ts";

const TARGET = { upstream: "openai", model: "gpt-x", outputCap: 64, thinks: false, takesServiceTier: false };
const EMPTY: Conversation = {
  model: "acme/m",
  stream: false,
  system: [],
  turns: [],
  tools: [],
  toolChoice: null,
  parallelCalls: null,
  outputCap: null,
  stop: [],
  temperature: null,
  topP: null,
  topK: null,
  effort: null,
  outputFormat: null,
  cacheKey: null,
};
const text = (words: string) => ({ kind: "text", text: words }) as const;
const call = (id: string, input = "{}"): Part => ({ kind: "call", id, tool: { name: "exec", namespace: null }, input });
const result = (callId: string, ...words: string[]): Part => ({
  kind: "result",
  callId,
  parts: words.map(text),
  isError: false,
});
const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const model = (...parts: Part[]): Turn => ({ role: "assistant", parts });

function written(members: Partial<Conversation>, target = TARGET): JsonObject {
  return JSON.parse(writeResponsesRequest({ ...EMPTY, ...members }, target).toString("utf8")) as JsonObject;
}
const inputOf = (...turns: Turn[]): unknown => written({ turns })["input"];

describe("a Responses request", () => {
  it("always has a bound, and stores nothing", () => {
    const message = { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] };
    const body = { model: "gpt-x", input: [message], max_output_tokens: 64, store: false };
    expect(written({ turns: [user(text("hi"))] })).toEqual(body);
  });

  it("asks a model that thinks for its encrypted reasoning, and no other", () => {
    const asked = { effort: "max", reasoningSummary: "auto" } as const;
    expect(written(asked)).not.toHaveProperty("include");
    expect(written(asked)).not.toHaveProperty("reasoning");
    expect(written(asked, { ...TARGET, thinks: true })).toMatchObject({
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "xhigh", summary: "auto" },
    });
    expect(written({}, { ...TARGET, thinks: true })).not.toHaveProperty("reasoning");
  });

  it("has results behind their calls, whatever came between them", () => {
    const turns = [model(call("a"), call("b")), { role: "system", parts: [text("note")] } as const];
    expect(inputOf(...turns, user(result("b", "2"), text("and"), result("a", "1")))).toMatchObject([
      { type: "function_call", call_id: "a" },
      { type: "function_call", call_id: "b" },
      { type: "function_call_output", call_id: "b", output: "2" },
      { type: "function_call_output", call_id: "a", output: "1" },
      { role: "developer", content: [{ text: "note" }] },
      { role: "user", content: [{ text: "and" }] },
    ]);
  });

  it("has a result for each call", () => {
    const failed: Part = { kind: "result", callId: "b", parts: [], isError: true };
    expect(inputOf(model(call("a", " "), call("b")), user(failed), model(text("ok")))).toMatchObject([
      { type: "function_call", arguments: "{}" },
      { type: "function_call" },
      { type: "function_call_output", call_id: "b", output: "error" },
      { type: "function_call_output", call_id: "a", output: "no result" },
      { role: "assistant" },
    ]);
  });

  it("refuses a result without a call, and one given again", () => {
    expect(() => inputOf(user(result("a")))).toThrow(ValidationError);
    expect(() => inputOf(model(call("a")), user(result("a"), result("a")))).toThrow(/answers one again/);
  });

  it("has reasoning of this upstream alone, and only before what followed it", () => {
    const sealed = (origin: string): Part => ({ kind: "reasoning", text: "", opaque: { origin, blob: "x" } });
    const plain: Part = { kind: "reasoning", text: "hm", opaque: null };
    expect(inputOf(model(sealed("other"), plain, sealed("openai"), text("ok"), sealed("openai")))).toEqual([
      { type: "reasoning", summary: [], encrypted_content: "x" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "ok" }] },
    ]);
  });

  it("keeps the first instructions apart, and leaves empty texts out", () => {
    const body = written({ system: [text("one"), text("two")], turns: [user(text(""))] });
    expect(body["instructions"]).toBe("one");
    expect(body["input"]).toMatchObject([{ role: "developer", content: [{ text: "two" }] }]);
  });

  it("has ids of calls that fit, the same for a call and its result", () => {
    const input = inputOf(model(call("functions.exec:0")), user(result("functions.exec:0"))) as { call_id: string }[];
    expect(input[0]?.call_id).toMatch(/^call_[0-9a-f]{32}$/);
    expect(input[1]?.call_id).toBe(input[0]?.call_id);
  });

  it("takes no sound and no stop sequences", () => {
    expect(() => inputOf(user({ kind: "audio", format: "wav", data: "AAAA" }))).toThrow(/takes no audio/);
    expect(() => written({ stop: ["x"] })).toThrow(/stop/);
  });

  it("states strictness, which this protocol assumes where nothing is stated", () => {
    const tool = { name: "exec", namespace: null, description: "", schema: { type: "object" }, strict: null };
    const other = { ...tool, name: "wait", namespace: "agents" };
    const choice = { kind: "tool", tool: { name: "wait", namespace: "agents" } } as const;
    expect(written({ tools: [tool, other], toolChoice: choice, parallelCalls: false })).toMatchObject({
      tools: [
        { type: "function", name: "exec", strict: false },
        { type: "namespace", name: "agents", description: "agents", tools: [{ name: "wait" }] },
      ],
      tool_choice: { type: "function", name: "wait", namespace: "agents" },
      parallel_tool_calls: false,
    });
  });
});
