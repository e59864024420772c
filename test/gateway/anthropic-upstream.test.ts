// What is special about an upstream of Anthropic's, and that the requests we write are ones that it takes.

import { afterEach, describe, expect, it } from "vitest";
import type { Accepts } from "../../src/catalog/catalog-model.ts";
import { LEAST_ACCEPTED } from "../../src/catalog/catalog-model.ts";
import type { AnswerEvent } from "../../src/gateway/conversation/answer-events.ts";
import type { Conversation, Part, Tool, Turn } from "../../src/gateway/conversation/conversation.ts";
import { MessagesAnswerReader } from "../../src/gateway/conversation/messages/read-messages-answer.ts";
import { writeMessagesRequest } from "../../src/gateway/conversation/messages/write-messages-request.ts";
import { readMessagesUsage } from "../../src/gateway/metering/messages-usage.ts";
import { createAnthropicUpstream } from "../../src/gateway/upstreams/anthropic/anthropic-upstream.ts";
import type { UpstreamFailure } from "../../src/gateway/upstreams/chat-upstream.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fakes/anthropic.ts";
import type { Json } from "./fakes/anthropic-wire.ts";
import { upstreamOf } from "./support.ts";

const fakes: FakeAnthropic[] = [];
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.stop();
});

type Result = { readonly text: string; readonly failure: UpstreamFailure | null; readonly id: string | null };

async function open(accepts: Partial<Accepts> = {}, path = "") {
  const fake = await startFakeAnthropic(accepts);
  fakes.push(fake);
  const upstream = createAnthropicUpstream(upstreamOf("claude", `${fake.baseUrl}${path}`), { apiKey: "sk-ant-1" });
  const send = async (body: Buffer, headers?: readonly string[]): Promise<Result> => {
    const parts: Buffer[] = [];
    const ids: (string | null)[] = [];
    const { promise, resolve } = Promise.withResolvers<UpstreamFailure | null>();
    upstream.call(
      {
        requestId: "r1",
        attempt: 1,
        model: "opus",
        body,
        stream: false,
        ...(headers === undefined ? {} : { headers }),
      },
      {
        onAnswer: ({ upstreamRequestId }) => void ids.push(upstreamRequestId),
        onData: (bytes) => void parts.push(bytes),
        onEnd: () => resolve(null),
        onFailure: resolve,
      },
    );
    return { failure: await promise, text: Buffer.concat(parts).toString("utf8"), id: ids[0] ?? null };
  };
  const said = (text: string, headers?: readonly string[]) =>
    send(
      Buffer.from(JSON.stringify({ model: "opus", max_tokens: 64, messages: [{ role: "user", content: text }] })),
      headers,
    );
  return { fake, send, said, accepts: { ...LEAST_ACCEPTED, ...accepts } };
}

describe("an upstream of Anthropic's", () => {
  it.each(["", "/v1"])(
    "is called under its path, with its credential and version, at a base URL with %o",
    async (path) => {
      const { fake, said } = await open({}, path);
      expect((await said("hi")).id).toBe("req_1");
      expect(fake.requests[0]).toMatchObject({
        path: "/v1/messages",
        headers: { "x-api-key": "sk-ant-1", "anthropic-version": "2023-06-01" },
      });
      expect(fake.requests[0]?.headers).not.toHaveProperty("authorization");
      await said("hi", ["anthropic-version", "2026-10-21", "anthropic-beta", "effort-2025-11-24"]);
      expect(fake.requests[1]?.headers).toMatchObject({
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "effort-2025-11-24",
      });
    },
  );

  it("refuses a prompt that is too long in its own words", async () => {
    const { said } = await open();
    expect((await said("!long")).failure).toMatchObject({
      kind: "refused",
      message: "prompt is too long: 200001 tokens > 200000 maximum",
      refusedFor: "context_length_exceeded",
    });
  });

  it.each(["!credit", "!529", "!503"])(
    "fails for %s without a cost, and without a word to the customer",
    async (text) => {
      const { said } = await open();
      const { failure } = await said(text);
      expect(failure).toMatchObject({ kind: "unbilled" });
      expect(failure).not.toHaveProperty("message");
    },
  );
});

