import { describe, expect, it } from "vitest";
import type { Conversation } from "../conversation.ts";
import { writeChatRequest } from "../chat/write-chat-request.ts";
import { readMessagesRequest } from "./read-messages-request.ts";

type Body = Readonly<Record<string, unknown>>;

const HI = { role: "user", content: "hi" };
const LEAST: Body = { model: "acme/m", max_tokens: 64, messages: [HI] };
const BASH = { name: "Bash", description: "runs", input_schema: { type: "object" } };
const EPHEMERAL = { cache_control: { type: "ephemeral" } };

const read = (more: Body = {}): Conversation => readMessagesRequest({ ...LEAST, ...more }, { isOnlyCounted: false });
const turnsOf = (...messages: object[]) => read({ messages }).turns;
const use = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: "ls" } });
const result = (id: string, more: object = {}) => ({ type: "tool_result", tool_use_id: id, content: "done", ...more });
const user = (...content: object[]) => ({ role: "user", content });
const assistant = (...content: object[]) => ({ role: "assistant", content });

describe("a request in the form of a conversation", () => {
  it("needs a model, a bound and a message", () => {
    expect(read()).toEqual({
      model: "acme/m",
      stream: false,
      system: [],
      turns: [{ role: "user", parts: [{ kind: "text", text: "hi" }] }],
      tools: [],
      toolChoice: null,
      parallelCalls: null,
      outputCap: 64,
      stop: [],
      temperature: null,
      topP: null,
      topK: null,
      effort: null,
      outputFormat: null,
      cacheKey: null,
    });
  });

  it("keeps every parameter that other protocols have", () => {
    const schema = { type: "object", properties: { title: { type: "string" } } };
    expect(
      read({
        stream: true,
        stop_sequences: ["END"],
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        tools: [{ ...BASH, strict: true }],
        tool_choice: { type: "tool", name: "Bash", disable_parallel_tool_use: true },
        output_config: { effort: "max", format: { type: "json_schema", schema } },
      }),
    ).toMatchObject({
      stream: true,
      stop: ["END"],
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      tools: [{ name: "Bash", namespace: null, description: "runs", schema: { type: "object" }, strict: true }],
      toolChoice: { kind: "tool", tool: { name: "Bash", namespace: null } },
      parallelCalls: false,
      effort: "max",
      outputFormat: { kind: "schema", name: "answer", schema, strict: null },
    });
  });

  it.each([
    [{ type: "disabled" }, "high", "none"],
    [{ type: "adaptive", display: "omitted" }, undefined, null],
    [{ type: "adaptive", display: "updates" }, "high", "high"],
    [{ type: "between_tools" }, "low", "low"],
    [{ type: "enabled", budget_tokens: 1_024 }, undefined, "low"],
    [{ type: "enabled", budget_tokens: 3_999 }, undefined, "low"],
    [{ type: "enabled", budget_tokens: 4_000 }, undefined, "medium"],
    [{ type: "enabled", budget_tokens: 16_000 }, undefined, "high"],
    [{ type: "enabled", budget_tokens: 16_000 }, "low", "low"],
    [undefined, "xhigh", "xhigh"],
  ])("has an effort for the thinking %o with the effort %s", (thinking, effort, expected) => {
    expect(read({ thinking, output_config: { effort } }).effort).toBe(expected);
  });

  it.each([
    [{ type: "auto" }, { kind: "auto" }],
    [{ type: "any" }, { kind: "any" }],
    [{ type: "none" }, { kind: "none" }],
  ])("has the tool choice %o", (choice, expected) => {
    expect(read({ tools: [BASH], tool_choice: choice })).toMatchObject({ toolChoice: expected, parallelCalls: null });
  });

  it("reads what Claude Code sends, and leaves out what is for Anthropic alone", () => {
    const conversation = read({
      messages: [
        user({ type: "text", text: "context" }, { type: "text", text: "say hi" }),
        { role: "system", content: [{ type: "text", text: "reminder", ...EPHEMERAL }] },
      ],
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=2.1.330" },
        { type: "text", text: "You are an agent.", ...EPHEMERAL },
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral", ttl: "1h" } },
      ],
      tools: [
        { ...BASH, eager_input_streaming: true, input_examples: [{}], ...EPHEMERAL },
        { ...BASH, name: "WebFetch", defer_loading: true },
        { name: "DeferredToolPlaceholder", description: "", input_schema: { type: "object" }, defer_loading: true },
      ],
      metadata: { user_id: '{"device_id":"1"}' },
      max_tokens: 32_000,
      thinking: { type: "adaptive", display: "omitted" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      diagnostics: {},
      safeguards: [{ type: "dangerous_tool_use" }],
      betas: ["effort-2025-11-24"],
      output_config: { effort: "high" },
      stream: true,
    });
    expect(conversation).toMatchObject({
      system: [
        { kind: "text", text: "You are an agent.", cacheMark: "5m" },
        { kind: "text", text: "Be brief.", cacheMark: "1h" },
      ],
      turns: [
        { role: "user", parts: [{ text: "context" }, { text: "say hi" }] },
        { role: "system", parts: [{ kind: "text", text: "reminder", cacheMark: "5m" }] },
      ],
      tools: [{ name: "Bash" }, { name: "WebFetch" }],
      outputCap: 32_000,
      effort: "high",
      cacheKey: null,
    });
    expect(JSON.stringify(conversation)).not.toMatch(/billing|device_id|Placeholder|dangerous/);
  });

  it("has calls, and their results in the order of the client", () => {
    const [, , answer, results] = turnsOf(
      HI,
      { role: "system", content: "later" },
      assistant({ type: "text", text: "Running it." }, use("a"), use("functions.Bash:0")),
      user(result("functions.Bash:0", { is_error: true }), result("a", EPHEMERAL)),
    );
    expect(answer?.parts.slice(1)).toEqual([
      { kind: "call", id: "a", tool: { name: "Bash", namespace: null }, input: '{"command":"ls"}' },
      { kind: "call", id: "functions.Bash:0", tool: { name: "Bash", namespace: null }, input: '{"command":"ls"}' },
    ]);
    expect(results?.parts).toEqual([
      { kind: "result", callId: "functions.Bash:0", parts: [{ kind: "text", text: "done" }], isError: true },
      { kind: "result", callId: "a", parts: [{ kind: "text", text: "done", cacheMark: "5m" }], isError: false },
    ]);
  });

  it("has results without content, with pictures, and with names of tools that were found", () => {
    const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
    const [, , results] = turnsOf(
      HI,
      assistant(use("a"), use("b"), use("c")),
      user(
        result("a", { content: undefined }),
        result("b", { content: [picture] }),
        result("c", { content: [{ type: "tool_reference", tool_name: "WebFetch" }] }),
      ),
    );
    expect(results?.parts).toMatchObject([
      { callId: "a", parts: [] },
      { callId: "b", parts: [{ kind: "image", source: { kind: "data", mediaType: "image/png", data: "AAAA" } }] },
      { callId: "c", parts: [{ kind: "text", text: "The tool WebFetch is now available." }] },
    ]);
  });

  it("keeps the text of a thought, and drops blobs of other providers", () => {
    const [, answer] = turnsOf(
      HI,
      assistant(
        { type: "thinking", thinking: "pondering", signature: "FOREIGN==" },
        { type: "thinking", thinking: "unsigned", signature: "" },
        { type: "thinking", thinking: "", signature: "OMITTED==" },
        { type: "redacted_thinking", data: "BLOB" },
        { type: "text", text: "so" },
      ),
      HI,
    );
    expect(answer?.parts).toEqual([
      { kind: "reasoning", text: "pondering", opaque: null },
      { kind: "reasoning", text: "unsigned", opaque: null },
      { kind: "text", text: "so" },
    ]);
  });

  it("has pictures, documents and search results", () => {
    const document = (source: object, more: object = {}) => ({ type: "document", source, ...more });
    const [turn] = turnsOf(
      user(
        { type: "image", source: { type: "url", url: "https://x.example/i.png" } },
        document({ type: "base64", media_type: "application/pdf", data: "JVBE" }, { title: "a.pdf" }),
        document({ type: "text", media_type: "text/plain", data: "plain" }, { title: "Title", context: "Context" }),
        document({ type: "content", content: [{ type: "text", text: "within" }] }, { citations: { enabled: true } }),
        { type: "search_result", source: "https://x.example", title: "Found", content: [{ type: "text", text: "it" }] },
      ),
    );
    expect(turn?.parts).toEqual([
      { kind: "image", source: { kind: "url", url: "https://x.example/i.png" }, detail: null },
      {
        kind: "document",
        mediaType: "application/pdf",
        data: "JVBE",
        name: "a.pdf",
        where: expect.stringMatching(/^messages\[\d\]\.content\[\d\]\.source$/),
      },
      ...["Title", "Context", "plain", "within", "Found", "https://x.example", "it"].map((text) => ({
        kind: "text",
        text,
      })),
    ]);
  });

  it("writes changes of the tools in mid-conversation as text", () => {
    const change = (type: string) => ({ type, tool: { type: "tool_reference", name: "Bash" } });
    const [, turn] = turnsOf(HI, { role: "system", content: [change("tool_addition"), change("tool_removal")] });
    expect(turn?.parts).toMatchObject([
      { text: "The tool Bash is now available." },
      { text: "The tool Bash is not available any more." },
    ]);
  });

  it("puts the mark of a whole request on its last text", () => {
    const [, last] = read({ ...EPHEMERAL, messages: [HI, user({ type: "text", text: "a" })] }).turns;
    expect(last?.parts).toEqual([{ kind: "text", text: "a", cacheMark: "5m" }]);
  });

  it("needs no bound where its tokens are only counted", () => {
    const { model, messages } = LEAST;
    expect(readMessagesRequest({ model, messages }, { isOnlyCounted: true })).toMatchObject({ outputCap: null });
  });
});

describe("a request that is written as one of chat", () => {
  it("answers calls in their order, with normal ids", () => {
    const body: unknown = JSON.parse(
      writeChatRequest(
        read({
          messages: [
            HI,
            assistant(use("functions.Bash:0"), use("b")),
            user(result("b", { content: "second" }), result("functions.Bash:0", { content: "first" })),
          ],
          tools: [BASH],
        }),
      ).toString(),
    );
    expect(body).toMatchObject({
      max_completion_tokens: 64,
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [{ id: expect.stringMatching(/^[\w-]+$/) as unknown }, { id: "b" }] },
        { role: "tool", content: "first" },
        { role: "tool", tool_call_id: "b", content: "second" },
      ],
    });
  });
});
