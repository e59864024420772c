// What another protocol than chat may ask of its provider and cannot be had here: what is kept in the provider's account, what has no
// price, and what has no form. Each is a 400 in the protocol's own envelope that names its field, before anything is asked or held.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../../../src/gateway/chat.ts";
import { usePlayground } from "../../gateway/playground.ts";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import { type Running, SECRET, startServers } from "../fakes.ts";

const playground = usePlayground();
let running: Running;
beforeAll(async () => {
  // The gateway of the test that runs: the servers are those of all.
  const gateway: Gateway = { answerChat: (call, sink) => playground.bench.gateway.answerChat(call, sink) };
  running = await startServers({ gateway });
});
beforeEach(() => {
  playground.upstream.run(json(completion()));
});
afterAll(() => running.servers.close(1_000));

type Shape = readonly [field: string, body: Readonly<Record<string, unknown>>];

function post(path: string, body: string): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${SECRET}` };
  return fetch(running.http + path, { method: "POST", headers, body });
}

/** Nothing was sent, held or recorded, and no slot of the key was taken. */
function expectNothingHappened(): void {
  const { ledger } = playground.bench;
  expect(playground.upstream.received).toHaveLength(0);
  expect([ledger.admissions, ledger.settlements, running.keys.slots]).toEqual([[], [], 0]);
}

describe("a request of Messages", () => {
  const HI = { role: "user", content: "hi" };
  const LEAST = { model: "local/m", max_tokens: 64, messages: [HI] };
  const block = (value: object, role = "user") => ({ messages: [HI, { role, content: [value] }] });
  const tool = (type: string) => ({ tools: [{ type, name: "a" }] });
  const source = (kind: string, value: object) => block({ type: kind, source: value });
  const FIRST = "messages[1].content[0]";

  const shapes: readonly Shape[] = [
    // Tools that the provider runs.
    ["tools[0].type", tool("web_search_20250305")],
    ["tools[0].type", tool("web_fetch_20250910")],
    ["tools[0].type", tool("code_execution_20250825")],
    ["tools[0].type", tool("bash_20250124")],
    ["tools[0].type", tool("text_editor_20250728")],
    ["tools[0].type", tool("computer_20250124")],
    ["tools[0].type", tool("memory_20250818")],
    ["tools[0].type", tool("mcp_toolset")],
    ["mcp_servers", { mcp_servers: [{ type: "url", url: "https://x.example", name: "a" }] }],
    [`${FIRST}.type`, block({ type: "server_tool_use", id: "a", name: "web_search", input: {} }, "assistant")],
    [`${FIRST}.type`, block({ type: "web_search_tool_result", tool_use_id: "a", content: [] }, "assistant")],
    // What is kept in the provider's account.
    ["container", { container: "container_1" }],
    ["thread", { thread: { id: "thread_1" } }],
    [`${FIRST}.type`, block({ type: "container_upload", file_id: "file_1" })],
    [`${FIRST}.source`, source("image", { type: "file", file_id: "file_1" })],
    [`${FIRST}.source`, source("document", { type: "file", file_id: "file_1" })],
    [`${FIRST}.source.type`, source("document", { type: "url", url: "https://x.example/a.pdf" })],
    // Other models, other prices.
    ["fallbacks", { fallbacks: [{ model: "acme/other" }] }],
    ["compaction", { compaction: { enabled: true } }],
    ["context_management.edits[0]", { context_management: { edits: [{ type: "compact_20260112" }] } }],
    ["service_tier", { service_tier: "priority" }],
    ["speed", { speed: "fast" }],
    ["inference_geo", { inference_geo: "us" }],
    // Results of no call, twice the same call, no form.
    ["messages[1].content", block({ type: "tool_result", tool_use_id: "none", content: "x" })],
    [`${FIRST}.type`, block({ type: "input_audio" })],
    ["max_tokens", { max_tokens: null }],
  ];

  it.each(shapes)("is refused for %s in %j", async (field, more) => {
    const response = await post("/v1/messages", JSON.stringify({ ...LEAST, ...more }));
    const body = (await response.json()) as { error: { message: string } };
    expect([response.status, body]).toMatchObject([
      400,
      {
        type: "error",
        error: { type: "invalid_request_error", details: { error_code: "validation_error" } },
        request_id: response.headers.get("request-id"),
      },
    ]);
    expect(body.error.message).toContain(field);
    expectNothingHappened();
  });

  it("is refused for a name that comes twice, wherever it is", async () => {
    const text = JSON.stringify(LEAST).replace('"role":"user"', '"role":"user","role":"user"');
    const response = await post("/v1/messages", text);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { type: "invalid_request_error" } }]);
    expectNothingHappened();
  });

  it.each([
    { context_management: { edits: [{ type: "clear_thinking_20251015" }] }, diagnostics: {}, safeguards: [{}] },
    { service_tier: "auto", speed: "standard", inference_geo: "global", mcp_servers: [], fallbacks: [] },
    { metadata: { user_id: "a" }, tools: [{ name: "a", input_schema: {}, input_examples: [{}] }] },
  ])("is answered with %j, which changes nothing here", async (more) => {
    const response = await post("/v1/messages", JSON.stringify({ ...LEAST, ...more }));
    expect(response.status).toBe(200);
    await response.text();
  });
});

describe("a request of Responses", () => {
  const LEAST = { model: "local/m", input: "hi" };
  const item = (value: object) => ({ input: [{ role: "user", content: "hi" }, value] });
  const part = (value: object) => item({ role: "user", content: [value] });
  const tool = (type: string) => ({ tools: [{ type }] });

  const shapes: readonly Shape[] = [
    // Tools that the provider runs.
    ["tools[0].type", tool("file_search")],
    ["tools[0].type", tool("code_interpreter")],
    ["tools[0].type", tool("image_generation")],
    ["tools[0].type", tool("mcp")],
    ["tools[0].type", tool("computer_use_preview")],
    ["tools[0].type", tool("shell")],
    ["tools[0].type", tool("apply_patch")],
    ["input[1].type", item({ type: "code_interpreter_call", id: "a" })],
    ["input[1].type", item({ type: "mcp_call", id: "a" })],
    // What is kept in the provider's account.
    ["previous_response_id", { previous_response_id: "resp_1" }],
    ["conversation", { conversation: { id: "conv_1" } }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["background", { background: true }],
    ["input[1].type", item({ type: "item_reference", id: "msg_1" })],
    ["input[1].type", item({ type: "compaction", encrypted_content: "a" })],
    ["input[1].type", item({ type: "compaction_trigger" })],
    ["input[1].content[0].file_id", part({ type: "input_file", file_id: "file_1" })],
    ["input[1].content[0].file_id", part({ type: "input_image", file_id: "file_1" })],
    ["input[1].content[0].file_url", part({ type: "input_file", file_url: "https://x.example/a.pdf" })],
    // Other prices.
    ["service_tier", { service_tier: "flex" }],
    ["service_tier", { service_tier: "priority" }],
    ["speed", { speed: "fast" }],
    ["inference_geo", { inference_geo: "us" }],
    ["prompt_cache_options", { prompt_cache_options: { ttl: "12h" } }],
    ["modalities", { modalities: ["audio"] }],
    // Results of no call, and no form.
    ["input[1].call_id", item({ type: "function_call_output", call_id: "none", output: "x" })],
    ["input[1].content[0].type", part({ type: "input_audio", input_audio: {} })],
    ["stop", { stop: ["END"] }],
    ["n", { n: 2 }],
    ["logprobs", { logprobs: true }],
    ["logit_bias", { logit_bias: { 1: 1 } }],
    ["frequency_penalty", { frequency_penalty: 1 }],
    ["presence_penalty", { presence_penalty: 1 }],
  ];

  it.each(shapes)("is refused for %s in %j", async (field, more) => {
    const response = await post("/v1/responses", JSON.stringify({ ...LEAST, ...more }));
    const body = (await response.json()) as { error: { message: string } };
    expect([response.status, body]).toMatchObject([
      400,
      { error: { type: "invalid_request_error", code: "validation_error", param: field } },
    ]);
    expect(body.error.message).toContain(field);
    expectNothingHappened();
  });

  it("is refused for a name that comes twice, wherever it is", async () => {
    const response = await post(
      "/v1/responses",
      '{"model":"local/m","input":[{"role":"user","role":"user","content":"a"}]}',
    );
    expect([response.status, await response.json()]).toMatchObject([400, { error: { type: "invalid_request_error" } }]);
    expectNothingHappened();
  });

  it.each([
    { include: ["message.output_text.logprobs"], top_logprobs: 3, truncation: "auto", seed: 4 },
    { tools: [{ type: "web_search" }, { type: "tool_search" }], store: true, client_metadata: { a: "b" } },
    { service_tier: "auto", safety_identifier: "a", prompt_cache_key: "k", frequency_penalty: 0 },
  ])("is answered with %j, which changes nothing here", async (more) => {
    const response = await post("/v1/responses", JSON.stringify({ ...LEAST, ...more }));
    expect(response.status).toBe(200);
    await response.text();
  });
});
