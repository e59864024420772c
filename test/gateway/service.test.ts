import { create } from "@bufbuild/protobuf";
import { Code, createClient, createHandlerContext, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ChatCompletionRequestSchema, GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { createGatewayService } from "../../src/gateway/service.ts";
import { DomainError } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { type Bench, DEMO_MODELS, DEMO_UPSTREAM, KEY, modelOf, openBench, RATE, UNLIMITED } from "./support.ts";

function clientOf(bench: Bench, sold = DEMO_MODELS) {
  const thrown: unknown[] = [];
  const requestId = uuidv7();
  const service = createGatewayService({
    ...UNLIMITED,
    gateway: {
      answerChat: (call, sink) =>
        bench.gateway.answerChat(call, sink).catch((error: unknown) => {
          thrown.push(error);
          throw error;
        }),
    },
    catalog: {
      snapshot: () =>
        Promise.resolve({
          takenAtMs: 0,
          models: new Map(sold.map((model) => [model.id, model])),
          upstreams: new Map([[DEMO_UPSTREAM.id, DEMO_UPSTREAM]]),
        }),
    },
    caller: async () => ({ key: KEY, requestId, receivedAtMs: Date.now() }),
  });
  const client = createClient(
    GatewayService,
    createRouterTransport((router) => router.service(GatewayService, service)),
  );
  return { client, thrown, requestId };
}

const ask = (content: string, more: object = {}) =>
  create(ChatCompletionRequestSchema, { model: "demo/small", messages: [{ role: "user", content }], ...more });

describe("GatewayService", () => {
  it("answers a typed request, billed like any other", async () => {
    const bench = openBench();
    const { client, requestId } = clientOf(bench);
    const answer = await client.createChatCompletion(ask("hello", { maxTokens: 4, extra: { stream: true, seed: 5 } }));
    expect(answer).toMatchObject({ id: `chatcmpl-${requestId}`, model: "demo/small", object: "chat.completion" });
    expect(answer.choices[0]).toMatchObject({ finishReason: "length", message: { role: "assistant" } });
    expect(answer.usage).toMatchObject({ completionTokens: 4, costIdr: expect.stringMatching(/^0\.\d+$/) });
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", streamed: false, outputTokens: 4 });
  });

  it("ends quietly when its caller has left: a canceled call is no fault", async () => {
    const bench = openBench();
    const requestId = uuidv7();
    const service = createGatewayService({
      ...UNLIMITED,
      gateway: bench.gateway,
      catalog: { snapshot: () => Promise.reject(new Error("not asked")) },
      caller: async () => ({ key: KEY, requestId, receivedAtMs: Date.now() }),
    });
    const caller = new AbortController();
    const context = createHandlerContext({
      service: GatewayService,
      method: GatewayService.method.createChatCompletion,
      protocolName: "connect",
      requestMethod: "POST",
      url: "http://localhost/",
      requestSignal: caller.signal,
    });
    bench.ledger.admitWith = ({ amount }) => {
      caller.abort();
      return { outcome: "granted", amount, rate: RATE };
    };
    const ended = Promise.resolve(service.createChatCompletion(ask("hello"), context));
    await expect(ended).rejects.toMatchObject({ code: Code.Canceled });
    expect(bench.ledger.settlement.basis).toBe("free");
  });

  it("streams chunks, the last with the usage", async () => {
    const bench = openBench();
    const { client, requestId } = clientOf(bench);
    const chunks = await Array.fromAsync(client.streamChatCompletion(ask("hello !tokens=200")));
    expect(chunks.every((chunk) => chunk.id === `chatcmpl-${requestId}` && chunk.model === "demo/small")).toBe(true);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join("")).toBe(" word".repeat(200));
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completionTokens: 200 } });
  });

  it("carries content parts, tool calls and tools", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const url = "data:image/png;base64,AAAA";
    const { choices } = await client.createChatCompletion(
      create(ChatCompletionRequestSchema, {
        model: "demo/vision",
        messages: [
          {
            role: "assistant",
            toolCalls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
          },
          { role: "tool", toolCallId: "c", content: "seen" },
          {
            role: "user",
            contentParts: [
              { type: "text", text: "!tool" },
              { type: "image_url", imageUrl: { url } },
            ],
          },
        ],
        tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
      }),
    );
    expect(choices[0]?.message?.toolCalls[0]?.function).toMatchObject({ name: "look", arguments: "{}" });
  });

  it.each(["!503x", "!500"])("fails with the gateway's own error for %s", async (trigger) => {
    const { client, thrown } = clientOf(openBench());
    await expect(client.createChatCompletion(ask(trigger))).rejects.toThrow("internal");
    expect(thrown[0]).toBeInstanceOf(DomainError);
    await expect(Array.fromAsync(client.streamChatCompletion(ask(trigger)))).rejects.toThrow("internal");
  });

  it("ends a stream that was cut with an error, after the chunks that came", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const texts: string[] = [];
    const read = async () => {
      for await (const chunk of client.streamChatCompletion(ask("!cut"))) {
        texts.push(chunk.choices[0]?.delta?.content ?? "");
      }
    };
    await expect(read()).rejects.toThrow("internal");
    expect(texts.join("")).toContain("This is the demo");
    expect(bench.ledger.settlement.basis).toBe("estimated");
  });

  it("stops and settles when the caller cancels", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const cancel = new AbortController();
    const read = async () => {
      for await (const chunk of client.streamChatCompletion(ask("!tokens=100000"), { signal: cancel.signal })) {
        if (chunk.choices[0]?.delta?.content === " word") cancel.abort();
      }
    };
    await expect(read()).rejects.toThrow("abort");
    await expect.poll(() => bench.ledger.settlements.length).toBe(1);
    expect(bench.ledger.settlement).toMatchObject({ basis: "estimated" });
    expect(bench.ledger.settlement.outputTokens).toBeLessThan(100_000);
  });

  it("lists the catalog with the prices that are billed", async () => {
    const { client } = clientOf(openBench());
    const { object, data } = await client.listModels({});
    expect(object).toBe("list");
    expect(data.map((model) => model.id)).toEqual(["demo/echo", "demo/small", "demo/thinking", "demo/vision"]);
    expect(data[1]).toMatchObject({
      object: "model",
      ownedBy: "demo",
      contextLength: 272_000,
      pricing: {
        currency: "IDR",
        unit: "per_1m_tokens",
        input: "5000",
        output: "15000",
        cacheHit: "950",
        cacheHitPercent: 19,
      },
    });
    expect(data[0]?.pricing?.cacheHit).toBeUndefined();
    expect((await client.getModel({ id: "demo/vision" })).model?.architecture?.inputModalities).toEqual([
      "text",
      "image",
    ]);
    await expect(client.getModel({ id: "demo/none" })).rejects.toThrow("internal");
  });

  it("lists models in the form of OpenAI and of Anthropic at once", async () => {
    const { client } = clientOf(openBench());
    const list = await client.listModels({});
    expect(list).toMatchObject({ object: "list", hasMore: false, firstId: "demo/echo", lastId: "demo/vision" });
    expect(list.models).toEqual([]);
    const [first] = list.data;
    const { model } = await client.getModel({ id: "demo/echo" });
    expect(model).toEqual(first);
    expect(first).toMatchObject({ object: "model", type: "model", displayName: first?.name });
    expect(Date.parse(first?.createdAt ?? "")).toBeGreaterThanOrEqual((first?.created ?? 0) * 1_000);
  });

  it("lists models for Codex when Codex names its version", async () => {
    const { client } = clientOf(openBench());
    const { data, models } = await client.listModels({ clientVersion: "0.169.0" });
    expect(models.map(({ slug }) => slug)).toEqual(data.map(({ id }) => id));
    expect(models.map(({ priority }) => priority)).toEqual([1, 2, 3, 4]);
    expect(models[1]).toMatchObject({
      displayName: data[1]?.name,
      shellType: "unified_exec",
      visibility: "list",
      supportedInApi: true,
      truncationPolicy: { mode: "tokens", limit: 10_000 },
      contextWindow: 272_000,
      maxContextWindow: 272_000,
      inputModalities: ["text"],
    });
    expect(models[1]?.baseInstructions).not.toBe("");
    expect(models[3]?.inputModalities).toEqual(["text", "image"]);
  });

  it("leaves models of embeddings out of the list for Codex", async () => {
    const { client } = clientOf(openBench(), [modelOf("demo/embed", { kind: "embeddings" }), modelOf("demo/small")]);
    const { data, models } = await client.listModels({ clientVersion: "0.169.0" });
    expect(data.map(({ kind }) => kind)).toEqual(["embeddings", "chat"]);
    expect(models.map(({ slug, priority }) => [slug, priority])).toEqual([["demo/small", 1]]);
  });
});
