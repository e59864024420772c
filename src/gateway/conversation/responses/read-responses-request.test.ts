import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../request/field-rules.ts";
import { flatName, fullDescription, type Conversation } from "../conversation.ts";
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
    expect(wait).toMatchObject({ namespaceDescription: "Manages agents.", description: "Waits." });
    expect(send).not.toHaveProperty("namespaceDescription");
    expect(freeform).toMatchObject({ schema: null, strict: null, description: "Edits files." });
    const full = [wait, freeform].map((tool) => tool && fullDescription(tool));
    expect(full).toEqual([
      "Manages agents.\n\nWaits.",
      "Edits files.\n\nThe input must match this lark grammar:\nstart: line+",
    ]);
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
      {
        kind: "document",
        mediaType: "application/pdf",
        data: "BBBB",
        name: "a.pdf",
        where: expect.stringMatching(/^input\[\d\]\.content\[\d\]\.file_data$/),
      },
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
    expect(() => read(harmless)).not.toThrow();
  });
});
