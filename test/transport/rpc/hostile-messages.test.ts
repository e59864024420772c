// Messages made to cost more than they weigh. A stranger's is not read at all; a caller's is read within the bounds of its
// method, on every protocol.

import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { ClientHttp2Session } from "node:http2";
import { create, toBinary, toJsonString, type Message } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { errorFromJsonBytes } from "@connectrpc/connect/protocol-connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ChatCompletionRequestSchema,
  GatewayService,
  GetModelRequestSchema,
} from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import { BEARER, createLogMemory, implementations, startServers, type Running } from "../fakes.ts";
import {
  callHttp,
  codeOf,
  connectProtocol,
  factsOf,
  grpcProtocol,
  grpcWebProtocol,
  openSession,
  pathOf,
  type Protocol,
} from "./raw-calls.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const { listModels, getModel, createChatCompletion } = GatewayService.method;

const log = createLogMemory();
/** The messages that services were given. */
const given: Message[] = [];
let running: Running;
let session: ClientHttp2Session;

beforeAll(async () => {
  running = await startServers({
    logger: log.logger,
    implementations: {
      gateway: {
        ...implementations.gateway,
        getModel(request) {
          given.push(request);
          return { model: { id: request.id } };
        },
        createChatCompletion(request) {
          given.push(request);
          return { id: "chatcmpl-1", model: request.model };
        },
      },
    },
  });
  session = openSession(running.grpc);
});
afterAll(async () => {
  session.destroy();
  await running.servers.close(1_000);
});

const protocols: Record<string, Protocol> = {
  Connect: (sending) => connectProtocol(running.http)(sending),
  "gRPC-Web": (sending) => grpcWebProtocol(running.http)(sending),
  gRPC: (sending) => grpcProtocol(() => session)(sending),
};

const headers = { authorization: BEARER };
const chatOf = (content: string) =>
  create(ChatCompletionRequestSchema, { model: "x", messages: [{ role: "user", content }] });
/** So many times the two bytes of an empty message, or of a number. */
const twoBytes = (mib: number, tag: number, value = 0) => Buffer.alloc(mib * MIB, Buffer.from([tag, value]));
const UNKNOWN_FIELD_15 = 0x78;
const MESSAGES_FIELD = 0x12;

function brotli(bytes: Uint8Array): Buffer {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(bytes, { params });
}

const BOMB = brotli(twoBytes(32, UNKNOWN_FIELD_15));

