import { Client, credentials, status } from "@grpc/grpc-js";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Health, HealthCheckResponse_ServingStatus } from "#gen/grpc/health/v1/health_pb.ts";
import {
  ServerReflection,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
} from "#gen/grpc/reflection/v1/reflection_pb.ts";
import {
  type ChatCompletionRequestSchema,
  GatewayService,
  type StreamChatCompletionResponse,
} from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { until } from "../../setup/own-server.ts";
import { callStream, callUnary, definitionOf, factsOf, metadataOf, refusalOf } from "./grpc-calls.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const { createChatCompletion, streamChatCompletion, listModels } = GatewayService.method;

let served: ServedSaldo;
let client: Client;

beforeAll(async () => {
  // Slow enough that a stream can be left in its middle.
  served = await serveSaldo({ settings: { SALDO_DEMO_PACE_MS: "5" } });
  client = new Client(served.server.grpcAddress, credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await served.stop();
});

function chat(content: string, more: { model?: string; temperature?: number } = {}) {
  return {
    model: "demo/small",
    messages: [{ role: "user", content }],
    ...more,
  } satisfies MessageInitShape<typeof ChatCompletionRequestSchema>;
}

async function hasNoHold({ accountId }: Customer): Promise<boolean> {
  return (await served.balance(accountId)).held === "0";
}

describe("a grpc-js client", () => {
  test("gets a completion that is billed", async () => {
    const customer = await served.customer();
    const answer = await callUnary(client, createChatCompletion, { request: chat("Hello!"), key: customer.key });
    expect(answer).toMatchObject({ object: "chat.completion", model: "demo/small" });
    expect(answer.choices[0]?.message?.content).toContain("demo model small");
    expect(answer.choices[0]?.finishReason).toBe("stop");
    const [record] = await served.usage(customer.accountId);
    expect(record).toMatchObject({
      basis: "exact",
      charge: answer.usage?.costIdr,
      inputTokensUncached: answer.usage?.promptTokens,
      outputTokens: answer.usage?.completionTokens,
    });
    expect(answer.id).toBe(`chatcmpl-${record?.requestId}`);
  });

  test("gets a stream whose last message holds the usage", async () => {
    const customer = await served.customer();
    const request = chat("Hello!");
    const messages: StreamChatCompletionResponse[] = [];
    for await (const message of callStream(client, streamChatCompletion, { request, key: customer.key })) {
      messages.push(message as StreamChatCompletionResponse);
    }
    const text = messages.map(({ choices }) => choices[0]?.delta?.content ?? "").join("");
    expect(text).toMatch(/^This is the demo model small\. .*real model\.$/);
    const usages = messages.map(({ usage }) => usage).filter((usage) => usage !== undefined);
    expect(usages).toHaveLength(1);
    expect(messages.at(-1)).toMatchObject({ choices: [], usage: usages[0] });
    expect(await served.usage(customer.accountId)).toMatchObject([
      { streamed: true, basis: "exact", charge: usages[0]?.costIdr },
    ]);
  });

  test("gets DEADLINE_EXCEEDED at its deadline, and pays what the upstream counts at its end", async () => {
    const customer = await served.customer();
    const options = { deadline: Date.now() + 1_000 };
    const error = await refusalOf(
      callUnary(client, createChatCompletion, { request: chat("!slow"), key: customer.key, options }),
    );
    expect(error.code).toBe(status.DEADLINE_EXCEEDED);
    await until(() => hasNoHold(customer));
    expect(await served.usage(customer.accountId)).toMatchObject([{ basis: "drained" }]);
  });

  test("leaves a stream in its middle and is charged what it got, by an estimate", async () => {
    const customer = await served.customer();
    const call = callStream(client, streamChatCompletion, {
      request: chat("!tokens=20000"),
      key: customer.key,
    });
    const ended = new Promise<Error>((resolve) => call.once("error", resolve));
    let received = 0;
    call.on("data", () => {
      received += 1;
      if (received === 10) call.cancel();
    });
    expect(await ended).toMatchObject({ code: status.CANCELLED });
    await until(() => hasNoHold(customer));
    const [record, ...others] = await served.usage(customer.accountId);
    expect(others).toEqual([]);
    expect(record).toMatchObject({ basis: "estimated", streamed: true });
    expect(record?.outputTokens).toBeGreaterThan(0);
    expect(record?.outputTokens).toBeLessThan(1_000);
    expect(Number(record?.charge)).toBeGreaterThan(0);
  });
});

describe("the details of an error have", () => {
  test("how much is missing of a balance", async () => {
    const { key } = await served.customer({ credit: "0.5" });
    const error = await refusalOf(callUnary(client, createChatCompletion, { request: chat("Hello!"), key }));
    expect(error.code).toBe(status.FAILED_PRECONDITION);
    expect(factsOf(error)).toMatchObject({ code: "insufficient_balance", availableIdr: "0.5" });
    expect(Number(factsOf(error)?.neededIdr)).toBeGreaterThan(0.5);
    expect(factsOf(error)?.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(error.details).toContain("Available is Rp 0.50, needed is Rp ");
  });

  test("which fields are wrong, in a unary call and in a stream", async () => {
    const { key } = await served.customer();
    const request = chat("Hello!", { temperature: 3 });
    const whole = await refusalOf(callUnary(client, createChatCompletion, { request, key }));
    expect(whole.code).toBe(status.INVALID_ARGUMENT);
    expect(factsOf(whole)).toMatchObject({ code: "validation_error", details: [{ field: "temperature" }] });
    const streamed = await refusalOf(callStream(client, streamChatCompletion, { request, key }).toArray());
    expect(streamed.code).toBe(status.INVALID_ARGUMENT);
    expect(factsOf(streamed)).toMatchObject({ code: "validation_error", details: [{ field: "temperature" }] });
  });

  test.each([
    ["a key that was never issued", "gw_nobody"],
    ["no key", null],
  ])("that the key is wrong, with %s", async (_case, key) => {
    for (const call of [
      callUnary(client, createChatCompletion, { request: chat("Hello!"), key }),
      callUnary(client, listModels, { request: {}, key }),
    ]) {
      const error = await refusalOf(call);
      expect(error.code).toBe(status.UNAUTHENTICATED);
      expect(factsOf(error)?.code).toBe("invalid_api_key");
    }
  });

  test("how long a key over its limit has to wait", async () => {
    const { key } = await served.customer({ rateLimit: 1 });
    const request = chat("Hello!", { model: "demo/echo" });
    await callUnary(client, createChatCompletion, { request, key });
    for (const call of [
      () => callUnary(client, createChatCompletion, { request, key }),
      () => callStream(client, streamChatCompletion, { request, key }).toArray(),
      () => callUnary(client, listModels, { request: {}, key }),
    ]) {
      const error = await refusalOf(call());
      expect(error.code).toBe(status.RESOURCE_EXHAUSTED);
      const facts = factsOf(error);
      expect(facts?.code).toBe("rate_limit");
      expect(facts?.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(error.metadata.get("retry-after")).toEqual([String(facts?.retryAfterSeconds)]);
    }
  });

  test("that a model is unknown, and when a busy upstream may be tried again", async () => {
    const { key, accountId } = await served.customer();
    const unknown = chat("Hello!", { model: "demo/nothing" });
    const missing = await refusalOf(callUnary(client, createChatCompletion, { request: unknown, key }));
    expect(missing.code).toBe(status.NOT_FOUND);
    expect(factsOf(missing)?.code).toBe("model_not_found");
    const busy = await refusalOf(callUnary(client, createChatCompletion, { request: chat("!429"), key }));
    expect(busy.code).toBe(status.UNAVAILABLE);
    expect(factsOf(busy)).toMatchObject({ code: "upstream_busy", retryAfterSeconds: 7 });
    expect(await served.balance(accountId)).toEqual({ available: "1000", held: "0", posted: "1000" });
  });
});

describe("the gRPC port", () => {
  test("is healthy, as a whole and per service", async () => {
    for (const service of ["", GatewayService.typeName]) {
      const { status: health } = await callUnary(client, Health.method.check, { request: { service }, key: null });
      expect(health).toBe(HealthCheckResponse_ServingStatus.SERVING);
    }
  });

  test("lists its services by reflection", async () => {
    const { path, requestSerialize, responseDeserialize } = definitionOf(ServerReflection.method.serverReflectionInfo);
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadataOf(null));
    call.write(create(ServerReflectionRequestSchema, { messageRequest: { case: "listServices", value: "" } }));
    call.end();
    const [answer] = (await call.toArray()) as ServerReflectionResponse[];
    expect(answer?.messageResponse.case).toBe("listServicesResponse");
    const listed = answer?.messageResponse.case === "listServicesResponse" ? answer.messageResponse.value.service : [];
    expect(listed.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "saldo.gateway.v1.GatewayService",
        "saldo.billing.v1.BillingService",
        "saldo.keys.v1.KeysService",
        "saldo.merchant.v1.MerchantTransferService",
        "grpc.health.v1.Health",
      ]),
    );
  });
});

test("the books are in order at the end", async () => {
  expect(await served.saldo(["audit"])).toMatchObject({ ok: true, violations: [] });
});
