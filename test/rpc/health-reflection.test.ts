// gRPC health and reflection, through grpc-js.

import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HealthCheckRequestSchema, HealthCheckResponseSchema } from "#gen/grpc/health/v1/health_pb.ts";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "#gen/grpc/reflection/v1/reflection_pb.ts";
import { startServers, type Running } from "../facade/fakes.ts";

let running: Running;
let client: grpc.Client;
let isReady = true;

beforeAll(async () => {
  running = await startServers({ ready: async () => isReady });
  client = new grpc.Client(running.grpc, grpc.credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await running.servers.close(1_000);
});

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes);
const asIs = (bytes: Buffer) => bytes;
const healthRequest = (service: string) =>
  asBuffer(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service })));

function check(service: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  client.makeUnaryRequest("/grpc.health.v1.Health/Check", asBuffer, asIs, healthRequest(service), (error, bytes) =>
    bytes === undefined ? reject(error) : resolve(fromBinary(HealthCheckResponseSchema, bytes).status),
  );
  return promise;
}

async function reflect(question: ServerReflectionRequest["messageRequest"]): Promise<ServerReflectionResponse> {
  const call = client.makeBidiStreamRequest(
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    asBuffer,
    asIs,
  );
  const message = create(ServerReflectionRequestSchema, { messageRequest: question });
  call.end(asBuffer(toBinary(ServerReflectionRequestSchema, message)));
  const answers = await call.toArray();
  return fromBinary(ServerReflectionResponseSchema, answers[0] as Buffer);
}

/** The files in the order of a file set. */
function importsFirst(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const visit = (name: string): void => {
    const file = files.find((each) => each.name === name);
    if (file === undefined || ordered.has(file)) return;
    file.dependency.forEach(visit);
    ordered.add(file);
  };
  files.forEach((file) => visit(file.name));
  return [...ordered];
}

test.each(["", "saldo.gateway.v1.GatewayService", "grpc.health.v1.Health"])("says that %j serves", async (service) => {
  expect(await check(service)).toBe(1);
});

test("says that a service it does not know is not found", async () => {
  await expect(check("saldo.nothing.v1.Nothing")).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
});

test("says that a process which is not ready does not serve", async () => {
  isReady = false;
  expect(await check("")).toBe(2);
  isReady = true;
});

test("tells a watcher that the server stops, and ends its stream", async () => {
  const stopping = await startServers();
  const watcher = new grpc.Client(stopping.grpc, grpc.credentials.createInsecure());
  const call = watcher.makeServerStreamRequest("/grpc.health.v1.Health/Watch", asBuffer, asIs, healthRequest(""));
  const seen: number[] = [];
  for await (const bytes of call) {
    seen.push(fromBinary(HealthCheckResponseSchema, bytes as Buffer).status);
    if (seen.length === 1) void stopping.servers.close(10_000);
  }
  expect(seen).toEqual([1, 2]);
  watcher.close();
});

test("reflection lists the services", async () => {
  const { messageResponse } = await reflect({ case: "listServices", value: "" });
  expect(messageResponse.case).toBe("listServicesResponse");
  const names =
    messageResponse.case === "listServicesResponse" ? messageResponse.value.service.map((each) => each.name) : [];
  expect(names).toContain("saldo.gateway.v1.GatewayService");
  expect(names).toContain("grpc.health.v1.Health");
});

test.each([
  ["fileContainingSymbol", "saldo.gateway.v1.GatewayService"],
  ["fileContainingSymbol", "saldo.gateway.v1.GatewayService.CreateChatCompletion"],
  ["fileContainingSymbol", "saldo.gateway.v1.ChatMessage"],
  ["fileContainingSymbol", "saldo.gateway.v1.ChatMessage.role"],
  ["fileByFilename", "saldo/gateway/v1/gateway_service.proto"],
] as const)("reflection answers %s %s with files that a client can build", async (kind, value) => {
  const { messageResponse } = await reflect({ case: kind, value });
  const files = messageResponse.case === "fileDescriptorResponse" ? messageResponse.value.fileDescriptorProto : [];
  const given = files.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: importsFirst(given) }));
  expect(registry.get("saldo.gateway.v1.ChatMessage")?.kind).toBe("message");
});

test("reflection finds extensions", async () => {
  const numbers = await reflect({ case: "allExtensionNumbersOfType", value: "google.protobuf.MethodOptions" });
  expect(numbers.messageResponse).toMatchObject({
    case: "allExtensionNumbersResponse",
    value: { extensionNumber: expect.arrayContaining([50101, 72295728]) },
  });
  const value = { containingType: "google.protobuf.MethodOptions", extensionNumber: 50101 };
  const message = create(ServerReflectionRequestSchema, { messageRequest: { case: "fileContainingExtension", value } });
  expect((await reflect(message.messageRequest)).messageResponse.case).toBe("fileDescriptorResponse");
});

test("reflection says that there is nothing of an unknown name", async () => {
  const { messageResponse } = await reflect({ case: "fileByFilename", value: "nothing.proto" });
  expect(messageResponse).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
});
