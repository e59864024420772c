// Retries of a client under one Idempotency-Key: one bill for every repetition and every end of the connection.

import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { GatewayService, type StreamChatCompletionResponse } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { connectClient, ErrorFactsSchema, KeysService } from "../../../src/client/client.ts";
import { chunk, completion, json, usageChunk, wire } from "../../gateway/scripted-upstream.ts";
import { until } from "../../gateway/support.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const MODEL = "local/busy";
const WHOLE = { model: MODEL, messages: [{ role: "user", content: "Hello!" }] };
const STREAMED = { ...WHOLE, stream: true };

let served: ServedSaldo;
let token: string;
beforeAll(async () => {
  served = await serveSaldo({ models: { busy: { price: { input: "5000", output: "15000" } } } });
  ({ token = "" } = await served.saldo([
    "service-token",
    "create",
    "--all",
    "--name",
    "tests",
    "--scope",
    "read,settings",
  ]));
});
afterAll(() => served.stop());

const send = (customer: Customer, name: string, body: unknown = WHOLE, more: Record<string, string> = {}) =>
  served.chat(customer.key, body, { "idempotency-key": name, ...more });

/** The request of RPC callers, and their name for it. */
const REQUEST = { model: MODEL, messages: [{ role: "user", content: "Hello!" }] };
const named = (customer: Customer, name: string) => ({
  headers: { authorization: `Bearer ${customer.key}`, "idempotency-key": name },
});
const rpcGateway = () =>
  createClient(GatewayService, createConnectTransport({ baseUrl: served.server.httpUrl, httpVersion: "1.1" }));

/** A customer whose answers are kept for retries. */
async function keepingCustomer(): Promise<Customer> {
  const customer = await served.customer();
  const keys = connectClient(KeysService, { baseUrl: served.server.httpUrl, token, accountId: customer.accountId });
  expect((await keys.getRetrySettings({})).settings?.keepAnswers).toBe(false);
  const { settings } = await keys.setRetrySettings({ settings: { keepAnswers: true } });
  expect(settings?.keepAnswers).toBe(true);
  return customer;
}

const STREAM = wire([chunk({ role: "assistant", content: "Hal" }), chunk({ content: "o!" }, "stop"), usageChunk()]);

