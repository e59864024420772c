import { describe, expect, it } from "vitest";
import { ValidationError, type FieldProblem } from "../../../kernel/errors.ts";
import type { JsonObject } from "../../request/field-rules.ts";
import { flatName, type Conversation } from "../conversation.ts";
import { readResponsesRequest } from "./read-responses-request.ts";

const text = (words: string) => ({ kind: "text", text: words }) as const;
const call = (id: string, name = "exec_command", args = "{}") => ({
  type: "function_call",
  id: `fc_${id}`,
  status: "completed",
  call_id: id,
  name,
  arguments: args,
});
const output = (id: string, said: unknown = "done") => ({ type: "function_call_output", call_id: id, output: said });
const message = (role: string, ...words: string[]) => ({
  type: "message",
  id: "msg_1",
  role,
  content: words.map((each) => ({ type: role === "assistant" ? "output_text" : "input_text", text: each })),
});
const exec = {
  type: "function",
  name: "exec_command",
  description: "Runs.",
  strict: false,
  parameters: { type: "object" },
};
const patch = {
  type: "custom",
  name: "apply_patch",
  description: "Edits files.",
  format: { type: "grammar", syntax: "lark", definition: "start: line+" },
};

function read(members: JsonObject): Conversation {
  return readResponsesRequest({ model: "acme/large", input: "hi", ...members }).conversation;
}
const turnsOf = (...input: object[]) => read({ input, tools: [exec, patch] }).turns;

function problemsOf(members: JsonObject): readonly FieldProblem[] {
  try {
    read(members);
  } catch (error) {
    if (error instanceof ValidationError) return error.details;
    throw error;
  }
  return [];
}

