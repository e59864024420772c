// The shapes of requests that Codex 0.169.0 sends to a provider with Responses, with texts of our own.

import type { Json } from "./fakes/responses-wire.ts";

const functionTool = (name: string): Json => ({
  type: "function",
  name,
  description: `Does ${name}.`,
  strict: false,
  parameters: { type: "object", properties: { max_output_tokens: { type: "number" } }, additionalProperties: false },
});
const TOOLS: readonly Json[] = [
  ...["exec_command", "write_stdin", "view_image", "update_plan"].map(functionTool),
  {
    type: "namespace",
    name: "multi_agent_v1",
    description: "Tools for several agents.",
    tools: ["spawn_agent", "wait_agent"].map(functionTool),
  },
];
const PATCH: Json = {
  type: "custom",
  name: "apply_patch",
  description: "Edits files.",
  format: { type: "grammar", syntax: "lark", definition: 'start: "x"' },
};
const TOOL_SEARCH: Json = {
  type: "tool_search",
  execution: "client",
  description: "Finds tools.",
  parameters: { type: "object", properties: { query: { type: "string" } } },
};
const WEB_SEARCH: Json = { type: "web_search", external_web_access: false, search_content_types: ["text"] };

const message = (role: string, ...texts: string[]): Json => ({
  type: "message",
  id: `msg_${role}_${texts.length}`,
  role,
  content: texts.map((text) => ({ type: "input_text", text })),
});
const TURN: readonly Json[] = [
  message("developer", "You are a coding agent."),
  message("developer", "<permissions>", "<skills>"),
  message("user", "<environment_context>"),
  message("user", "say hi"),
];
const call = (id: string, name: string, more: Json = {}): Json => ({
  type: "function_call",
  status: "completed",
  id: `fc_${id}`,
  name,
  arguments: '{"cmd":"ls"}',
  call_id: id,
  ...more,
});
const result = (id: string): Json => ({
  type: "function_call_output",
  id: `fco_${id}`,
  call_id: id,
  output: `Output of ${id}`,
});

const bodyOf = (input: readonly Json[], more: Json = {}): Json => ({
  stream: true,
  input,
  tools: [...TOOLS, WEB_SEARCH],
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { summary: "auto" },
  store: false,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "0193a8c0-0000-7000-8000-000000000001",
  client_metadata: { "x-codex-installation-id": "0193a8c0-0000-7000-8000-000000000002" },
  ...more,
});
const OF_KNOWN_MODELS: Json = {
  tools: [...TOOLS, PATCH, TOOL_SEARCH, WEB_SEARCH],
  reasoning: { effort: "medium" },
  text: { verbosity: "low" },
};

/** The members of each but for the model, by what it shows. `encrypted`: what an upstream has given out, as its client keeps it. */
export const codexRequests = (encrypted: string): Readonly<Record<string, Json>> => ({
  "a turn with a model that it does not know": bodyOf(TURN),
  "a turn with a model that it knows": bodyOf(TURN, OF_KNOWN_MODELS),
  "a result": bodyOf([...TURN, call("call_1", "exec_command"), result("call_1")]),
  "results of calls at once": bodyOf([
    ...TURN,
    ...["call_1", "call_2"].map((id) => call(id, "exec_command")),
    ...["call_1", "call_2"].map(result),
  ]),
  "a result of a tool in a namespace": bodyOf([
    ...TURN,
    call("call_1", "wait_agent", { namespace: "multi_agent_v1" }),
    result("call_1"),
  ]),
  "a result of a freeform tool": bodyOf(
    [
      ...TURN,
      { type: "custom_tool_call", status: "completed", id: "ctc_1", call_id: "c", name: "apply_patch", input: "***" },
      { type: "custom_tool_call_output", id: "ctco_1", call_id: "c", output: "Done." },
    ],
    OF_KNOWN_MODELS,
  ),
  "thoughts that go back": bodyOf([
    ...TURN,
    {
      type: "reasoning",
      id: "rs_1",
      summary: [{ type: "summary_text", text: "**Look**" }],
      content: null,
      encrypted_content: encrypted,
    },
    call("call_1", "exec_command"),
    result("call_1"),
  ]),
  "a summary of the conversation": bodyOf([...TURN, message("user", "Summarize.")], {
    tools: [],
    parallel_tool_calls: false,
  }),
  "tools within the input": (({ tools: _tools, ...lite }) => lite)(
    bodyOf(
      [
        {
          type: "additional_tools",
          id: "at_1",
          role: "developer",
          tools: [
            {
              type: "namespace",
              name: "functions",
              description: "",
              tools: [{ ...PATCH, name: "exec" }, functionTool("wait")],
            },
          ],
        },
        ...TURN,
      ],
      { parallel_tool_calls: false, reasoning: { effort: "low", context: "all_turns" }, text: { verbosity: "low" } },
    ),
  ),
});
