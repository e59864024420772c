// gRPC health and reflection, through grpc-js.

import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import * as grpc from "@grpc/grpc-js";
import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HealthCheckRequestSchema, HealthCheckResponseSchema } from "#gen/grpc/health/v1/health_pb.ts";
import {
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from "#gen/grpc/reflection/v1/reflection_pb.ts";
import { MAX_WATCHES } from "../../../src/transport/grpc/health.ts";
import { MAX_QUESTIONS } from "../../../src/transport/grpc/reflection.ts";
import { startServers, type Running } from "../fakes.ts";
import { callGrpc, envelope, openSession } from "./raw-calls.ts";

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

const openReflection = (by = client, version = "v1") =>
  by.makeBidiStreamRequest(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`, asBuffer, asIs);

const questionOf = (messageRequest: ServerReflectionRequest["messageRequest"]) =>
  asBuffer(toBinary(ServerReflectionRequestSchema, create(ServerReflectionRequestSchema, { messageRequest })));

/** Asks one question after the other on one stream. */
async function reflectAll(
  questions: readonly ServerReflectionRequest["messageRequest"][],
  version?: string,
): Promise<ServerReflectionResponse[]> {
  const call = openReflection(client, version);
  for (const question of questions) call.write(questionOf(question));
  call.end();
  const answers: Buffer[] = await call.toArray();
  return answers.map((answer) => fromBinary(ServerReflectionResponseSchema, answer));
}

test("reflection answers older tools under the name v1alpha as it answers under v1", async () => {
  const questions = [
    { case: "listServices" as const, value: "" },
    { case: "fileContainingSymbol" as const, value: "saldo.gateway.v1.GatewayService" },
  ];
  const answers = await reflectAll(questions, "v1alpha");
  expect(answers.map(({ messageResponse }) => messageResponse.case)).toEqual([
    "listServicesResponse",
    "fileDescriptorResponse",
  ]);
  expect(answers).toEqual(await reflectAll(questions));
});

async function reflect(question: ServerReflectionRequest["messageRequest"]): Promise<ServerReflectionResponse> {
  const [answer] = await reflectAll([question]);
  if (answer === undefined) throw new Error("the question was not answered");
  return answer;
}

const watchOf = (by: grpc.Client) =>
  by.makeServerStreamRequest("/grpc.health.v1.Health/Watch", asBuffer, asIs, healthRequest(""));

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

test.each(["", "saldo.gateway.v1.GatewayService", "grpc.health.v1.Health"])(
  "reports that %j serves",
  async (service) => {
    expect(await check(service)).toBe(1);
  },
);

test("reports an unknown service as not found", async () => {
  await expect(check("saldo.nothing.v1.Nothing")).rejects.toMatchObject({ code: grpc.status.NOT_FOUND });
});

test("reports that a process which is not ready does not serve", async () => {
  isReady = false;
  expect(await check("")).toBe(2);
  isReady = true;
});

test("notifies a watcher that the server stops, and ends its stream", async () => {
  const stopping = await startServers();
  const watcher = new grpc.Client(stopping.grpc, grpc.credentials.createInsecure());
  const call = watchOf(watcher);
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

test("reflection has nothing of an unknown name", async () => {
  const { messageResponse } = await reflect({ case: "fileByFilename", value: "nothing.proto" });
  expect(messageResponse).toMatchObject({ case: "errorResponse", value: { errorCode: 5 } });
});

test("takes as many watches as a process has, and one more when one has left", async () => {
  const watches = Array.from({ length: MAX_WATCHES }, () => watchOf(client));
  for (const watch of watches) watch.on("error", () => {});
  await Promise.all(watches.map((watch) => once(watch, "data")));
  const refused = watchOf(client);
  await expect(refused.toArray()).rejects.toMatchObject({ code: grpc.status.UNAVAILABLE });
  expect(await check("")).toBe(1);
  watches.forEach((watch) => watch.cancel());
  await expect
    .poll(() =>
      once(watchOf(client), "data").then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
});

test("refuses a message of health and reflection above 4 KiB, and a compressed one", async () => {
  await expect(check("x".repeat(4_200))).rejects.toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED });
  const large = openReflection();
  large.end(questionOf({ case: "fileByFilename", value: "x".repeat(4_200) }));
  await expect(large.toArray()).rejects.toMatchObject({ code: grpc.status.RESOURCE_EXHAUSTED });
  const session = openSession(running.grpc);
  const { trailers } = await callGrpc(
    session,
    "/grpc.health.v1.Health/Check",
    envelope(Buffer.from("x"), { compressed: true }),
    {
      headers: { "grpc-encoding": "gzip" },
    },
  );
  expect(trailers.get("grpc-status")).toBe(String(grpc.status.UNIMPLEMENTED));
  session.destroy();
});

test("reflection gives each file once to a stream, and answers only so many questions", async () => {
  const asked = { case: "fileContainingSymbol", value: "saldo.gateway.v1.GatewayService" } as const;
  const answers = await reflectAll([asked, asked, { ...asked, value: "saldo.keys.v1.KeysService" }]);
  const names = answers.map(({ messageResponse }) =>
    messageResponse.case === "fileDescriptorResponse"
      ? messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name)
      : [],
  );
  expect(names[0]).toContain("saldo/options/v1/options.proto");
  expect(names[1]).toEqual(["saldo/gateway/v1/gateway_service.proto"]);
  expect(names[2]).toContain("saldo/keys/v1/keys_service.proto");
  expect(names[2]).not.toContain("saldo/options/v1/options.proto");

  const most = Array.from({ length: MAX_QUESTIONS }, () => ({ case: "listServices", value: "" }) as const);
  expect(await reflectAll(most)).toHaveLength(MAX_QUESTIONS);
  await expect(reflectAll([...most, asked])).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
});

test("reflection can be switched off", async () => {
  const silent = await startServers({ grpc: { reflection: false } });
  const asking = new grpc.Client(silent.grpc, grpc.credentials.createInsecure());
  const call = openReflection(asking);
  call.end(questionOf({ case: "listServices", value: "" }));
  await expect(call.toArray()).rejects.toMatchObject({ code: grpc.status.UNIMPLEMENTED });
  asking.close();
  await silent.servers.close(1_000);
});
