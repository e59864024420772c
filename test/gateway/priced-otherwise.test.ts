// Reports of what the catalog has no price for: the bill is that of the tokens, the record names it, and operators see it.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UpstreamKind } from "../../src/catalog/catalog-model.ts";
import {
  completion,
  chunk,
  json,
  type ScriptedUpstream,
  startScriptedUpstream,
  stream,
  usageChunk,
  wire,
} from "./scripted-upstream.ts";
import { chat, modelOf, openBench, upstreamOf } from "./support.ts";

let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = await startScriptedUpstream();
});
afterAll(() => upstream.stop());

type Json = Readonly<Record<string, unknown>>;
type Wire = {
  readonly kind: UpstreamKind;
  readonly usage: Json;
  /** An answer with a usage, and with members beside it. */
  readonly whole: (usage: Json, beside: Json) => string;
  readonly streamed: (usage: Json, beside: Json) => string;
};

const named = (events: readonly Json[]): string =>
  events.map((event) => `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`).join("");

const CHAT: Wire = {
  kind: "openai-compatible",
  usage: { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 },
  whole: (usage, beside) => completion({ usage, ...beside }),
  streamed: (usage, beside) =>
    wire([
      chunk({ content: "Halo!" }, null, beside),
      chunk({}, "stop", beside),
      JSON.stringify({ ...(JSON.parse(usageChunk(usage)) as Json), ...beside }),
      "[DONE]",
    ]),
};

const message = (more: Json): Json => ({ id: "msg_1", type: "message", role: "assistant", model: "m", ...more });
const MESSAGES: Wire = {
  kind: "anthropic",
  usage: { input_tokens: 11, output_tokens: 3 },
  whole: (usage) =>
    JSON.stringify(message({ content: [{ type: "text", text: "Halo!" }], stop_reason: "end_turn", usage })),
  streamed: (usage) =>
    named([
      { type: "message_start", message: message({ content: [], usage: { ...usage, output_tokens: 1 } }) },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Halo!" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ]),
};

const ITEM = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Halo!", annotations: [] }],
};
const response = (more: Json): Json => ({ id: "resp_1", object: "response", model: "m", status: "completed", ...more });
const RESPONSES: Wire = {
  kind: "openai-responses",
  usage: { input_tokens: 11, output_tokens: 3, total_tokens: 14 },
  whole: (usage, beside) => JSON.stringify(response({ output: [ITEM], usage, ...beside })),
  streamed: (usage, beside) =>
    named([
      { type: "response.created", response: response({ status: "in_progress", output: [], usage: null }) },
      { type: "response.output_item.added", output_index: 0, item: { ...ITEM, content: [] } },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, item_id: "msg_1", delta: "Halo!" },
      { type: "response.output_item.done", output_index: 0, item: ITEM },
      { type: "response.completed", response: response({ output: [ITEM], usage, ...beside }) },
    ]),
};

const GEMINI: Wire = {
  kind: "gemini",
  usage: { promptTokenCount: 11, candidatesTokenCount: 3, totalTokenCount: 14 },
  whole: (usageMetadata) => JSON.stringify(piece(usageMetadata)),
  streamed: (usageMetadata) => `data: ${JSON.stringify(piece(usageMetadata))}\r\n\r\n`,
};
function piece(usageMetadata: Json): Json {
  const content = { role: "model", parts: [{ text: "Halo!" }] };
  return { candidates: [{ index: 0, content, finishReason: "STOP" }], usageMetadata };
}

async function billed({ kind, usage, ...answer }: Wire, more: Json, beside: Json, isStreamed: boolean) {
  const bench = openBench({
    models: [modelOf("local/m")],
    upstreams: [upstreamOf("local", upstream.baseUrl, { kind })],
  });
  const sent = { ...usage, ...more };
  upstream.run(isStreamed ? stream(answer.streamed(sent, beside)) : json(answer.whole(sent, beside)));
  const { outcome } = await bench.send(chat("local/m", "hi", { stream: isStreamed }));
  await bench.upstreams.close();
  expect(outcome).toBe("answered");
  return { settlement: bench.ledger.settlement, events: bench.events };
}

const REPORTS: readonly [string, Wire, Json, Json][] = [
  ["a tier of chat", CHAT, {}, { service_tier: "priority" }],
  ["a cheaper tier of chat", CHAT, {}, { service_tier: "flex" }],
  ["a tier of Messages", MESSAGES, { service_tier: "priority" }, {}],
  ["a fast answer", MESSAGES, { speed: "fast" }, {}],
  ["another place", MESSAGES, { inference_geo: "us" }, {}],
  ["a search of Messages", MESSAGES, { server_tool_use: { web_search_requests: 1 } }, {}],
  [
    "a compaction beside the answer",
    MESSAGES,
    { iterations: [{ type: "compaction", input_tokens: 9_000, output_tokens: 90 }, { type: "message" }] },
    {},
  ],
  ["a tier of Responses", RESPONSES, {}, { service_tier: "priority" }],
  ["a search of Responses", RESPONSES, {}, { tool_usage: { web_search: { num_requests: 2 } } }],
  ["a tier of Gemini", GEMINI, { serviceTier: "PRIORITY" }, {}],
  ["a kind of traffic", GEMINI, { trafficType: "ON_DEMAND_PRIORITY" }, {}],
];

const STANDARD: readonly [string, Wire, Json, Json][] = [
  ["chat", CHAT, {}, { service_tier: "default" }],
  ["chat at Groq", CHAT, {}, { service_tier: "on_demand" }],
  [
    "Messages",
    MESSAGES,
    {
      service_tier: "standard",
      speed: "standard",
      inference_geo: "not_available",
      server_tool_use: { web_search_requests: 0 },
      iterations: [{ type: "message", input_tokens: 11 }],
    },
    {},
  ],
  ["Responses", RESPONSES, {}, { service_tier: "default", tool_usage: { web_search: { num_requests: 0 } } }],
  ["Gemini", GEMINI, { trafficType: "ON_DEMAND", serviceTier: "standard" }, {}],
];

describe.each([true, false])("an answer that is streamed: %s", (isStreamed) => {
  it.each(REPORTS)("with %s is billed by its tokens, and noted for the operator", async (_name, of, more, beside) => {
    const { settlement, events } = await billed(of, more, beside, isStreamed);
    expect(settlement).toMatchObject({ inputTokensUncached: 11, outputTokens: 3, basis: "exact", clamped: false });
    expect(settlement.metering?.rules).toEqual(["priced_otherwise"]);
    const { requestId } = settlement;
    expect(events).toEqual([{ kind: "usage_unpriced", requestId, upstream: "local" }]);
  });

  it.each(STANDARD)("with what is usual in %s is not noted", async (_name, of, more, beside) => {
    const { settlement, events } = await billed(of, more, beside, isStreamed);
    expect(settlement).toMatchObject({ inputTokensUncached: 11, outputTokens: 3, basis: "exact" });
    expect(settlement.metering).toBeUndefined();
    expect(events).toEqual([]);
  });
});
