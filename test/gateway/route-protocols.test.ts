// Requests whose routes speak another protocol than their client: which routes may take them, what an upstream is sent beside the body,
// whose an answer is, and what a retry gets.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CatalogModel } from "../../src/catalog/catalog-model.ts";
import { answerConversation } from "../../src/gateway/conversation/answer-conversation.ts";
import { messagesProtocol } from "../../src/gateway/conversation/messages/messages-protocol.ts";
import type { ClientProtocol } from "../../src/gateway/conversation/protocol.ts";
import { responsesProtocol } from "../../src/gateway/conversation/responses/responses-protocol.ts";
import { RpcOutput } from "../../src/gateway/conversation/rpc-output.ts";
import { readKeptAnswer, writeKeptAnswer } from "../../src/gateway/retries/kept-answer.ts";
import type { Retries } from "../../src/gateway/retries/retries.ts";
import { ValidationError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type FakeAnthropic, startFakeAnthropic } from "./fakes/anthropic.ts";
import type { Json } from "./fakes/anthropic-wire.ts";
import { MATRIX_CLIENTS } from "./matrix-clients.ts";
import { completion, json, type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";
import { type Bench, chat, KEY, modelOf, openBench, RATE, until, upstreamOf } from "./support.ts";

let claude: FakeAnthropic;
let local: ScriptedUpstream;
let bench: Bench | null = null;

beforeAll(async () => {
  claude = await startFakeAnthropic({ thinking: "adaptive" });
  local = await startScriptedUpstream();
});
beforeEach(() => {
  claude.requests.length = 0;
  local.run(json(completion()));
});
afterAll(async () => {
  await bench?.upstreams.close();
  await claude.stop();
  await local.stop();
});

const ACCEPTS = { thinking: "adaptive", sampling: false, prefill: false, cacheMarkers: true } as const;
const RUPIAH = 1_000_000n;
const WRITES = { cacheWrite: 6_250n * RUPIAH, cacheWrite1h: 10_000n * RUPIAH };

function open(
  routes: readonly ("claude" | "local")[],
  { model, deps }: { readonly model?: Partial<CatalogModel>; readonly deps?: Parameters<typeof openBench>[0] } = {},
): Bench {
  bench = openBench({
    ...deps,
    models: [
      modelOf("acme/m", {
        accepts: ACCEPTS,
        otherPrices: WRITES,
        routes: routes.map((upstream) => ({ upstream, model: "m" })),
        ...model,
      }),
    ],
    upstreams: [
      upstreamOf("claude", claude.baseUrl, { kind: "anthropic", chargesCacheWrites: true }),
      upstreamOf("local", local.baseUrl),
    ],
  });
  return bench;
}

type Sent = {
  readonly protocol?: ClientProtocol;
  readonly output?: RpcOutput;
  readonly headers?: Record<string, string>;
};

async function send(
  { gateway }: Bench,
  body: object,
  { protocol = messagesProtocol, output = new RpcOutput(AbortSignal.any([])), headers = {} }: Sent = {},
): Promise<unknown> {
  const call = {
    requestId: uuidv7(),
    receivedAtMs: Date.now(),
    key: KEY,
    headers,
    body: Buffer.from(JSON.stringify(body)),
  };
  const keys = { takeSlot: () => Promise.resolve(RATE) };
  return answerConversation({ gateway, keys, protocol }, call, output).catch((error: unknown) => error);
}

const MESSAGE = { model: "acme/m", max_tokens: 64, messages: [{ role: "user", content: "hi" }] };
const MARKED = { ...MESSAGE, system: [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }] };

