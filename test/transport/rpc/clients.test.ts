// RPC through the clients that callers use: Connect, gRPC-Web and grpc-js.

import { fromBinary, toBinary, type DescMethod, type MessageInitShape, create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { createConnectTransport as createWebTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { GatewayService, ChatCompletionRequestSchema } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { BillingService } from "#gen/saldo/billing/v1/billing_service_pb.ts";
import { MerchantTransferService } from "#gen/saldo/merchant/v1/merchant_transfer_service_pb.ts";
import { BEARER, createLogMemory, implementations, SANDBOX_PAIR, startServers, type Running } from "../fakes.ts";

const log = createLogMemory();
const aborted = Promise.withResolvers<void>();
let running: Running;

beforeAll(async () => {
  running = await startServers({
    logger: log.logger,
    implementations: {
      ...implementations,
      billing: {
        // A method that never looks at its deadline.
        listUsage: () => Promise.withResolvers<never>().promise,
      },
      gateway: {
        ...implementations.gateway,
        async *streamChatCompletion(request, context) {
          context.signal.addEventListener("abort", () => aborted.resolve());
          yield* implementations.gateway?.streamChatCompletion?.(request, context) ?? [];
        },
      },
    },
  });
});
afterAll(() => running.servers.close(1_000));

const headers = { authorization: BEARER };
const user = { messages: [{ role: "user", content: "hi" }] };

async function failure(promise: Promise<unknown>): Promise<ConnectError> {
  try {
    await promise;
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("the call did not fail");
}

const transports: Record<string, () => Transport> = {
  "Connect (node)": () => createConnectTransport({ baseUrl: running.http, httpVersion: "1.1" }),
  "Connect (web)": () => createWebTransport({ baseUrl: running.http }),
  "gRPC-Web": () => createGrpcWebTransport({ baseUrl: running.http }),
  gRPC: () => createGrpcTransport({ baseUrl: `http://${running.grpc}` }),
};

describe.each(Object.entries(transports))("%s", (_name, transport) => {
  test("answers a unary call, with the request id and the window in its headers", async () => {
    const seen: Headers[] = [];
    const client = createClient(GatewayService, transport());
    const answer = await client.listModels({}, { headers, onHeader: (header) => seen.push(header) });
    expect(answer.data.map((model) => model.id)).toEqual(["acme/large"]);
    expect(seen[0]?.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(seen[0]?.get("x-ratelimit-remaining-requests")).toBe("41");
  });

  test("streams", async () => {
    const client = createClient(GatewayService, transport());
    const ids: string[] = [];
    for await (const piece of client.streamChatCompletion({ model: "x", ...user }, { headers })) ids.push(piece.id);
    expect(ids).toEqual(["chatcmpl-0", "chatcmpl-1", "chatcmpl-2"]);
  });

  test("gives the facts of an error that ends a stream half-way, and its text unharmed", async () => {
    const client = createClient(GatewayService, transport());
    const error = await failure(Array.fromAsync(client.streamChatCompletion({ model: "half", ...user }, { headers })));
    expect([error.code, error.rawMessage]).toEqual([Code.NotFound, "Gone: nothing, here."]);
    expect(error.findDetails(ErrorFactsSchema)[0]).toMatchObject({ code: "not_found" });
  });

  test("refuses a caller without credentials, and one of the wrong kind", async () => {
    const client = createClient(GatewayService, transport());
    const unknown = await failure(client.listModels({}));
    expect(unknown.code).toBe(Code.Unauthenticated);
    expect(unknown.findDetails(ErrorFactsSchema)[0]?.code).toBe("invalid_api_key");
    const merchant = await failure(client.listModels({}, { headers: { authorization: SANDBOX_PAIR } }));
    expect(merchant.code).toBe(Code.Unauthenticated);
    expect(merchant.findDetails(ErrorFactsSchema)[0]?.code).toBe("invalid_api_key");
  });

  test("names the fields that break the contract's rules", async () => {
    const client = createClient(GatewayService, transport());
    const refused = await failure(client.getModel({ id: "" }, { headers }));
    expect(refused.code).toBe(Code.InvalidArgument);
    expect(refused.findDetails(ErrorFactsSchema)[0]).toMatchObject({
      code: "validation_error",
      details: [{ field: "id", rule: "string.min_len" }],
    });
    const messages = [{ role: "wizard" }];
    const streamed = await failure(Array.fromAsync(client.streamChatCompletion({ model: "x", messages }, { headers })));
    expect(streamed.findDetails(ErrorFactsSchema)[0]?.details).toMatchObject([
      { field: "messages[0].role", rule: "string.in" },
    ]);
  });

  test("ends at the deadline, also in a method that ignores it", async () => {
    const client = createClient(BillingService, transport());
    const error = await failure(client.listUsage({}, { headers, timeoutMs: 50 }));
    expect(error.code).toBe(Code.DeadlineExceeded);
  });

  test("answers Unimplemented for what nothing implements", async () => {
    const error = await failure(createClient(BillingService, transport()).getBalance({}, { headers }));
    expect(error.code).toBe(Code.Unimplemented);
  });

  test("takes a merchant pair of either environment", async () => {
    const client = createClient(MerchantTransferService, transport());
    const { quote } = await client.calculateTransfer(
      { currencyCode: "TRX", amount: "5.10" },
      { headers: { authorization: SANDBOX_PAIR } },
    );
    expect(quote).toMatchObject({ network: "sandbox", receivedAmount: "5.10" });
  });
});

test("a message that cannot be decoded is refused with facts and a log line", async () => {
  const response = await fetch(`${running.http}/saldo.gateway.v1.GatewayService/ListModels`, {
    method: "POST",
    body: "{",
    headers: { ...headers, "content-type": "application/json" },
  });
  const requestId = response.headers.get("x-request-id");
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { code: "invalid_argument", details: [{ debug: { code: "validation_error", requestId } }] },
  ]);
  expect(log.lines.find((line) => line["requestId"] === requestId)).toMatchObject({ code: "validation_error" });
});

test("a client that leaves a stream aborts it", async () => {
  const client = createClient(GatewayService, transports["gRPC"]?.() ?? createWebTransport({ baseUrl: running.http }));
  const leave = new AbortController();
  const pieces = client.streamChatCompletion({ model: "endless", ...user }, { headers, signal: leave.signal });
  const error = await failure(
    (async () => {
      for await (const piece of pieces) if (piece.id === "chatcmpl-2") leave.abort();
    })(),
  );
  expect(error.code).toBe(Code.Canceled);
  await aborted.promise;
});

const grpcClient = () => new grpc.Client(running.grpc, grpc.credentials.createInsecure());
const metadataOf = (authorization = BEARER) => {
  const made = new grpc.Metadata();
  made.set("authorization", authorization);
  return made;
};
const pathOf = (method: DescMethod) => `/${method.parent.typeName}/${method.name}`;
const bytes = (value: Uint8Array) => Buffer.from(value);
const same = (value: Buffer) => value;

function unary(
  client: grpc.Client,
  method: DescMethod,
  request: MessageInitShape<DescMethod["input"]>,
  options: grpc.CallOptions = {},
  sent = metadataOf(),
): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const message = bytes(toBinary(method.input, create(method.input, request)));
  client.makeUnaryRequest(pathOf(method), bytes, same, message, sent, options, (error, answer) =>
    error === null && answer !== undefined ? resolve(answer) : reject(error),
  );
  return promise;
}

function stream(client: grpc.Client, model: string): grpc.ClientReadableStream<Buffer> {
  const message = bytes(toBinary(ChatCompletionRequestSchema, create(ChatCompletionRequestSchema, { model, ...user })));
  return client.makeServerStreamRequest(
    pathOf(GatewayService.method.streamChatCompletion),
    bytes,
    same,
    message,
    metadataOf(),
  );
}

test("grpc-js calls, streams, meets its deadline, cancels and reads the text of an error", async () => {
  const client = grpcClient();
  const { listModels, getModel } = GatewayService.method;
  expect(fromBinary(listModels.output, await unary(client, listModels, {})).data).toHaveLength(1);

  const pieces: Buffer[] = [];
  for await (const piece of stream(client, "x")) pieces.push(piece as Buffer);
  expect(pieces).toHaveLength(3);

  const slow = unary(client, BillingService.method.listUsage, {}, { deadline: Date.now() + 50 });
  await expect(slow).rejects.toMatchObject({ code: grpc.status.DEADLINE_EXCEEDED });

  const canceled = stream(client, "endless");
  const ended = Promise.withResolvers<unknown>();
  canceled.on("error", ended.resolve);
  canceled.once("data", () => canceled.cancel());
  expect(await ended.promise).toMatchObject({ code: grpc.status.CANCELLED });

  const half = Promise.withResolvers<unknown>();
  stream(client, "half").on("error", half.resolve).resume();
  expect(await half.promise).toMatchObject({ code: grpc.status.NOT_FOUND, details: "Gone: nothing, here." });

  const wrong = unary(client, getModel, { id: "" });
  await expect(wrong).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
  const error = (await wrong.catch((thrown: unknown) => thrown)) as grpc.ServiceError;
  expect(error.metadata.get("grpc-status-details-bin")[0]).toBeInstanceOf(Buffer);
  client.close();
});
