import { describe, expect, it } from "vitest";
import { ValidationError, type FieldProblem } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { readResponsesRequest } from "./read-responses-request.ts";

const exec = { type: "function", name: "exec_command", parameters: { type: "object" } };

function problemsOf(members: JsonObject): readonly FieldProblem[] {
  try {
    readResponsesRequest({ model: "acme/large", input: "hi", ...members });
  } catch (error) {
    if (error instanceof ValidationError) return error.details;
    throw error;
  }
  return [];
}

describe("a refusal names its field", () => {
  const item = (value: object): JsonObject => ({ input: [value] });
  const part = (value: object): JsonObject => item({ role: "user", content: [value] });
  const table: readonly (readonly [string, JsonObject, string])[] = [
    ["model", { model: "" }, "not empty"],
    ["model", { model: "x".repeat(201) }, "at most 200"],
    ["input", { input: null }, "must be a text or an array of items"],
    ["input", { input: [] }, "must be a text or an array of items"],
    ["input[0]", { input: ["hi"] }, "must be an object"],
    ["background", { background: true }, "no answers are stored"],
    ["previous_response_id", { previous_response_id: "resp_1" }, "send the whole conversation"],
    ["conversation", { conversation: "conv_1" }, "send the whole conversation"],
    ["prompt", { prompt: { id: "pmpt_1" } }, "send the instructions"],
    ["service_tier", { service_tier: "priority" }, "changes what the upstream charges"],
    ["service_tier", { service_tier: "flex" }, "changes what the upstream charges"],
    ["prompt_cache_options", { prompt_cache_options: { ttl: "12h" } }, "changes what the upstream charges"],
    ["audio", { audio: { voice: "alloy" } }, "changes what the upstream charges"],
    ["modalities", { modalities: ["text", "audio"] }, "changes what the upstream charges"],
    ["stop", { stop: ["END"] }, "no stop sequences"],
    ["n", { n: 2 }, "one answer"],
    ["max_tokens", { max_tokens: 5 }, "use max_output_tokens"],
    ["response_format", { response_format: {} }, "use text.format"],
    ["store", { store: "no" }, "true or false"],
    ["temperature", { temperature: 3 }, "from 0 to 2"],
    ["max_output_tokens", { max_output_tokens: 0 }, "from 1"],
    ["reasoning.effort", { reasoning: { effort: "huge" } }, "must be one of none"],
    ["text.format.type", { text: { format: { type: "xml" } } }, "must be one of text"],
    ["text.format.schema", { text: { format: { type: "json_schema", name: "a" } } }, "must be an object"],
    ["tools[0].type", { tools: [{ type: "code_interpreter" }] }, '"code_interpreter" is not offered'],
    ["tools[0].type", { tools: [{ type: "mcp", server_label: "x" }] }, '"mcp" is not offered'],
    ["tools[0].tools[0].type", { tools: [{ type: "namespace", name: "a", tools: [{ type: "shell" }] }] }, '"shell"'],
    ["tools[0].name", { tools: [{ type: "function", name: "a b" }] }, "letters, digits"],
    ["tools[1].name", { tools: [exec, exec] }, "must differ"],
    ["tool_choice", { tool_choice: "required", tools: [{ type: "web_search" }] }, "without a tool"],
    ["tool_choice.type", { tool_choice: { type: "web_search" }, tools: [exec] }, "not offered"],
    ["tool_choice.name", { tool_choice: { type: "function", name: "b" }, tools: [exec] }, "must be the name of a tool"],
    ["input[0].type", item({ type: "item_reference", id: "msg_1" }), "send store:false"],
    ["input[0].type", item({ type: "compaction_trigger" }), "ask for a summary"],
    ["input[0].type", item({ type: "compaction", encrypted_content: "x" }), "start a new conversation"],
    ["input[0].type", item({ type: "computer_call" }), "must be an item of a message"],
    ["input[0].role", item({ role: "tool", content: "x" }), "must be one of user"],
    ["input[0].content", item({ role: "user" }), "must be a string or an array of parts"],
    [
      "input[0].call_id",
      item({ type: "function_call_output", call_id: "call_9", output: "x" }),
      "the id of a call before it",
    ],
    ["input[0].content[0].type", part({ type: "input_audio", input_audio: {} }), "must be one of input_text"],
    ["input[0].content[0].file_id", part({ type: "input_file", file_id: "file_1" }), "no files are stored here"],
    ["input[0].content[0].file_id", part({ type: "input_image", file_id: "file_1" }), "no files are stored here"],
    ["input[0].content[0].file_url", part({ type: "input_file", file_url: "https://x.test/a.pdf" }), "send the data"],
    [
      "input[0].content[0].image_url",
      part({ type: "input_image", image_url: "file:///a" }),
      "must be an https address",
    ],
    ["input[0].content[0].text", part({ type: "input_text", text: 1 }), "must be a string"],
    ["input[0].type", item({ type: { toString: 1, valueOf: 1 } }), "must be an item of"],
    ["input[0].type", item({ type: "constructor" }), "must be an item of"],
    ["input[0].type", item({ type: "__proto__" }), "must be an item of"],
  ];

  it.each(table)("%s: %j", (field, members, words) => {
    const found = problemsOf(members).find((each) => each.field === field);
    expect(found?.message).toContain(words);
  });

  it("and one answer names all of them, up to twenty", () => {
    expect(problemsOf({ stop: "x", background: true, n: 3 })).toHaveLength(3);
    expect(problemsOf({ input: Array.from({ length: 50 }, () => ({ type: "computer_call" })) })).toHaveLength(20);
  });
});