describe("a request that has no form in the protocol of a route", () => {
  it("is refused by its field, and nothing is held or asked", async () => {
    const opened = open(["claude"]);
    const { error } = await opened.send(chat("acme/m", "hi", { n: 2 }));
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ details: [{ field: "n", rule: "unsupported" }] });
    expect([opened.ledger.admissions, claude.requests]).toEqual([[], []]);
  });

  it("is refused where a member is not known here, so that nothing unpriced passes", async () => {
    const opened = open(["claude"]);
    const error = await send(opened, { ...MESSAGE, of_next_month: 1, nothing: null });
    expect(error).toMatchObject({ details: [{ field: "of_next_month", rule: "unknown" }] });
    expect([opened.ledger.admissions, claude.requests]).toEqual([[], []]);
    expect(await send(open(["claude", "local"]), { ...MESSAGE, of_next_month: 1 })).toBe("answered");
    expect([claude.requests.length, local.received.length]).toEqual([0, 1]);
  });

  it("goes to the routes that can take it", async () => {
    const { outcome } = await open(["claude", "local"]).send(chat("acme/m", "hi", { n: 2 }));
    expect(outcome).toBe("answered");
    expect([claude.requests.length, local.received.length]).toEqual([0, 1]);
  });

  it.each<[string, Partial<CatalogModel>, object, unknown]>([
    ["without their prices", { otherPrices: null }, MARKED, "system[0].cache_control"],
    [
      "for an hour without the price of it",
      { otherPrices: { cacheWrite: WRITES.cacheWrite } },
      { ...MESSAGE, cache_control: { type: "ephemeral", ttl: "1h" } },
      "cache_control",
    ],
  ])("is refused where it asks for cache writes %s", async (_name, model, body, field) => {
    const { ledger, ...opened } = open(["claude"], { model });
    expect(await send({ ledger, ...opened }, body)).toMatchObject({ details: [{ field, rule: "unpriced" }] });
    expect([ledger.admissions, claude.requests]).toEqual([[], []]);
  });
});

describe("what an upstream of the client's own protocol is sent", () => {
  it("has the client's version and betas, and a name for the customer that is not its own", async () => {
    const headers = { "anthropic-version": "2026-10-21", "anthropic-beta": "effort-2025-11-24,mcp-client-2025-04-04" };
    const body = { ...MARKED, metadata: { user_id: "device-1" } };
    expect(await send(open(["claude"]), body, { headers })).toBe("answered");
    const [sent] = claude.requests;
    expect(sent?.headers).toMatchObject({ "anthropic-version": "2026-10-21", "anthropic-beta": "effort-2025-11-24" });
    const user = (claude.lastBody["metadata"] as Json)["user_id"];
    expect(user).toMatch(/^[0-9a-f]{32}$/);
    expect(sent?.body).toEqual({ ...MARKED, model: "m", service_tier: "standard_only", metadata: { user_id: user } });
  });

  it("never has more output than what is held for", async () => {
    const { ledger, ...opened } = open(["claude"]);
    ledger.admitWith = ({ leastAmount }) => ({ outcome: "granted", amount: leastAmount, rate: RATE });
    await send({ ledger, ...opened }, { ...MESSAGE, max_tokens: 4_000 });
    expect(claude.lastBody["max_tokens"]).toBe(256);
  });

  it("has room for an answer behind its thoughts, whatever the balance is", async () => {
    const { ledger, ...opened } = open(["claude"], { model: { accepts: { ...ACCEPTS, thinking: "manual" } } });
    ledger.admitWith = ({ leastAmount }) => ({ outcome: "granted", amount: leastAmount, rate: RATE });
    const thinking = { type: "enabled", budget_tokens: 9_000 };
    await send({ ledger, ...opened }, { ...MESSAGE, max_tokens: 16_000, thinking });
    expect(claude.lastBody).toMatchObject({ max_tokens: 9_256, thinking });
    ledger.admitWith = () => ({ outcome: "refused", available: 1n, rate: RATE });
    const refused = await send({ ledger, ...opened }, { ...MESSAGE, max_tokens: 16_000, thinking });
    expect(refused).toMatchObject({ code: "insufficient_balance" });
    expect(claude.requests).toHaveLength(1);
  });

  it("has nothing that its model refuses, or is refused by its field", async () => {
    const opened = open(["claude"]);
    expect(await send(opened, { ...MESSAGE, temperature: 0.5, top_k: 3 })).toBe("answered");
    expect(claude.lastBody).not.toHaveProperty("temperature");
    const begun = { messages: [...MESSAGE.messages, { role: "assistant", content: "{" }] };
    expect(await send(opened, { ...MESSAGE, ...begun })).toMatchObject({
      details: [{ field: "messages", rule: "prefill" }],
    });
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    const manual = open(["claude"], { model: { accepts: { ...ACCEPTS, thinking: "manual" } } });
    const error = await send(manual, { ...MESSAGE, max_tokens: 2_000, thinking });
    expect(error).toMatchObject({ details: [{ field: "thinking.budget_tokens", rule: "max" }] });
    expect(claude.requests).toHaveLength(1);
    expect(manual.ledger.admissions).toEqual([]);
  });
});

