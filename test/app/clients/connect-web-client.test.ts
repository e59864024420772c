import { Code, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { UsageBasis } from "#gen/saldo/billing/v1/usage_pb.ts";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { type ServedSaldo, serveSaldo } from "./served-saldo.ts";

let served: ServedSaldo;

beforeAll(async () => {
  served = await serveSaldo();
});
afterAll(() => served.stop());

const transports = { Connect: createConnectTransport, "gRPC-Web": createGrpcWebTransport } as const;

/** The transport a page of the dashboard has, on the HTTP port. */
function transportOf(protocol: keyof typeof transports, key: string): Transport {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
  return transports[protocol]({ baseUrl: served.server.httpUrl, interceptors: [authorize] });
}

const hello = { model: "demo/small", messages: [{ role: "user", content: "Hello!" }] };

describe.each(["Connect", "gRPC-Web"] as const)("a browser's client over %s", (protocol) => {
  test("lists models, reads its balance, and finds its request in the usage", async () => {
    const customer = await served.customer();
    const transport = transportOf(protocol, customer.key);
    const gateway = createClient(GatewayService, transport);
    const billing = createClient(BillingService, transport);
    const { data } = await gateway.listModels({});
    expect(data.map(({ id }) => id)).toEqual([
      "demo/echo",
      "demo/embed",
      "demo/large",
      "demo/small",
      "demo/thinking",
      "demo/vision",
    ]);
    const { usage } = await gateway.createChatCompletion(hello);
    const { balance } = await billing.getBalance({});
    expect(balance).toMatchObject({ currency: "IDR", ...(await served.balance(customer.accountId)) });
    const { records, nextPageToken } = await billing.listUsage({ pageSize: 10 });
    expect(nextPageToken).toBe("");
    expect(records).toMatchObject([
      { model: "demo/small", keyId: customer.keyId, charge: usage?.costIdr, basis: UsageBasis.EXACT },
    ]);
  });

  test("gets a stream, message by message, with the usage at its end", async () => {
    const customer = await served.customer();
    const gateway = createClient(GatewayService, transportOf(protocol, customer.key));
    let text = "";
    let costIdr: string | undefined;
    for await (const { choices, usage } of gateway.streamChatCompletion(hello)) {
      text += choices[0]?.delta?.content ?? "";
      costIdr = usage?.costIdr;
    }
    expect(text).toContain("demo model small");
    expect(costIdr).toMatch(/^0\.\d+$/);
    expect(await served.usage(customer.accountId)).toMatchObject([{ streamed: true, charge: costIdr }]);
  });

  test("gets the facts of an error", async () => {
    const { key } = await served.customer({ credit: "0" });
    const gateway = createClient(GatewayService, transportOf(protocol, key));
    const error: unknown = await gateway.createChatCompletion(hello).catch((thrown: unknown) => thrown);
    const refusal = ConnectError.from(error);
    expect(refusal.code).toBe(Code.FailedPrecondition);
    expect(refusal.findDetails(ErrorFactsSchema)).toMatchObject([{ code: "insufficient_balance", availableIdr: "0" }]);
    const stranger = createClient(GatewayService, transportOf(protocol, "gw_nobody"));
    await expect(stranger.listModels({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  });
});
