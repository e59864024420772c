// The Messages protocol over HTTP as Anthropic's clients use it. The lead adds a test with their SDK.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCountWindows } from "../../../src/gateway/conversation/count-window.ts";
import { createMessagesService } from "../../../src/gateway/messages-service.ts";
import { usePlayground } from "../../gateway/playground.ts";
import { chunk, json, ordinaryEvents, stream, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { KEY, modelOf, openBench, RATE, upstreamOf } from "../../gateway/support.ts";
import { startServers, type Running, SECRET } from "../fakes.ts";

const playground = usePlayground();
const SOLD = modelOf("local/m");
let running: Running;
beforeEach(async () => {
  const { gateway } = playground.bench;
  const messages = createMessagesService({
    gateway,
    keys: { takeSlot: async () => RATE },
    catalog: { snapshot: async () => ({ models: new Map([[SOLD.id, SOLD]]), upstreams: new Map(), takenAtMs: 0 }) },
    allowedModelsOf: () => null,
    ...createCountWindows(),
    caller: async () => ({ key: KEY, requestId: "00000000-0000-7000-8000-000000000000", receivedAtMs: 0 }),
  });
  running = await startServers({ gateway, implementations: { messages } });
});
afterEach(() => running.servers.close(1_000));

const ASK = { model: SOLD.id, max_tokens: 100, messages: [{ role: "user", content: "hi" }] };

function post(path: string, body: object, headers: Record<string, string> = { authorization: `Bearer ${SECRET}` }) {
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
  return fetch(`${running.http}/v1/messages${path}`, { ...init, body: JSON.stringify(body) });
}

describe("a client of Messages", () => {
  it("may send its key as x-api-key, and a query", async () => {
    playground.upstream.run(stream(wire(ordinaryEvents())));
    const response = await post("?beta=true", { ...ASK, stream: true }, { "x-api-key": SECRET });
    expect(response.status).toBe(200);
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
    const text = await response.text();
    expect(text.startsWith('event: message_start\ndata: {"type":"message_start"')).toBe(true);
    expect(text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  });

  it("gets the same events however the upstream's bytes are split", async () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "Bash", arguments: '{"x":"é"}' } };
    const bytes = Buffer.from(
      wire([chunk({ content: "aé€🙂" }), chunk({ tool_calls: [call] }, "tool_calls"), usageChunk(), "[DONE]"]),
    );
    const texts = new Set<string>();
    // From the letter before the text's first character of several bytes to the one behind its last.
    const from = bytes.indexOf("aé€");
    for (let at = from; at <= from + Buffer.byteLength("aé€🙂"); at += 1) {
      playground.upstream.run(stream(bytes.subarray(0, at), bytes.subarray(at)));
      const text = await (await post("", { ...ASK, stream: true })).text();
      texts.add(text.replaceAll(/msg_[0-9a-f-]+/g, "msg"));
    }
    expect([...texts]).toHaveLength(1);
    expect([...texts][0]).toContain('"text":"aé€🙂"');
    expect([...texts][0]).toContain('"partial_json":"{\\"x\\":\\"é\\"}"');
  });

  it("gets Anthropic's errors, with a header for the id of the request", async () => {
    const wrong = await post("", { ...ASK, container: "container_1" });
    const id = wrong.headers.get("request-id");
    expect(wrong.status).toBe(400);
    expect(await wrong.json()).toEqual({
      type: "error",
      error: {
        type: "invalid_request_error",
        message: expect.stringContaining("container") as string,
        details: { error_code: "validation_error" },
      },
      request_id: id,
    });
    const unknown = await post("", { ...ASK, model: "local/x" });
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { type: "not_found_error" } }]);
    const stranger = await post("", ASK, { "x-api-key": "gw_wrong" });
    expect([stranger.status, await stranger.json()]).toMatchObject([401, { error: { type: "authentication_error" } }]);
  });

  it("reads the words that make Claude Code shorten a conversation", async () => {
    const error = { message: "This model's maximum context length is 8 tokens.", code: "context_length_exceeded" };
    playground.upstream.run(json(JSON.stringify({ error }), 400));
    const answer = (await (await post("", ASK)).json()) as { error: { message: string } };
    expect(answer.error.message).toMatch(/^prompt is too long/);
  });
});

describe("a client of Messages whose upstream speaks Messages", () => {
  const MESSAGE = { id: "m", type: "message", role: "assistant", model: "m-2026", content: [], stop_reason: null };
  const EVENTS = [
    { type: "message_start", message: { ...MESSAGE, usage: { input_tokens: 9, output_tokens: 1 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: null } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "é" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);

  beforeEach(async () => {
    await running.servers.close(0);
    const upstreams = [upstreamOf("local", playground.upstream.baseUrl, { kind: "anthropic" })];
    playground.bench = openBench({ models: [SOLD], upstreams });
    running = await startServers({ gateway: playground.bench.gateway, implementations: {} });
  });

  it("reads its events as they came, with the bill at the end", async () => {
    playground.upstream.run(stream(EVENTS.join("")));
    const headers = { "x-api-key": SECRET, "anthropic-version": "2026-10-21", "anthropic-beta": "effort-2025-11-24" };
    const text = await (await post("?beta=true", { ...ASK, stream: true }, headers)).text();
    expect(text).toContain(EVENTS.slice(1, 4).join(""));
    expect(text).toContain('"cost_idr":"');
    expect(text.endsWith(EVENTS.at(-1) ?? "")).toBe(true);
    expect(playground.upstream.received[0]?.headers).toMatchObject({
      "anthropic-version": "2026-10-21",
      "anthropic-beta": "effort-2025-11-24",
    });
  });

  it("gets a whole answer, and its cost in a header", async () => {
    const usage = { input_tokens: 9, output_tokens: 2 };
    const answer = { ...MESSAGE, content: [{ type: "text", text: "é" }], stop_reason: "end_turn", usage };
    playground.upstream.run(json(JSON.stringify(answer)));
    const response = await post("", ASK);
    const { cost_idr: cost } = ((await response.json()) as { usage: { cost_idr: string } }).usage;
    expect(response.headers.get("x-saldo-cost-idr")).toBe(cost);
  });
});

describe("a count of tokens", () => {
  it("needs no bound of the answer and no slot of its key, and ignores what is not counted", async () => {
    running.keys.full = true;
    const { max_tokens: _, ...counted } = ASK;
    const tools = [
      { name: "Bash", description: "runs", input_schema: { type: "object", properties: { n: { minimum: 1.5 } } } },
    ];
    const responses = await Promise.all(
      Array.from({ length: 25 }, () =>
        post(
          "/count_tokens?beta=true",
          { ...counted, tools, system: "Be brief.", unknown: 1 },
          { "x-api-key": SECRET },
        ),
      ),
    );
    for (const response of responses) {
      expect(response.status).toBe(200);
      expect(response.headers.has("x-ratelimit-limit-requests")).toBe(false);
    }
    const counts = await Promise.all(responses.map((response) => response.json()));
    expect(new Set(counts.map((count) => JSON.stringify(count))).size).toBe(1);
    expect((counts[0] as { input_tokens: number }).input_tokens).toBeGreaterThan(346);
  });

  it("names what is wrong", async () => {
    const file = { type: "image", source: { type: "file", file_id: "file_1" } };
    const response = await post("/count_tokens", { model: SOLD.id, messages: [{ role: "user", content: [file] }] });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("messages[0].content[0].source");
  });
});