describe("bytes between a client and an upstream of the same protocol", () => {
  const START = { id: "msg_1", type: "message", role: "assistant", content: [], model: "m-2026", stop_reason: null };
  const USAGE = { input_tokens: 20, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 1 };
  const eventOf = (data: Json): string => `event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`;
  /** What only Anthropic's own clients know, and what is not known yet. */
  const middle = [
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "ping" },
    { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "EqQB+/==" } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "", citations: [] } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "\u00e9" } },
    { type: "content_block_delta", index: 1, delta: { type: "citations_delta", citation: { cited_text: "a" } } },
    { type: "news_of_next_month", index: 1 },
    { type: "content_block_stop", index: 1 },
  ].map(eventOf);

  function openRaw(more: Partial<CatalogModel> = { hiddenOutput: true }): Bench {
    bench = openBench({
      models: [modelOf("acme/m", { otherPrices: WRITES, routes: [{ upstream: "raw", model: "m" }], ...more })],
      upstreams: [upstreamOf("raw", local.baseUrl, { kind: "anthropic" })],
    });
    return bench;
  }

  it("pass as they are, but for the names and the bill", async () => {
    const passed: Buffer[] = [];
    const output = new (class extends RpcOutput {
      override pass(bytes: Buffer, format: Parameters<RpcOutput["pass"]>[1]): boolean {
        passed.push(bytes);
        return super.pass(bytes, format);
      }
    })(AbortSignal.any([]));
    const start = eventOf({ type: "message_start", message: { ...START, usage: USAGE } });
    const end = { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null } };
    const mark = eventOf({ type: "message_stop" });
    local.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end([start, ...middle, eventOf({ ...end, usage: { output_tokens: 9 } }), mark].join(""));
    });
    const opened = openRaw();
    const system = [{ type: "text", text: "a", cache_control: { type: "ephemeral" } }];
    const body = { ...MESSAGE, stream: true, system, context_management: { edits: [] }, temperature: 1.0 };
    expect(await send(opened, body, { output })).toBe("answered");
    expect(JSON.parse(String(local.received[0]?.body))).toMatchObject({ ...body, model: "m" });
    const shown = Buffer.concat(passed).toString("utf8");
    expect(shown).toContain(middle.join(""));
    expect(shown).not.toContain("m-2026");
    expect(shown).toContain('"model":"acme/m"');
    expect(shown.endsWith(mark)).toBe(true);
    const { cost } = opened.ledger.settlement;
    expect(opened.ledger.settlement).toMatchObject({ inputTokensUncached: 20, inputTokensCached: 5, outputTokens: 9 });
    expect(shown).toContain(`"cost_idr":"${String(Number(cost) / 1e6)}"`);
  });

  it.each([
    ["which is learned", false, ["hidden_output_learned"]],
    ["unless it was asked to", true, []],
  ])("show a model that thinks unseen, %s", async (_name, thinks, kinds) => {
    const answer = { ...START, content: [{ type: "text", text: "b" }], stop_reason: "end_turn" };
    const usage = { ...USAGE, output_tokens: 900, output_tokens_details: { thinking_tokens: 890 } };
    local.run(json(JSON.stringify({ ...answer, usage })));
    const opened = openRaw({ hiddenOutput: false });
    const thinking = { type: thinks ? "adaptive" : "disabled" };
    expect(await send(opened, { ...MESSAGE, max_tokens: 2_000, thinking })).toBe("answered");
    expect(opened.events.map(({ kind }) => kind)).toEqual(kinds);
  });

  it("are not read as a chat answer where it is whole", async () => {
    const content = [{ type: "text", text: "\u00e9", citations: [{ cited_text: "a" }] }];
    const answer = { ...START, content, stop_reason: "end_turn", usage: { ...USAGE, output_tokens: 9 } };
    local.run(json(JSON.stringify(answer)));
    const output = new RpcOutput(AbortSignal.any([]));
    expect(await send(openRaw(), MESSAGE, { output })).toBe("answered");
    expect(output.wholeAnswer).toMatchObject({ content, model: "acme/m", usage: { output_tokens: 9 } });
  });
});

