// Answers of upstreams that do not have the contract's form, over RPC: they fit, or nothing is charged.

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ChatCompletionRequestSchema, GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { RpcSink } from "../../src/gateway/rpc-sink.ts";
import { createGatewayService } from "../../src/gateway/service.ts";
import { UpstreamBusy, ValidationError } from "../../src/kernel/errors.ts";
import { MAX_FOREIGN_TOKENS } from "../../src/kernel/foreign-json.ts";
import { formatMoney, idr } from "../../src/kernel/money.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { createOpenInterceptors } from "../../src/transport/calls/interceptors.ts";
import { createLogMemory } from "../transport/fakes.ts";
import { STREAMED, usePlayground } from "./playground.ts";
import {
  chunk,
  completion,
  json,
  ordinaryEvents,
  type Script,
  stream,
  USAGE,
  usageChunk,
  wire,
} from "./scripted-upstream.ts";
import { KEY, modelOf, openBench, UNLIMITED, upstreamOf } from "./support.ts";

const playground = usePlayground();
const interceptors = createOpenInterceptors({ logger: createLogMemory().logger });
const PARTS = [
  { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
  { type: "text", text: "Ha" },
  { type: "text", text: "lo" },
];
const whole = (message: unknown, more: Record<string, unknown> = {}): Script =>
  json(completion({ choices: [{ index: 0, message, finish_reason: "stop" }], ...more }));
const CALL = { id: "c", type: "function", function: { name: "look", arguments: { at: 1 } } };

/** Plays a script to a caller over RPC. Errors: the gateway's own. */
function openClient(script: Script, whenSilent: () => void = () => undefined) {
  playground.upstream.run(script);
  const requestId = uuidv7();
  const failures: unknown[] = [];
  const { gateway } = playground.bench;
  const service = createGatewayService({
    ...UNLIMITED,
    gateway: {
      answerChat(call, sink) {
        sink.keepAlive = whenSilent;
        return gateway.answerChat(call, sink).catch((error: unknown) => {
          failures.push(error);
          throw error;
        });
      },
    },
    catalog: { snapshot: () => Promise.reject(new Error("not asked")) },
    caller: async () => ({ key: KEY, requestId, receivedAtMs: Date.now() }),
  });
  const client = createClient(
    GatewayService,
    createRouterTransport((router) => router.service(GatewayService, service, { interceptors })),
  );
  const request = create(ChatCompletionRequestSchema, {
    model: "local/m",
    messages: [{ role: "user", content: "hi" }],
  });
  return {
    requestId,
    failures,
    answer: () => client.createChatCompletion(request),
    chunks: () => Array.fromAsync(client.streamChatCompletion(request)),
  };
}

describe("a request that the upstream refuses behind a comment", () => {
  it("has all that is wrong with it in the error over RPC", async () => {
    const commented = Promise.withResolvers<void>();
    playground.bench = openBench({
      models: [modelOf("local/m")],
      upstreams: [upstreamOf("local", playground.upstream.baseUrl)],
      deps: { keepAliveMs: 20 },
    });
    const client = openClient(
      async (response) => {
        await commented.promise;
        response.writeHead(400).end('{"error":{"message":"temperature is not supported here"}}');
      },
      () => commented.resolve(),
    );
    const error = await client.chunks().catch((thrown: unknown) => thrown);
    expect(String(error)).toContain("temperature is not supported here");
    expect(ConnectError.from(error).code).toBe(Code.InvalidArgument);
  });

  it("fails with the very error of the gateway", async () => {
    const sink = new RpcSink(new AbortController().signal);
    const refused = new ValidationError([{ field: "messages[0]", rule: "upstream", message: "is too long" }]);
    sink.fail(refused);
    expect(await Array.fromAsync(sink.chunks()).catch((thrown: unknown) => thrown)).toBe(refused);
  });
});

describe("a whole answer over RPC", () => {
  it.each<[string, Script, object]>([
    ["content in parts", whole({ role: "assistant", content: PARTS }), { content: "Halo", reasoningContent: "hm" }],
    [
      "what the upstream wants back, flat and in whole characters",
      whole({
        content: "Halo",
        reasoning_details: [{ type: "reasoning.encrypted", index: 0, data: "a\ud800", nested: {} }, "none"],
      }),
      { reasoningDetails: [{ type: "reasoning.encrypted", index: 0, data: "a\ufffd" }] },
    ],
    [
      "reasoning under another name",
      whole({ content: "Halo", reasoning: "hm" }),
      { content: "Halo", reasoningContent: "hm" },
    ],
    [
      "reasoning in details",
      whole({ content: "Halo", reasoning_details: [{ text: "hm" }] }),
      { reasoningContent: "hm" },
    ],
    [
      "arguments as an object",
      whole({ content: null, tool_calls: [CALL] }),
      { toolCalls: [{ id: "c", function: { name: "look", arguments: '{"at":1}' } }] },
    ],
    ["a refusal that is an object", whole({ content: "Halo", refusal: {} }), { content: "Halo" }],
    ["a time in fractions", whole({ content: "Halo" }, { created: 1.5 }), { content: "Halo" }],
    [
      "a usage in fractions",
      whole({ content: "Halo" }, { usage: { ...USAGE, completion_tokens: 2.5 } }),
      { content: "Halo" },
    ],
  ])("fits into the contract: %s", async (_name, script, message) => {
    const client = openClient(script);
    const answer = await client.answer();
    expect(answer).toMatchObject({ id: `chatcmpl-${client.requestId}`, model: "local/m", choices: [{ message }] });
    expect(answer.usage?.costIdr).toMatch(/^0\.\d+$/);
    expect(playground.bench.ledger.settlement.basis).toBe("exact");
  });

  it("that is too expensive to parse is refused before anything is charged", async () => {
    const wide = `[${"0,".repeat(MAX_FOREIGN_TOKENS)}0]`;
    const { answer } = openClient(json(completion().replace('"Halo!"', `"Halo!","more":${wide}`)));
    expect(ConnectError.from(await answer().catch((error: unknown) => error)).code).toBe(Code.Unavailable);
    expect(playground.bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
  });

  it("that is no sound JSON is refused before anything is charged", async () => {
    const broken = completion().replace("Halo!", "Ha\\x41lo");
    const client = openClient(json(broken));
    await expect(client.answer()).rejects.toThrow();
    expect(client.failures[0]).toBeInstanceOf(UpstreamBusy);
    expect(playground.bench.ledger.settlement).toMatchObject({ basis: "free", cost: 0n });
  });
});

describe("a stream over RPC", () => {
  it("fits into the contract, content in parts and all", async () => {
    const events = PARTS.map((part) => chunk({ content: [part] }));
    const client = openClient(stream(wire([...events, chunk({}, "stop"), usageChunk(), "[DONE]"])));
    const chunks = await client.chunks();
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
    expect(deltas.map((delta) => delta?.content ?? "").join("")).toBe("Halo");
    expect(deltas.map((delta) => delta?.reasoningContent ?? "").join("")).toBe("hm");
    expect(chunks.every(({ id, model }) => id === `chatcmpl-${client.requestId}` && model === "local/m")).toBe(true);
    expect(playground.bench.ledger.settlement.basis).toBe("exact");
  });

  it("is no error where a chunk has none", async () => {
    const events = [chunk({ content: "Halo" }), chunk({}, "stop"), usageChunk()];
    const client = openClient(stream(wire(events.map((data) => data.replace("{", '{"error":null,')))));
    expect((await client.chunks()).map(({ choices }) => choices[0]?.delta?.content ?? "").join("")).toBe("Halo");
    expect(playground.bench.ledger.settlement.basis).toBe("exact");
  });

  it("that is cut has an error, and what was billed", async () => {
    playground.upstream.run(stream(wire(ordinaryEvents().slice(0, 3))));
    const sink = new RpcSink(new AbortController().signal);
    sink.follow(playground.bench.send(STREAMED, sink));
    const failure: unknown = await Array.fromAsync(sink.chunks()).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "upstream_busy",
      message: expect.stringMatching(
        /^The answer was cut off by the upstream\. Rp [\d.]+ were billed for what was delivered\.$/,
      ),
      costIdr: formatMoney(idr(playground.bench.ledger.settlement.cost)),
    });
    expect(playground.bench.ledger.settlement.basis).toBe("estimated");
  });

  it("that runs on is ended with `length` and the usage", async () => {
    const events = Array.from({ length: 40 }, () => chunk({ content: " lorem ipsum dolor".repeat(1_000) }));
    const client = openClient(stream(...events.map((data) => wire([data]))));
    const chunks = await client.chunks();
    expect(chunks.at(-2)?.choices[0]?.finishReason).toBe("length");
    expect(chunks.at(-1)?.usage?.costIdr).toMatch(/^\d+(\.\d+)?$/);
  });
});
