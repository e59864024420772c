import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../request/field-rules.ts";
import { unseenTokens } from "./unseen-text.ts";

const DENSE = "1234567890".repeat(20);

describe("text that the chat form does not have", () => {
  it.each<[string, JsonObject]>([
    ["found tools", { input: [{ type: "tool_search_output", tools: [{ type: "function", description: DENSE }] }] }],
    ["what is searched for", { input: [{ type: "tool_search_call", arguments: { query: DENSE } }] }],
    ["how tools are searched for", { tools: [{ type: "tool_search", parameters: { a: DENSE } }] }],
    ["what a tool returns", { tools: [{ type: "function", name: "a", output_schema: { a: DENSE } }] }],
    ["what is new in a tool", { tools: [{ type: "namespace", tools: [{ type: "custom", next_month: DENSE }] }] }],
    ["what is new in a tool of the input", { input: [{ type: "additional_tools", tools: [{ next_month: DENSE }] }] }],
    ["what a namespace is for", { tools: [{ type: "namespace", description: DENSE, tools: [] }] }],
    ["what is new in an item", { input: [{ role: "user", content: "a", next_month: DENSE }] }],
    ["what is new in a part", { input: [{ role: "user", content: [{ type: "input_text", next_month: DENSE }] }] }],
    ["what is new in a result", { input: [{ type: "function_call_output", output: [{ annotations: [DENSE] }] }] }],
    ["what a schema is for", { text: { format: { type: "json_schema", description: DENSE } } }],
  ])("is counted by its bytes: %s", (_name, body) => {
    expect(unseenTokens(body)).toBeGreaterThanOrEqual(DENSE.length);
    expect(unseenTokens(body)).toBeLessThan(DENSE.length + 120);
  });

  it("is none of what the form has, and none of what is sealed", () => {
    const items = [
      { type: "message", id: "msg_1", role: "user", content: [{ type: "input_text", text: DENSE }] },
      { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: DENSE, status: "completed" },
      { type: "function_call", call_id: "a", name: "b", namespace: "c", arguments: DENSE },
      { type: "function_call_output", call_id: "a", output: DENSE },
      { role: "assistant", phase: "commentary", content: [{ type: "output_text", text: DENSE, logprobs: [DENSE] }] },
    ];
    const tool = { type: "function", name: "a", description: DENSE, parameters: { a: DENSE }, strict: null };
    expect(unseenTokens({ input: items, tools: [tool], text: { format: { type: "text" } } })).toBe(0);
    expect(unseenTokens({ input: DENSE })).toBe(0);
  });
});