it("an answer belongs to the upstream that gave it, also where another one failed behind a comment", async () => {
  const output = new (class extends RpcOutput {
    comments = 0;
    override keepAlive(): void {
      this.comments += 1;
    }
  })(AbortSignal.any([]));
  local.run(async (response) => {
    await until(() => output.comments > 0);
    response.writeHead(503).end();
  });
  const opened = open(["local", "claude"], { deps: { deps: { keepAliveMs: 20 } } });
  const body = { model: "acme/m", input: "!think", reasoning: { effort: "high" }, stream: true };
  const work = send(opened, body, { protocol: responsesProtocol, output });
  const events = await Array.fromAsync(output.eventsOf(work));
  const items = events.map((event) => (event as { readonly item?: Json }).item);
  const thought = items.findLast((item) => item?.["type"] === "reasoning");
  expect(thought?.["encrypted_content"]).toMatch(/^claude\.EqQB/);
});

describe("an idempotency key", () => {
  const memory = (): Retries & { readonly digests: string[]; kept: Buffer } => {
    const state: { readonly digests: string[]; kept: Buffer } = { digests: [], kept: Buffer.alloc(0) };
    return Object.assign(state, {
      async digestOf(body: Buffer) {
        state.digests.push(body.toString("utf8"));
        return body;
      },
      async keep(_name: unknown, answer: Parameters<typeof writeKeptAnswer>[0]) {
        state.kept = writeKeptAnswer(answer);
      },
      find: async () => readKeptAnswer(state.kept),
    });
  };

  /** Sends the key with every call. */
  const withKey = (opened: Bench): Bench => ({
    ...opened,
    gateway: {
      ...opened.gateway,
      answerChat: (call, sink) => opened.gateway.answerChat({ ...call, idempotencyKey: "k" }, sink),
    },
  });

  it.each(MATRIX_CLIENTS.flatMap((client) => [true, false].map((stream) => ({ client, name: client.name, stream }))))(
    "gives a $name client the same answer again, streamed: $stream",
    async ({ client, stream }) => {
      const retries = memory();
      const opened = open(["claude"], { deps: { deps: { retries } } });
      const { ledger } = opened;
      ledger.admitWith = ({ amount }) => ({ outcome: "granted", amount, rate: RATE, keepsAnswers: true });
      const body = client.bodyOf({ model: "acme/m", said: "!think", stream, thinks: true });
      const first = await client.send(withKey(opened), body, { model: "acme/m", stream });
      expect(first).toMatchObject({ outcome: "answered", error: null });
      const { requestId, cost } = ledger.settlement;
      ledger.admitWith = () => ({ outcome: "answered", requestId, charge: cost, keepsAnswers: true });
      const again = await client.send(withKey(opened), body, { model: "acme/m", stream });
      expect(again.parts).toEqual(first.parts);
      expect([claude.requests.length, ledger.settlements.length]).toEqual([1, 1]);
    },
  );

  it("names one request in one protocol: the same chat form in another one is another request", async () => {
    const retries = memory();
    const opened = withKey(open(["claude"], { deps: { deps: { retries } } }));
    for (const client of MATRIX_CLIENTS) {
      const body = client.bodyOf({ model: "acme/m", said: "hi", stream: false });
      await client.send(opened, body, { model: "acme/m", stream: false });
    }
    const thinking = { ...MESSAGE, thinking: { type: "disabled" } };
    for (const body of [MESSAGE, thinking]) await send(opened, body);
    expect(new Set(retries.digests).size).toBe(MATRIX_CLIENTS.length + 2);
  });
});