describe("a retry under the same Idempotency-Key", () => {
  test("is refused once the first was answered, with what that one cost", async () => {
    const customer = await served.customer();
    served.upstream.run(json(completion()));
    const first = await send(customer, "order-1");
    expect(first.status).toBe(200);
    const again = await send(customer, "order-1");
    expect(again.status).toBe(409);
    expect(again.headers.get("x-should-retry")).toBe("false");
    expect(again.headers.get("x-saldo-answered-request")).toBe(first.headers.get("x-request-id"));
    expect(await again.json()).toMatchObject({
      error: "already_answered",
      request_id: first.headers.get("x-request-id"),
      cost_idr: first.headers.get("x-saldo-cost-idr"),
      status: 200,
    });
    const nested = await send(customer, "order-1", WHOLE, { "x-saldo-error-format": "openai" });
    expect(await nested.json()).toMatchObject({
      error: { code: "already_answered", request_id: first.headers.get("x-request-id"), status: 200 },
    });
    expect(served.upstream.received).toHaveLength(1);
    expect(await served.usage(customer.accountId)).toHaveLength(1);
  });

  test("of another body is refused, and without the header each is a request of its own", async () => {
    const customer = await served.customer();
    served.upstream.run(json(completion()));
    await send(customer, "order-2");
    const other = await send(customer, "order-2", { ...WHOLE, seed: 1 });
    expect([other.status, other.headers.get("x-should-retry")]).toEqual([409, "false"]);
    expect(await other.json()).toMatchObject({ error: "idempotency_conflict" });
    for (let count = 0; count < 2; count += 1) expect((await served.chat(customer.key, WHOLE)).status).toBe(200);
    expect(await served.usage(customer.accountId)).toHaveLength(3);
  });

  test("while the first runs is asked to wait", async () => {
    const customer = await served.customer();
    const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
    served.upstream.run(async (response, received, call) => {
      await mayAnswer;
      await json(completion())(response, received, call);
    });
    const first = send(customer, "order-3");
    await until(() => served.upstream.received.length === 1);
    const again = await send(customer, "order-3");
    expect(again.status).toBe(409);
    expect(Number(again.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(again.headers.get("x-should-retry")).toBeNull();
    expect(await again.json()).toMatchObject({ error: "already_running" });
    answer();
    expect((await first).status).toBe(200);
    expect(await served.usage(customer.accountId)).toHaveLength(1);
  });

  test("runs where the first failed free of charge: the official client's own retry is one bill", async () => {
    const customer = await served.customer();
    const client = new OpenAI({ apiKey: customer.key, baseURL: served.baseUrl });
    let fails = true;
    served.upstream.run((response, received, call) => {
      if (!fails) return json(completion())(response, received, call);
      // Both of the gateway's attempts for the first request fail.
      fails = call < 2;
      response.writeHead(503, { "retry-after": "0" }).end();
    });
    const answer = await client.chat.completions.create(
      { model: MODEL, messages: [{ role: "user", content: "Hello!" }] },
      { headers: { "Idempotency-Key": "order-4" } },
    );
    expect(answer.choices[0]?.message.content).toBe("Halo!");
    const charged = (await served.usage(customer.accountId)).filter(({ basis }) => basis !== "free");
    expect(charged).toHaveLength(1);
  });

  test("whose name is no name is refused by name", async () => {
    const customer = await served.customer();
    for (const name of ["x".repeat(256), "caf\u00e9"]) {
      const answer = await send(customer, name);
      expect([answer.status, await answer.json()]).toMatchObject([400, { details: [{ field: "Idempotency-Key" }] }]);
    }
  });

  test("over RPC is refused with the same facts, whole and streamed", async () => {
    const customer = await served.customer();
    served.upstream.run((response, received, call) =>
      received.body.includes('"stream":true')
        ? void response.writeHead(200, { "content-type": "text/event-stream" }).end(STREAM)
        : json(completion())(response, received, call),
    );
    const gateway = rpcGateway();
    const { id } = await gateway.createChatCompletion(REQUEST, named(customer, "order-5"));
    const refusal = await gateway
      .createChatCompletion(REQUEST, named(customer, "order-5"))
      .catch((error: unknown) => error);
    expect(factsOf(refusal)).toMatchObject({
      code: "already_answered",
      answeredRequestId: id.replace("chatcmpl-", ""),
    });
    const stream = async (): Promise<void> => {
      for await (const piece of gateway.streamChatCompletion(REQUEST, named(customer, "order-6")))
        expect(piece.model).toBe(MODEL);
    };
    await stream();
    const streamed = await stream().catch((error: unknown) => error);
    expect(factsOf(streamed)).toMatchObject({ code: "already_answered" });
    expect(await served.usage(customer.accountId)).toHaveLength(2);
  });
});

function factsOf(refusal: unknown) {
  expect(refusal).toBeInstanceOf(ConnectError);
  const error = ConnectError.from(refusal);
  expect(error.code).toBe(Code.AlreadyExists);
  return error.findDetails(ErrorFactsSchema)[0];
}

describe("a retry of an account that keeps answers", () => {
  test("gets the same answer, whole and streamed, and nothing is charged for it", async () => {
    const customer = await keepingCustomer();
    served.upstream.run((response, received, call) =>
      received.body.includes('"stream":true')
        ? void response.writeHead(200, { "content-type": "text/event-stream" }).end(STREAM)
        : json(completion())(response, received, call),
    );
    for (const [name, body] of [
      ["whole", WHOLE],
      ["streamed", STREAMED],
    ] as const) {
      const first = await send(customer, name, body);
      const text = await first.text();
      const again = await untilKept(() => send(customer, name, body));
      expect(again.headers.get("x-saldo-replayed")).toBe("true");
      expect(again.headers.get("content-type")).toBe(first.headers.get("content-type"));
      expect(again.headers.get("x-saldo-cost-idr")).toBe(first.headers.get("x-saldo-cost-idr"));
      expect(again.headers.get("x-saldo-answered-request")).toBe(first.headers.get("x-request-id"));
      expect(await again.text()).toBe(text);
    }
    expect(await served.usage(customer.accountId)).toHaveLength(2);
  });

  test("gets the same chunks over RPC, with what the first one was billed", async () => {
    const customer = await keepingCustomer();
    served.upstream.run((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(STREAM);
    });
    const chunks = (): Promise<StreamChatCompletionResponse[]> =>
      Array.fromAsync(rpcGateway().streamChatCompletion(REQUEST, named(customer, "over RPC")));
    const first = await chunks();
    expect(first.at(-1)?.usage?.costIdr).toMatch(/^0\.\d+$/);
    await vi.waitFor(async () => expect(await chunks()).toEqual(first), { timeout: 5_000, interval: 20 });
    expect(await served.usage(customer.accountId)).toHaveLength(1);
  });

  test("gets the whole answer though the first one's connection was lost in the middle", async () => {
    const customer = await keepingCustomer();
    const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
    served.upstream.run(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(wire([chunk({ role: "assistant", content: "Hal" })]));
      await mayGoOn;
      response.end(wire([chunk({ content: "o!" }, "stop"), usageChunk()]));
    });
    const leaving = new AbortController();
    const first = await fetch(`${served.server.httpUrl}/v1/chat/completions`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${customer.key}`,
        "content-type": "application/json",
        "idempotency-key": "lost",
      },
      body: JSON.stringify(STREAMED),
      signal: leaving.signal,
    });
    await first.body?.getReader().read();
    leaving.abort();
    goOn();
    const again = await untilKept(() => send(customer, "lost", STREAMED));
    const text = await again.text();
    expect(text).toContain("Hal");
    expect(text).toMatch(/\[DONE\]\n\n$/);
    const usage = await served.usage(customer.accountId);
    expect(usage).toMatchObject([{ basis: "exact", outputTokens: 3 }]);
  });

  test("finds no text of the answer in the database", async () => {
    const customer = await keepingCustomer();
    const secret = "a sentence that no other caller may read";
    const message = { role: "assistant", content: secret };
    served.upstream.run(json(completion({ choices: [{ index: 0, message, finish_reason: "stop" }] })));
    await send(customer, "sealed");
    await untilKept(() => send(customer, "sealed"));
    const { rows } = await served.database.pool.query<{ sealed: Buffer }>(
      "SELECT sealed FROM kept_answer WHERE account_id = $1",
      [customer.accountId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.sealed.includes(secret)).toBe(false);
  });
});

/** An answer is kept behind its end, so the first retries may come before it is. */
function untilKept(retry: () => Promise<Response>): Promise<Response> {
  return vi.waitFor(
    async () => {
      const answer = await retry();
      expect(answer.status).toBe(200);
      return answer;
    },
    { timeout: 5_000, interval: 20 },
  );
}