const TOOLS: readonly Tool[] = ["look", "see", "wait"].map((name) => ({
  name,
  namespace: name === "wait" ? "agent" : null,
  description: `${name}s at something that is described here at some length. `.repeat(30),
  schema: name === "see" ? null : { type: "object", properties: { path: { type: "string" } } },
  strict: null,
}));
const BASE: Conversation = {
  model: "acme/opus",
  stream: false,
  system: [{ kind: "text", text: "Be brief. ".repeat(200) }],
  turns: [],
  tools: TOOLS,
  toolChoice: null,
  parallelCalls: null,
  outputCap: null,
  stop: [],
  temperature: 0.5,
  topP: null,
  topK: null,
  effort: "high",
  outputFormat: null,
  cacheKey: null,
};
const user = (...parts: Part[]): Turn => ({ role: "user", parts });
const text = (words: string): Part => ({ kind: "text", text: words });

/** The turn of the assistant that a client sends back, in the form of a conversation. */
function turnOf(events: readonly AnswerEvent[]): Turn {
  const parts: Part[] = [];
  let thought = "";
  for (const event of events) {
    if (event.kind === "reasoning") thought += event.text;
    else if (event.kind === "opaque") {
      parts.push({ kind: "reasoning", text: thought, opaque: { origin: event.origin, blob: event.blob } });
      thought = "";
    } else if (event.kind === "text") parts.push(text(event.text));
    else if (event.kind === "call") {
      const input = events
        .flatMap((each) => (each.kind === "input" && each.call === event.call ? [each.text] : []))
        .join("");
      parts.push({ kind: "call", id: event.id, tool: { name: event.name, namespace: null }, input });
    }
  }
  return { role: "assistant", parts };
}

describe.each<Partial<Accepts>>([
  { thinking: "adaptive" },
  { thinking: "manual", sampling: true, prefill: true },
  { thinking: "none", sampling: true, cacheMarkers: false },
])("a conversation of another protocol with a model that accepts %o", (accepted) => {
  it("goes on through parallel calls with their thoughts, and is billed by what the upstream counted", async () => {
    const { fake, send, accepts } = await open(accepted);
    const ask = async (turns: readonly Turn[]): Promise<AnswerEvent[]> => {
      const body = writeMessagesRequest(
        { ...BASE, turns },
        {
          model: "opus",
          origin: "claude",
          outputBound: 4_000,
          accepts,
          cacheWrites: "short",
          takesDocuments: false,
          takesServiceTier: false,
          userTag: "u-1",
        },
      );
      const { failure, text: json } = await send(body);
      expect(failure).toBeNull();
      const answer = JSON.parse(json) as Json;
      const reader = new MessagesAnswerReader("claude");
      const { input, read, written5m, written1h, output } = fake.truths.at(-1) ?? {};
      expect(readMessagesUsage(answer["usage"] as Json)?.counts).toMatchObject({
        inputTokensUncached: input,
        inputTokensCached: read,
        outputTokens: output,
      });
      const events = [...reader.read(answer), ...reader.end()];
      expect(events.at(-1)).toMatchObject({ usage: { written: written5m, written1h } });
      return events;
    };

    const turns: Turn[] = [{ role: "system", parts: [text("Start.")] }, user(text("!callall and !redacted"))];
    const called = await ask(turns);
    const calls = called.filter((event) => event.kind === "call");
    expect(calls).toHaveLength(3);
    expect(called).toContainEqual({ kind: "finish", reason: "calls" });
    const results = calls.map(({ id }, at): Part => ({
      kind: "result",
      callId: id,
      parts: [{ kind: "text", text: `found ${at}` }],
      isError: at === 1,
    }));
    turns.push(turnOf(called), user(text("and now?"), ...results.toReversed()));
    expect(turnOf(await ask(turns)).parts.at(-1)).toEqual(text("and now?"));

    const isMarked = accepts.cacheMarkers;
    const { read = 0, written5m = 0 } = fake.truths.at(-1) ?? {};
    expect([read > 0, written5m > 0]).toEqual([isMarked, isMarked]);
    const thinks = accepts.thinking !== "none";
    expect(fake.truths.every(({ thinking }) => thinking > 0 === thinks)).toBe(true);
    const blob = called.find((event) => event.kind === "opaque")?.blob;
    expect(blob !== undefined).toBe(thinks);
    expect(JSON.stringify(fake.lastBody)).toContain(thinks ? JSON.stringify(blob) : "");
  });
});