describe.each(Object.entries(protocols))("%s", (_name, call) => {
  test("answers a stranger before the body has come", async () => {
    const error = await call({ method: createChatCompletion, message: Buffer.alloc(KIB), unfinished: true });
    expect([codeOf(error), factsOf(error)?.code]).toEqual(["Unauthenticated", "invalid_api_key"]);
  });

  test("answers a stranger whose message cannot be decompressed or decoded as one whose message is sound", async () => {
    const encoding = "gzip";
    const garbled = await call({ method: createChatCompletion, message: Buffer.from("no gzip"), encoding });
    expect(factsOf(garbled)?.code).toBe("invalid_api_key");
    const unknown = await call({ method: createChatCompletion, message: Buffer.from("no zip"), encoding: "lzw" });
    expect(factsOf(unknown)?.code).toBe("invalid_api_key");
    const undecodable = await call({ method: createChatCompletion, message: Buffer.from("{"), json: true });
    expect(factsOf(undecodable)?.code).toBe("invalid_api_key");
  });

  test("refuses a message that is larger than its method allows, before all of it has come", async () => {
    const message = Buffer.alloc(65 * KIB);
    const error = await call({ method: getModel, message, headers: { ...headers }, unfinished: true });
    expect([codeOf(error), factsOf(error)?.code]).toEqual(["ResourceExhausted", "payload_too_large"]);
    expect(error?.rawMessage).toBe("The body is larger than 65536 bytes.");
  });

  test("takes a message as large as its method allows", async () => {
    const message = toBinary(ChatCompletionRequestSchema, chatOf("x".repeat(2 * MIB)));
    expect(codeOf(await call({ method: createChatCompletion, message, headers }))).toBe("ok");
    const id = "m".repeat(64 * KIB - 4);
    const small = toBinary(GetModelRequestSchema, create(GetModelRequestSchema, { id }));
    expect(small.length).toBe(64 * KIB);
    const refused = await call({ method: getModel, message: small, headers });
    expect(factsOf(refused)?.details[0]?.rule).toBe("string.max_len");
  });

  test("takes a compressed chat, as protobuf and as JSON", async () => {
    const binary = gzipSync(toBinary(ChatCompletionRequestSchema, chatOf("hi")));
    expect(codeOf(await call({ method: createChatCompletion, message: binary, headers, encoding: "gzip" }))).toBe("ok");
    const json = brotli(Buffer.from(toJsonString(ChatCompletionRequestSchema, chatOf("hi"))));
    const sending = { method: createChatCompletion, message: json, headers, encoding: "br", json: true };
    expect(codeOf(await call(sending))).toBe("ok");
    expect(given.at(-1)).toMatchObject({ messages: [{ role: "user", content: "hi" }] });
  });

  test("refuses a compressed message of a method that carries no model content", async () => {
    const message = gzipSync(toBinary(GetModelRequestSchema, create(GetModelRequestSchema, { id: "x" })));
    const error = await call({ method: getModel, message, headers, encoding: "gzip" });
    expect([codeOf(error), factsOf(error)?.code]).toEqual(["Unimplemented", "unsupported_media_type"]);
  });

  test("gives up a compressed message that becomes a hundred times as large", async () => {
    expect(BOMB.length).toBeLessThan(200);
    const error = await call({ method: createChatCompletion, message: BOMB, headers, encoding: "br" });
    expect([codeOf(error), factsOf(error)?.code]).toEqual(["InvalidArgument", "validation_error"]);
    expect(factsOf(error)?.details[0]?.message).toBe("must not decompress to more than 100 times its size");
  });

  test.each([
    ["empty messages", twoBytes(8, MESSAGES_FIELD), false],
    ["unknown fields", twoBytes(8, UNKNOWN_FIELD_15), false],
    ["JSON lists", Buffer.from(`{"extra":{"a":[${"[],".repeat(2 * MIB)}[]]}}`), true],
  ])("refuses a chat of millions of %s without making one of them", async (_what, message, json) => {
    const error = await call({ method: createChatCompletion, message, headers, json });
    expect(codeOf(error)).toBe("InvalidArgument");
    expect(factsOf(error)?.details).toMatchObject([{ rule: "message.elements" }]);
  });

  test("does not keep fields that its contract does not have", async () => {
    const known = toBinary(GetModelRequestSchema, create(GetModelRequestSchema, { id: "x" }));
    const message = Buffer.concat([known, Buffer.from([UNKNOWN_FIELD_15, 1])]);
    expect(codeOf(await call({ method: getModel, message, headers }))).toBe("ok");
    expect(given.at(-1)).toEqual(create(GetModelRequestSchema, { id: "x" }));
  });

  test.each([
    ["protobuf", Buffer.from([0xff, 0xff]), false],
    ["JSON", Buffer.from("{"), true],
  ])("refuses %s that cannot be decoded with facts and a log line", async (_what, message, json) => {
    const error = await call({ method: listModels, message, headers, json });
    const facts = factsOf(error);
    expect([codeOf(error), facts?.code]).toEqual(["InvalidArgument", "validation_error"]);
    const line = log.lines.find(({ requestId }) => requestId === facts?.requestId);
    expect(line).toMatchObject({ code: "validation_error", caller: "api_key" });
  });
});

describe("Connect GET", () => {
  const get = async (query: string, sent = {}) => {
    const address = `${running.http}${pathOf(getModel)}?connect=v1&encoding=proto&${query}`;
    const { status, body } = await callHttp(address, Buffer.alloc(0), { method: "GET", headers: sent });
    const error = status === 200 ? undefined : errorFromJsonBytes(body, undefined, new ConnectError("no error in it"));
    return [codeOf(error), factsOf(error)?.code];
  };
  const bomb = `base64=1&compression=br&message=${BOMB.toString("base64url")}`;

  test("does not look at the message of a stranger", async () => {
    expect(await get(bomb)).toEqual(["Unauthenticated", "invalid_api_key"]);
    expect(await get("base64=1&message=%25")).toEqual(["Unauthenticated", "invalid_api_key"]);
  });

  test("reads the message of a caller, and no compressed one", async () => {
    const message = Buffer.from(toBinary(GetModelRequestSchema, create(GetModelRequestSchema, { id: "x" })));
    expect(await get(`base64=1&message=${message.toString("base64url")}`, headers)).toEqual(["ok", undefined]);
    expect(given.at(-1)).toMatchObject({ id: "x" });
    expect(await get(bomb, headers)).toEqual(["Unimplemented", "unsupported_media_type"]);
    expect(await get("base64=1&message=%25", headers)).toEqual(["InvalidArgument", "validation_error"]);
  });
});
