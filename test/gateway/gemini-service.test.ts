// Gemini's protocol over RPC, through the gateway to an upstream of chat.

import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { GeminiService } from "#gen/saldo/gateway/v1/gemini_service_pb.ts";
import { createCountWindows } from "../../src/gateway/conversation/count-window.ts";
import { createGeminiService } from "../../src/gateway/gemini-service.ts";
import { ServiceBusy } from "../../src/kernel/errors.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createOpenInterceptors } from "../../src/transport/calls/interceptors.ts";
import { createLogMemory } from "../transport/fakes.ts";
import { type Bench, DEMO_MODELS, KEY, openBench, RATE } from "./support.ts";

const interceptors = createOpenInterceptors({ logger: createLogMemory().logger });
const MODELS = new Map(DEMO_MODELS.map((model) => [model.id, model]));

function clientOf({ gateway }: Bench) {
  const requestId = uuidv7();
  const implementation = createGeminiService({
    gateway,
    keys: { takeSlot: async () => RATE },
    catalog: { snapshot: async () => ({ models: MODELS, upstreams: new Map(), takenAtMs: 0 }) },
    allowedModelsOf: () => null,
    ...createCountWindows(),
    caller: async () => ({ key: KEY, requestId, receivedAtMs: Date.now() }),
  });
  const router = createRouterTransport(({ service }) => service(GeminiService, implementation, { interceptors }));
  return { client: createClient(GeminiService, router), requestId };
}

const ask = (words: string, more: object = {}) => ({
  model: "demo/small",
  contents: [{ role: "user", parts: [{ text: words }] }],
  ...more,
});

describe("GeminiService", () => {
  it("answers a typed request, billed like any other", async () => {
    const bench = openBench();
    const { client, requestId } = clientOf(bench);
    const answer = await client.generateContent(ask("hello", { generationConfig: { maxOutputTokens: 4 } }));
    expect(answer).toMatchObject({
      candidates: [{ content: { role: "model" }, finishReason: "MAX_TOKENS" }],
      modelVersion: "demo/small",
      responseId: requestId,
      usageMetadata: { candidatesTokenCount: 4, costIdr: expect.stringMatching(/^0\.\d+$/) as unknown },
    });
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", streamed: false, outputTokens: 4 });
  });

  it("streams the pieces of an answer, with the bill in the last", async () => {
    const bench = openBench();
    const pieces = await Array.fromAsync(clientOf(bench).client.streamGenerateContent(ask("hello")));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.map(({ usageMetadata }) => usageMetadata !== undefined).indexOf(true)).toBe(pieces.length - 1);
    expect(pieces.at(-1)?.candidates[0]?.finishReason).toBe("STOP");
    expect(bench.ledger.settlement).toMatchObject({ basis: "exact", streamed: true });
  });

  it("fails behind the pieces of an answer that broke off", async () => {
    const taken: unknown[] = [];
    const drain = async (): Promise<void> => {
      for await (const piece of clientOf(openBench()).client.streamGenerateContent(ask("!cut"))) taken.push(piece);
    };
    const error = ConnectError.from(await drain().catch((thrown: unknown) => thrown));
    expect(error.code).toBe(Code.Unavailable);
    expect(error.rawMessage).toContain("were billed");
    expect(taken.length).toBeGreaterThan(0);
  });

  it.each<[string, unknown, Code]>([
    ["a bug", new Error("a bug"), Code.Internal],
    ["a busy ledger", new ServiceBusy(), Code.Unavailable],
  ])("fails with the fault that ended a stream of ours: %s", async (_name, fault, code) => {
    const bench = openBench();
    bench.ledger.onSettle = ({ basis }) => (basis === "free" ? Promise.resolve() : Promise.reject(fault));
    const pieces: unknown[] = [];
    const drain = async (): Promise<void> => {
      for await (const piece of clientOf(bench).client.streamGenerateContent(ask("hello"))) pieces.push(piece);
    };
    expect(ConnectError.from(await drain().catch((thrown: unknown) => thrown)).code).toBe(code);
    expect(pieces.length).toBeGreaterThan(0);
  });

  it("counts tokens for nothing, of models that are sold", async () => {
    const bench = openBench();
    const { client } = clientOf(bench);
    expect((await client.countContentTokens(ask("The quick fox."))).totalTokens).toBeGreaterThan(4);
    const unsold = client.countContentTokens({ ...ask("hi"), model: "demo/smal" });
    await expect(unsold).rejects.toMatchObject({ code: Code.NotFound });
    expect(bench.ledger.settlements).toEqual([]);
  });

  it.each([false, true])("refuses what the provider would keep, streamed or not: %s", async (streamed) => {
    const bench = openBench();
    const { client } = clientOf(bench);
    const request = ask("hello", { extra: { cachedContent: "cachedContents/1" } });
    const asked = streamed ? Array.fromAsync(client.streamGenerateContent(request)) : client.generateContent(request);
    await expect(asked).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect(bench.ledger.settlements).toEqual([]);
  });
});