describe("a request of Codex", () => {
  const body = {
    stream: true,
    input: [
      message("developer", "You are Codex."),
      message("developer", "Permissions.", "Apps."),
      message("user", "<environment_context>"),
      message("user", "run echo"),
      {
        type: "reasoning",
        id: "rs_1",
        summary: [{ type: "summary_text", text: "**Think**" }],
        content: null,
        encrypted_content: "x",
      },
      call("call_1"),
      call("call_2"),
      output("call_2", "two"),
      output("call_1", [{ type: "input_text", text: "one" }]),
    ],
    tools: [
      exec,
      {
        type: "namespace",
        name: "multi_agent_v1",
        description: "Manages agents.",
        tools: [
          {
            type: "function",
            name: "wait_agent",
            description: "Waits.",
            strict: false,
            parameters: { type: "object" },
          },
          {
            type: "function",
            name: "send_input",
            description: "Sends.",
            strict: false,
            parameters: { type: "object" },
          },
        ],
      },
      patch,
      { type: "tool_search", execution: "client", description: "Finds tools.", parameters: {} },
      { type: "web_search", external_web_access: true },
    ],
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { effort: "medium", summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "session-1",
    text: { verbosity: "low" },
    client_metadata: { session_id: "1" },
  };

  it("becomes a conversation with its instructions, turns and tools", () => {
    const conversation = read(body);
    expect(conversation).toMatchObject({
      model: "acme/large",
      stream: true,
      system: ["You are Codex.", "Permissions.", "Apps."].map(text),
      toolChoice: { kind: "auto" },
      parallelCalls: true,
      effort: "medium",
      cacheKey: "session-1",
      outputCap: null,
    });
    expect(conversation.turns).toEqual([
      { role: "user", parts: [text("<environment_context>")] },
      { role: "user", parts: [text("run echo")] },
      {
        role: "assistant",
        parts: [
          { kind: "reasoning", text: "**Think**", opaque: null },
          { kind: "call", id: "call_1", tool: { name: "exec_command", namespace: null }, input: "{}" },
          { kind: "call", id: "call_2", tool: { name: "exec_command", namespace: null }, input: "{}" },
        ],
      },
      {
        role: "user",
        parts: [
          { kind: "result", callId: "call_2", parts: [text("two")], isError: false },
          { kind: "result", callId: "call_1", parts: [text("one")], isError: false },
        ],
      },
    ]);
    expect(conversation.tools.map(flatName)).toEqual([
      "exec_command",
      "multi_agent_v1__wait_agent",
      "multi_agent_v1__send_input",
      "apply_patch",
    ]);
  });

  it("keeps the description of a namespace and the grammar of a freeform tool", () => {
    const [, wait, send, freeform] = read(body).tools;
    expect(wait?.description).toBe("Manages agents.\n\nWaits.");
    expect(send?.description).toBe("Sends.");
    expect(freeform).toMatchObject({ schema: null, strict: null });
    expect(freeform?.description).toBe("Edits files.\n\nThe input must match this lark grammar:\nstart: line+");
  });

  it("may hold its tools in the input", () => {
    const { tools, toolChoice } = read({
      input: [
        {
          type: "additional_tools",
          role: "developer",
          tools: [{ type: "namespace", name: "functions", tools: [patch, exec] }],
        },
        message("user", "hi"),
      ],
      tool_choice: "auto",
    });
    expect(tools.map(flatName)).toEqual(["functions__apply_patch", "functions__exec_command"]);
    expect(toolChoice).toEqual({ kind: "auto" });
  });

  it("has no choice of tools without tools, as when it asks for a summary", () => {
    expect(read({ tools: [], tool_choice: "auto", parallel_tool_calls: false })).toMatchObject({
      tools: [],
      toolChoice: null,
      parallelCalls: null,
    });
  });
});

describe("the input", () => {
  it("is a text, or items without a type", () => {
    const hi = [{ role: "user", parts: [text("hi")] }];
    expect(read({ input: "hi" }).turns).toEqual(hi);
    expect(read({ input: [{ role: "user", content: "hi" }] }).turns).toEqual(hi);
  });

  it("puts instructions first, and keeps those in mid-conversation where they are", () => {
    const conversation = read({
      instructions: "Be brief.",
      input: [message("system", "Be kind."), message("user", "hi"), message("developer", "Now be long.")],
    });
    expect(conversation.system).toEqual([text("Be brief."), text("Be kind.")]);
    expect(conversation.turns.map(({ role }) => role)).toEqual(["user", "system"]);
  });

  it("places results directly behind their calls", () => {
    const turns = turnsOf(
      call("a"),
      call("b"),
      output("a"),
      message("user", "wait"),
      output("b"),
      call("c"),
      output("c"),
    );
    expect(turns.map(({ role, parts }) => [role, ...parts.map(({ kind }) => kind)])).toEqual([
      ["assistant", "call", "call"],
      ["user", "result", "result"],
      ["user", "text"],
      ["assistant", "call"],
      ["user", "result"],
    ]);
  });

  it("accepts an id that a later turn uses again", () => {
    expect(turnsOf(call("call_0"), output("call_0"), call("call_0"), output("call_0"))).toHaveLength(4);
  });

  it("joins what the model wrote, thought and called in one turn", () => {
    const thought = { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "hm" }] };
    const [turn] = turnsOf(thought, message("assistant", "I run it."), call("a"), output("a"));
    expect(turn?.parts.map(({ kind }) => kind)).toEqual(["reasoning", "text", "call"]);
  });

  it("leaves out reasoning without a text and searches of another provider", () => {
    const left = [
      { type: "reasoning", summary: [], encrypted_content: "blob" },
      { type: "web_search_call", id: "ws_1", status: "completed" },
    ];
    expect(turnsOf(...left, message("user", "hi"))).toEqual([{ role: "user", parts: [text("hi")] }]);
  });

  it("reads pictures, files and what the model refused", () => {
    const content = [
      { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "low" },
      { type: "input_image", image_url: "https://example.com/a.png" },
      { type: "input_file", file_data: "data:application/pdf;base64,BBBB", filename: "a.pdf" },
    ];
    const [turn, refused] = turnsOf(
      { role: "user", content },
      { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
    );
    expect(turn?.parts).toEqual([
      { kind: "image", source: { kind: "data", mediaType: "image/png", data: "AAAA" }, detail: "low" },
      { kind: "image", source: { kind: "url", url: "https://example.com/a.png" }, detail: null },
      { kind: "document", mediaType: "application/pdf", data: "BBBB", name: "a.pdf" },
    ]);
    expect(refused?.parts).toEqual([text("No.")]);
  });

  it("keeps the namespace of a call", () => {
    const [turn] = turnsOf({ ...call("a", "wait_agent"), namespace: "multi_agent_v1" });
    expect(turn?.parts).toMatchObject([{ tool: { name: "wait_agent", namespace: "multi_agent_v1" } }]);
  });

  it("reads the call of a freeform tool as its text, and as JSON where the tool is not declared any more", () => {
    const freeform = { type: "custom_tool_call", call_id: "a", name: "apply_patch", input: "*** Begin" };
    expect(turnsOf(freeform)[0]?.parts).toMatchObject([{ input: "*** Begin" }]);
    expect(read({ input: [freeform] }).turns[0]?.parts).toMatchObject([{ input: '{"input":"*** Begin"}' }]);
    expect(turnsOf(call("a", "apply_patch", '{"input":"*** Begin"}'))[0]?.parts).toMatchObject([
      { input: "*** Begin" },
    ]);
  });

  it("gives a call without arguments an empty object", () => {
    expect(turnsOf(call("a", "exec_command", ""))[0]?.parts).toMatchObject([{ input: "{}" }]);
  });
});

