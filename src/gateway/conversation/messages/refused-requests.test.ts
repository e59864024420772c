import { describe, expect, it } from "vitest";
import { ValidationError } from "../../../kernel/errors.ts";
import { readMessagesRequest } from "./read-messages-request.ts";

type Body = Readonly<Record<string, unknown>>;

const HI = { role: "user", content: "hi" };
const LEAST: Body = { model: "acme/m", max_tokens: 64, messages: [HI] };
const BASH = { name: "Bash", description: "runs", input_schema: { type: "object" } };
const PLACEHOLDER = { ...BASH, name: "DeferredToolPlaceholder", defer_loading: true };
const use = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: "ls" } });
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "done" });
const user = (...content: object[]) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });

/** The wrong fields of a body, empty where it is accepted. */
function wrongFields(more: Body): string[] {
  try {
    readMessagesRequest({ ...LEAST, ...more }, { isOnlyCounted: false });
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.details.map(({ field }) => field);
  }
  return [];
}

describe("a request that is refused", () => {
  const toolOf = (type: string) => ({ tools: [{ type, name: type.slice(0, 10) }] });
  const blockOf = (block: object, role = "user") => ({ messages: [HI, { role, content: [block] }] });
  const sourceOf = (type: string, source: object) => blockOf({ type, source });

  it.each<[string, Body]>([
    // Kept in the provider's account.
    ["messages[1].content[0].source", sourceOf("image", { type: "file", file_id: "file_1" })],
    ["messages[1].content[0].source", sourceOf("document", { type: "file", file_id: "file_1" })],
    ["messages[1].content[0].type", blockOf({ type: "container_upload", file_id: "file_1" })],
    ["container", { container: "container_1" }],
    ["thread", { thread: { id: "thread_1" } }],
    // Run or priced by the provider.
    ["mcp_servers", { mcp_servers: [{ type: "url", url: "https://x.example" }] }],
    ["fallbacks", { fallbacks: [{ model: "other" }] }],
    ["compaction", { compaction: {} }],
    ["context_management.edits[1]", { context_management: { edits: [{ type: "a" }, { type: "compact_20260112" }] } }],
    ["service_tier", { service_tier: "priority" }],
    ["speed", { speed: "fast" }],
    ["inference_geo", { inference_geo: "us" }],
    ["tools[0].type", toolOf("web_search_20250305")],
    ["tools[0].type", toolOf("code_execution_20250825")],
    ["tools[0].type", toolOf("bash_20250124")],
    ["tools[0].type", toolOf("mcp_toolset")],
    ["messages[1].content[0].type", blockOf({ type: "server_tool_use", id: "a", name: "web_search" }, "assistant")],
    ["messages[1].content[0].type", blockOf({ type: "web_search_tool_result", tool_use_id: "a" }, "assistant")],
    ["messages[1].content[0].type", blockOf({ type: "compaction", content: "" }, "assistant")],
    ["messages[1].content[0].type", blockOf({ type: "fallback" }, "assistant")],
    ["messages[1].content[0].tool", blockOf({ type: "tool_addition", tool: { type: "tool_definition" } }, "system")],
    [
      "messages[1].content[0].tool",
      blockOf({ type: "tool_addition", tool: { type: "web_search_20250305", name: "a" } }, "system"),
    ],
    ["billing_policy", { billing_policy: { type: "overage" } }],
    ["fallback_credit_token", { fallback_credit_token: "a" }],
    ["user_profile_id", { user_profile_id: "user_1" }],
    ["diagnostics.previous_message_id", { diagnostics: { previous_message_id: "msg_1" } }],
    ["tools[0].type", { tools: [{ ...PLACEHOLDER, type: "web_search_20250305" }] }],
    // A server that ignores the case of names would read them.
    ["Service_Tier", { Service_Tier: "priority" }],
    ["Max_Tokens", { Max_Tokens: 9_000 }],
    ["\u017Fpeed", { "\u017Fpeed": "fast" }],
    ["Output_Config", { Output_Config: {} }],
    ["messages[1].Content", { messages: [HI, { ...HI, Content: "more" }] }],
    ["messages[1].content[0].Cache_Control", blockOf({ type: "text", text: "a", Cache_Control: { ttl: "1h" } })],
    [
      "system[0].cache_control.TTL",
      { system: [{ type: "text", text: "a", cache_control: { type: "ephemeral", TTL: "1h" } }] },
    ],
    ["tools[0].Type", { tools: [{ ...BASH, Type: "web_search_20250305" }] }],
    ["thinking.Budget_Tokens", { thinking: { type: "adaptive", Budget_Tokens: 4_000 } }],
    // No form in other protocols, or none at all.
    ["messages[1].content[0].source.type", sourceOf("document", { type: "url", url: "https://x.example/a.pdf" })],
    ["messages[1].content[0].source.media_type", sourceOf("image", { type: "base64", media_type: "image/tiff" })],
    ["messages[1].content[0].source.media_type", sourceOf("document", { type: "base64", media_type: "text/csv" })],
    ["messages[1].content[0].source.url", sourceOf("image", { type: "url", url: "file:///etc/passwd" })],
    ["messages[1].content[0].type", blockOf({ type: "input_audio" })],
    ["messages[1].content[0].type", blockOf({ type: "image", source: {} }, "assistant")],
    ["messages[1].content[0].type", blockOf({ type: "tool_result", tool_use_id: "a" }, "system")],
    ["messages[1].content[0].text", blockOf({ type: "text" })],
    [
      "messages[1].content[0].cache_control.ttl",
      blockOf({ type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "2h" } }),
    ],
    ["messages[1].content", blockOf(result("nobody"))],
    ["messages[2].content", { messages: [HI, assistant(use("a")), user(result("a"), result("a"))] }],
    ["messages[1].content", { messages: [HI, assistant(use("a"), use("a"))] }],
    ["messages[1].content[0].input", blockOf({ ...use("a"), input: "ls" }, "assistant")],
    ["messages[0].role", { messages: [{ role: "tool", content: "" }] }],
    ["messages[0].content", { messages: [{ role: "user" }] }],
    ["messages[0]", { messages: ["hi"] }],
    ["messages", { messages: [] }],
    ["messages", { messages: undefined }],
    ["system", { system: { text: "a" } }],
    ["system[0].type", { system: [{ type: "image" }] }],
    ["model", { model: "" }],
    ["model", { model: "m".repeat(201) }],
    ["max_tokens", { max_tokens: undefined }],
    ["max_tokens", { max_tokens: 0 }],
    ["max_tokens", { max_tokens: 1.5 }],
    ["stream", { stream: "yes" }],
    ["temperature", { temperature: 1.1 }],
    ["top_p", { top_p: -0.1 }],
    ["top_k", { top_k: 0.5 }],
    ["stop_sequences[0]", { stop_sequences: [""] }],
    ["stop_sequences", { stop_sequences: "END" }],
    ["tools[0].name", { tools: [{ ...BASH, name: "a b" }] }],
    ["tools[0].input_schema", { tools: [{ name: "a" }] }],
    ["tools[1].name", { tools: [BASH, BASH] }],
    ["tool_choice.type", { tools: [BASH], tool_choice: { type: "required" } }],
    ["tool_choice.name", { tools: [BASH], tool_choice: { type: "tool", name: "Read" } }],
    ["thinking.type", { thinking: { type: "on" } }],
    ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: 1_023 } }],
    ["output_config.effort", { output_config: { effort: "huge" } }],
    ["output_config.format.type", { output_config: { format: { type: "grammar" } } }],
    ["output_config.format.schema", { output_config: { format: { type: "json_schema" } } }],
    ["output_format.schema", { output_format: { type: "json_schema" } }],
  ])("names %s", (field, body) => {
    expect(wrongFields(body)).toEqual([field]);
  });

  it.each([
    { service_tier: "auto", speed: "standard", inference_geo: "global" },
    { service_tier: "standard_only", mcp_servers: [], fallbacks: [] },
    { diagnostics: {}, billing_policy: null, tools: [PLACEHOLDER, { ...PLACEHOLDER, name: "a", type: "custom" }] },
    { tools: [{ ...BASH, input_schema: { type: "object", properties: { Type: {}, Max_Tokens: { Type: 1 } } } }] },
    { messages: [HI, assistant({ ...use("a"), input: { Text: "a" } }), user(result("a"))] },
    { container: null, thread: null, compaction: null, tools: null, system: null, thinking: null, stream: null },
  ])("is not one with %o", (body) => {
    expect(wrongFields(body)).toEqual([]);
  });

  it("names only the first of many problems", () => {
    expect(wrongFields({ messages: Array.from({ length: 50 }, () => ({ role: "nobody" })) })).toHaveLength(20);
  });
});
