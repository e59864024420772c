// The Messages protocol over RPC, through the gateway to an upstream of chat.

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createHandlerContext, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { MessageRequestSchema, MessagesService } from "#gen/saldo/gateway/v1/messages_service_pb.ts";
import { createCountWindows } from "../../src/gateway/conversation/count-window.ts";
import { createMessagesService } from "../../src/gateway/messages-service.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createOpenInterceptors } from "../../src/transport/calls/interceptors.ts";
import { createLogMemory } from "../transport/fakes.ts";
import { type Bench, DEMO_MODELS, KEY, modelOf, openBench, RATE } from "./support.ts";

const interceptors = createOpenInterceptors({ logger: createLogMemory().logger });
const MODEL = "demo/small";
const SOLD = [...DEMO_MODELS, modelOf("demo/embed", { kind: "embeddings" })];
const MODELS = new Map(SOLD.map((model) => [model.id, model]));

function serviceOf({ gateway }: Bench, requestId: string) {
  return createMessagesService({
    gateway,
    keys: { takeSlot: async () => RATE },
    catalog: { snapshot: async () => ({ models: MODELS, upstreams: new Map(), takenAtMs: 0 }) },
    allowedModelsOf: () => null,
    ...createCountWindows({ bytesInAMinute: 5 * 1_024 * 1_024 }),
    caller: async () => ({ key: KEY, requestId, receivedAtMs: Date.now() }),
  });
}

function clientOf(bench: Bench) {
  const requestId = uuidv7();
  const router = createRouterTransport(({ service }) =>
    service(MessagesService, serviceOf(bench, requestId), { interceptors }),
  );
  return { client: createClient(MessagesService, router), requestId };
}

const text = (words: string) => ({ kind: { case: "stringValue" as const, value: words } });
const ask = (words: string, more: object = {}) => ({
  model: MODEL,
  messages: [{ role: "user", content: text(words) }],
  ...more,
});
const tools = [{ name: "look", description: "Looks.", input_schema: { type: "object" } }];

const errorOf = (answer: Promise<unknown>) =>
  answer.then(
    () => null,
    (thrown: unknown) => ConnectError.from(thrown),
  );

describe("MessagesService", () => {
  it("answers a typed request, billed like any other", async () => {
    const bench = openBench();
    const { client, requestId } = clientOf(bench);
    const answer = await client.createMessage(ask("hello", { maxTokens: 4, tools, system: text("Be brief.") }));
    expect(answer).toMatchObject({
      id: `msg_${requestId}`,
      type: "message",
      role: "assistant",
      model: MODEL,
      content: [{ type: "text" }],
      stopReason: "max_tokens",
    });
    expect(answer.usage).toMatchObject({ outputTokens: 4, costIdr: expect.stringMatching(/^0\.\d+$/) });
    expect(answer.usage?.inputTokens).toBe(bench.ledger.settlement.inputTokensUncached);
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", streamed: false, outputTokens: 4 });
  });

  it("streams the events of an answer, with an estimate first and the bill at the end", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const events = await Array.fromAsync(client.streamMessage(ask("hello", { maxTokens: 100 })));
    const types = events.map(({ type }) => type);
    expect([types.at(0), ...types.slice(-2)]).toEqual(["message_start", "message_delta", "message_stop"]);
    expect(events[0]?.message?.usage?.inputTokens).toBeGreaterThan(0);
    expect(events.find(({ type }) => type === "content_block_start")).toMatchObject({
      index: 0,
      contentBlock: { type: "text", text: "" },
    });
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: "end_turn" },
      usage: { costIdr: expect.stringMatching(/^0\.\d+$/) as unknown },
    });
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", streamed: true });
  });

  it("counts tokens for nothing, and not more bytes than a minute has", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const counts = await Promise.all([1, 2].map(() => client.countTokens(ask("The quick fox."))));
    expect(new Set(counts.map(({ inputTokens }) => inputTokens)).size).toBe(1);
    expect(counts[0]?.inputTokens).toBeGreaterThan(4);
    // Two of them have room in a minute.
    const large = ask("x".repeat(128 * 16 * 1_024));
    for (let time = 0; time < 2; time += 1) await client.countTokens(large);
    expect((await errorOf(client.countTokens(large)))?.code).toBe(Code.ResourceExhausted);
    expect(bench.ledger.settlements).toEqual([]);
  });

  it.each([
    ["is not sold", "demo/smal", Code.NotFound],
    ["answers no chat", "demo/embed", Code.InvalidArgument],
  ])("counts no tokens for a model that %s", async (_name, model, code) => {
    const { client } = clientOf(openBench());
    const error = await errorOf(client.countTokens({ ...ask("hello"), model }));
    expect(error?.code).toBe(code);
  });

  it.each([false, true])("refuses what the provider would keep, streamed or not: %s", async (streamed) => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const request = ask("hello", { maxTokens: 4, extra: { container: "container_1" } });
    const error = await errorOf(
      streamed ? Array.fromAsync(client.streamMessage(request)) : client.createMessage(request),
    );
    expect(error?.code).toBe(Code.InvalidArgument);
    expect(error?.message).toContain("container");
    expect(bench.ledger.settlements).toEqual([]);
  });

  it("ends quietly when its caller has left: a canceled call is no fault", async () => {
    const bench = openBench();
    const caller = new AbortController();
    const context = createHandlerContext({
      service: MessagesService,
      method: MessagesService.method.createMessage,
      protocolName: "connect",
      requestMethod: "POST",
      url: "http://localhost/",
      requestSignal: caller.signal,
    });
    bench.ledger.admitWith = ({ amount }) => {
      caller.abort();
      return { outcome: "granted", amount, rate: RATE };
    };
    const request = create(MessageRequestSchema, ask("hello", { maxTokens: 4 }));
    const ended = Promise.resolve(serviceOf(bench, uuidv7()).createMessage(request, context));
    await expect(ended).rejects.toMatchObject({ code: Code.Canceled });
    expect(bench.ledger.settlement.basis).toBe("free");
  });
});