describe("the parameters", () => {
  it("are read", () => {
    const conversation = read({
      max_output_tokens: 900,
      temperature: 0.5,
      top_p: 0.9,
      text: { format: { type: "json_schema", name: "title", schema: { type: "object" }, strict: true } },
    });
    expect(conversation).toMatchObject({
      outputCap: 900,
      temperature: 0.5,
      topP: 0.9,
      outputFormat: { kind: "schema", name: "title", schema: { type: "object" }, strict: true },
    });
    expect(read({ text: { format: { type: "json_object" } } }).outputFormat).toEqual({ kind: "json" });
    expect(read({ text: { format: { type: "text" } } }).outputFormat).toBeNull();
  });

  it.each([
    ["auto", { kind: "auto" }],
    ["required", { kind: "any" }],
    ["none", { kind: "none" }],
    [
      { type: "function", name: "exec_command" },
      { kind: "tool", tool: { name: "exec_command", namespace: null } },
    ],
    [
      { type: "custom", name: "apply_patch" },
      { kind: "tool", tool: { name: "apply_patch", namespace: null } },
    ],
  ])("choose a tool by %j", (asked, choice) => {
    expect(read({ tools: [exec, patch], tool_choice: asked }).toolChoice).toEqual(choice);
  });

  it("leave only the allowed tools", () => {
    const asked = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "exec_command" }] };
    const { tools, toolChoice } = read({ tools: [exec, patch], tool_choice: asked });
    expect([tools.map(flatName), toolChoice]).toEqual([["exec_command"], { kind: "any" }]);
  });

  it("are accepted where they change nothing here", () => {
    const harmless = {
      store: true,
      background: false,
      service_tier: "auto",
      previous_response_id: null,
      truncation: "auto",
      include: ["message.output_text.logprobs"],
      metadata: { a: "b" },
      max_tool_calls: 3,
      stream_options: { include_obfuscation: false },
      context_management: [{ type: "compaction" }],
      seed: 1,
    };
    expect(problemsOf(harmless)).toEqual([]);
  });
});

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
    ["input[0].call_id", item(output("call_9")), "the id of a call before it"],
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
  ];

  it.each(table)("%s: %j", (field, members, message) => {
    const found = problemsOf(members).find((each) => each.field === field);
    expect(found?.message).toContain(message);
  });

  it("and one answer names all of them, up to twenty", () => {
    expect(problemsOf({ stop: "x", background: true, n: 3 })).toHaveLength(3);
    expect(problemsOf({ input: Array.from({ length: 50 }, () => ({ type: "computer_call" })) })).toHaveLength(20);
  });
});
