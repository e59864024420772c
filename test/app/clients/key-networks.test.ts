// The networks that may use a key, on every path that takes keys, and the rate limit that its owner sets. The tests are a proxy that the
// server trusts: the address of a client is the last one of X-Forwarded-For.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { KeysService } from "#gen/saldo/keys/v1/keys_service_pb.ts";
import { completion, json } from "../../gateway/scripted-upstream.ts";
import { type Customer, type ServedSaldo, serveSaldo } from "./served-saldo.ts";

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const MESSAGES = [{ role: "user", content: "Halo, apa kabar?" }];
const model = "local/small";
const OFFICE = "203.0.113.9";
const ELSEWHERE = "198.51.100.7";

let served: ServedSaldo;
beforeAll(async () => {
  served = await serveSaldo({
    models: {
      small: { price: { input: "1000000", output: "1000000" }, max_output_tokens: 20 },
      vectors: { kind: "embeddings", price: { input: "1000000" } },
    },
    settings: { SALDO_TRUSTED_PROXIES: "1" },
  });
});
afterAll(() => served.stop());

const limit = ({ keyId }: Customer, ...options: string[]) =>
  served.saldo(["key", "update", "--key-id", keyId, ...options]);

async function customerOf(networks: string): Promise<Customer> {
  const customer = await served.customer({ rateLimit: 0 });
  await limit(customer, "--networks", networks);
  return customer;
}

function ask(path: string, { key }: Customer, { from, body }: { from: string; body?: object }): Promise<Response> {
  return fetch(`${served.server.httpUrl}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-forwarded-for": from },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

const CHAT = { model, max_tokens: 5, messages: MESSAGES };
const chatFrom = (customer: Customer, from: string) => ask("/v1/chat/completions", customer, { from, body: CHAT });

describe("a key with networks", () => {
  let office: Customer;
  beforeAll(async () => {
    office = await customerOf("203.0.113.0/24");
  });

  const contents = [{ role: "user", parts: [{ text: "Halo" }] }];
  test.each<[string, object | undefined]>([
    ["/v1/chat/completions", CHAT],
    ["/v1/chat/completions", { ...CHAT, stream: true }],
    ["/v1/messages", CHAT],
    ["/v1/messages/count_tokens", { model, messages: MESSAGES }],
    ["/v1/responses", { model, input: "Halo" }],
    ["/v1/responses/input_tokens", { model, input: "Halo" }],
    [`/v1beta/models/${model}:generateContent`, { contents }],
    [`/v1beta/models/${model}:streamGenerateContent?alt=sse`, { contents }],
    [`/v1beta/models/${model}:countTokens`, { contents }],
    ["/v1/embeddings", { model: "local/vectors", input: "Halo" }],
    ["/v1/models", undefined],
    [`/v1/models/${model}`, undefined],
    ["/v1/balance", undefined],
    ["/v1/key", undefined],
  ])("is refused elsewhere at %s, with nothing sent or held", async (path, body) => {
    const customer = office;
    const asked = served.upstream.received.length;
    const refused = await ask(path, customer, { from: ELSEWHERE, ...(body === undefined ? {} : { body }) });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringMatching(/network/i)]);
    expect(served.upstream.received.length).toBe(asked);
    expect(await served.usage(customer.accountId)).toEqual([]);
    expect(await served.balance(customer.accountId)).toMatchObject({ held: "0", available: "1000" });
  });

  test("is refused from the next request on, where an allowed one has just been answered", async () => {
    const customer = await customerOf("203.0.113.0/24,2001:db8::/32");
    for (const from of [OFFICE, "2001:db8::7", "::ffff:203.0.113.9", `${ELSEWHERE}, ${OFFICE}`]) {
      served.upstream.run(json(completion({ usage: USAGE })));
      expect((await chatFrom(customer, from)).status).toBe(200);
      // The key is in memory now.
      for (const other of [ELSEWHERE, "2001:db9::7", "", `${OFFICE}, ${ELSEWHERE}`]) {
        const refused = await chatFrom(customer, other);
        expect([refused.status, await refused.json()]).toMatchObject([403, { error: "network_not_allowed" }]);
      }
    }
    expect(await served.usage(customer.accountId)).toHaveLength(4);
  });

  test("is refused over Connect and gRPC, where a client writes no address of its own", async () => {
    const customer = office;
    const headers = { authorization: `Bearer ${customer.key}`, "x-forwarded-for": OFFICE };
    const grpc = createGrpcTransport({ baseUrl: `http://${served.server.grpcAddress}` });
    const connect = createConnectTransport({ baseUrl: served.server.httpUrl, httpVersion: "1.1" });
    // The gRPC port has no proxy before it: the caller is this machine.
    const overGrpc = createClient(GatewayService, grpc);
    const request = { model, messages: [{ role: "user", content: "Halo" }] };
    const error: unknown = await overGrpc.createChatCompletion(request, { headers }).catch((thrown: unknown) => thrown);
    expect(ConnectError.from(error).code).toBe(Code.PermissionDenied);
    expect(ConnectError.from(error).findDetails(ErrorFactsSchema)[0]?.code).toBe("network_not_allowed");
    await expect(overGrpc.getKey({}, { headers })).rejects.toThrow("network");
    const overConnect = createClient(GatewayService, connect);
    expect((await overConnect.getKey({}, { headers })).key?.limits?.allowedNetworks).toEqual(["203.0.113.0/24"]);
    const elsewhere = { ...headers, "x-forwarded-for": ELSEWHERE };
    await expect(overConnect.getKey({}, { headers: elsewhere })).rejects.toThrow("network");
  });

  test("is shown with them by command, and opened again", async () => {
    const customer = await customerOf("203.0.113.0/24, 2001:db8::1");
    expect(await limit(customer, "--name", "kantor")).toMatchObject({ networks: ["203.0.113.0/24", "2001:db8::1"] });
    await expect(limit(customer, "--networks", "203.0.113.0/33")).rejects.toThrow("limits.allowedNetworks must be");
    await expect(limit(customer, "--networks", "::ffff:203.0.113.9")).rejects.toThrow("limits.allowedNetworks must be");
    expect(await limit(customer, "--networks", "all")).toMatchObject({ networks: null });
    served.upstream.run(json(completion({ usage: USAGE })));
    expect((await chatFrom(customer, ELSEWHERE)).status).toBe(200);
  });
});

describe("the owner of a key", () => {
  test("sets its rate limit up to the operator's bound, and the operator sets any", async () => {
    const { accountId } = await served.customer();
    const words = ["service-token", "create", "--name", "owner", "--scope", "read,keys", "--account", accountId];
    const { token } = (await served.saldo(words)) as { token: string };
    const transport = createGrpcTransport({ baseUrl: `http://${served.server.grpcAddress}` });
    const keys = createClient(KeysService, transport);
    const headers = { authorization: `Bearer ${token}`, "x-saldo-account": accountId };
    await expect(keys.createKey({ name: "x", rateLimit: 61 }, { headers })).rejects.toThrow("from 1 to 60");
    await expect(keys.createKey({ name: "x", rateLimit: 0 }, { headers })).rejects.toThrow("from 1 to 60");
    const { key } = await keys.createKey({ name: "x", rateLimit: 5 }, { headers });
    expect(key).toMatchObject({ rateLimit: 5, rateLimitBound: 60 });
    const keyId = key?.id ?? "";
    const change = async (rateLimit?: number) =>
      (await keys.updateKey({ keyId, name: "x", ...(rateLimit === undefined ? {} : { rateLimit }) }, { headers })).key;
    expect(await change(60)).toMatchObject({ rateLimit: 60, rateLimitBound: 60 });
    await expect(change(61)).rejects.toThrow("from 1 to 60");
    const byOperator = (rateLimit: string) =>
      served.saldo(["key", "update", "--key-id", keyId, "--rate-limit", rateLimit]);
    expect(await byOperator("200")).toMatchObject({ rateLimit: 200, rateLimitBound: 200 });
    expect(await change(7)).toMatchObject({ rateLimit: 7, rateLimitBound: 200 });
    expect(await change()).toMatchObject({ rateLimit: 7, rateLimitBound: 200 });
    expect(await byOperator("0")).toMatchObject({ rateLimit: 0, rateLimitBound: 0 });
    expect(await change(999)).toMatchObject({ rateLimit: 999, rateLimitBound: 0 });
    expect(await change(0)).toMatchObject({ rateLimit: 0, rateLimitBound: 0 });
  });
});
