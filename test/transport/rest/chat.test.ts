// The chat wire over real connections: bytes as they are, back-pressure, clients that leave.

import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { AnswerResponse } from "../../../src/transport/rest/answer-response.ts";
import { ChatResponseSink } from "../../../src/transport/rest/chat/chat-sink.ts";
import type { ChatCall, ChatSink, Gateway } from "../../../src/gateway/chat.ts";
import { CHAT_FORMAT } from "../../../src/gateway/formats/chat/chat-format.ts";
import {
  InsufficientBalance,
  InternalError,
  ModelNotFound,
  UpstreamBusy,
  ValidationError,
} from "../../../src/kernel/errors.ts";
import { idr } from "../../../src/kernel/money.ts";
import { BEARER, createLogMemory, RATE, startServers, type Running } from "../fakes.ts";

let running: Running | undefined;
afterEach(async () => {
  await running?.servers.close(1_000);
  running = undefined;
});

const JSON_HEADERS = { "content-type": "application/json", authorization: BEARER };
const HEAD = { rate: RATE, demo: false, origin: "demo" };
/** The end of a stream of which everything has passed. */
const ENDING = { passed: Buffer.alloc(0), format: CHAT_FORMAT };

async function serve(answer: (...call: Parameters<Gateway["answerChat"]>) => Promise<void>): Promise<Running> {
  const answerChat: Gateway["answerChat"] = (...call) => answer(...call).then(() => "answered");
  running = await startServers({ gateway: { answerChat } });
  return running;
}

const ask = (at: Running, body: string | Buffer<ArrayBuffer> = "{}", headers: Record<string, string> = {}) =>
  fetch(`${at.http}/v1/chat/completions`, { method: "POST", body, headers: { ...JSON_HEADERS, ...headers } });

/** A client that does not read until the test makes it. */
async function askWithoutReading(at: Running): Promise<Socket> {
  const socket = connect(Number(new URL(at.http).port), "127.0.0.1").pause();
  await once(socket, "connect");
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: ${BEARER}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`,
  );
  return socket;
}

test("hands the call on with the body's bytes, the key and our id", async () => {
  const calls: ChatCall[] = [];
  const at = await serve(async (call, sink) => {
    calls.push(call);
    sink.answer(
      { rate: RATE, demo: true, origin: "demo" },
      { json: Buffer.from('{"ok":true}'), format: CHAT_FORMAT, costIdr: "0.01875" },
    );
  });
  const body = Buffer.from('{ "model" : "ä€🙂", "unknown": 1 }');
  const response = await ask(at, body);
  expect(await response.json()).toEqual({ ok: true });
  expect(calls[0]?.body.equals(body)).toBe(true);
  expect(calls[0]).toMatchObject({ requestId: response.headers.get("x-request-id"), key: { keyId: "key-1" } });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/json",
    "x-saldo-cost-idr": "0.01875",
    "x-saldo-demo": "1",
    "x-ratelimit-remaining-requests": "41",
  });
});

test("a stream is announced as events that no proxy may collect", async () => {
  const at = await serve(async (_call, sink) => {
    sink.begin(HEAD);
    sink.end(ENDING);
  });
  const response = await ask(at);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  expect(response.headers.has("x-saldo-cost-idr")).toBe(false);
  expect(await response.text()).toBe("data: [DONE]\n\n");
});

const DONE = Buffer.from("data: [DONE]\n\n");

test("a unicode stream split at any byte arrives byte-identical", async () => {
  const event = Buffer.from('data: {"choices":[{"delta":{"content":"aé€🙂漢字\u{1F468}‍\u{1F469}"}}]}\n\n');
  const at = await serve(async ({ body }, sink) => {
    const offset = Number(body.toString());
    sink.begin(HEAD);
    sink.pass(event.subarray(0, offset), CHAT_FORMAT);
    // The pieces travel apart: the second is written when the first has left.
    await new Promise<void>((resolve) => setImmediate(resolve));
    sink.pass(event.subarray(offset), CHAT_FORMAT);
    sink.end(ENDING);
  });
  for (let offset = 1; offset < event.length; offset += 1) {
    const received = Buffer.from(await (await ask(at, String(offset))).arrayBuffer());
    expect(received.equals(Buffer.concat([event, DONE]))).toBe(true);
  }
});

test.each([
  [new ValidationError([{ field: "messages", rule: "required", message: "is required" }]), 400, "validation_error"],
  [new InsufficientBalance({ available: idr(1n), needed: idr(2n) }), 402, "insufficient_balance"],
  [new ModelNotFound("x"), 404, "model_not_found"],
  [new UpstreamBusy(900), 503, "upstream_busy"],
  [new InternalError({ cause: new Error("hidden") }), 500, "internal_error"],
  [new TypeError("hidden"), 500, "internal_error"],
])("%s before the start becomes %s %s", async (error, status, code) => {
  const at = await serve(async () => {
    throw error;
  });
  const response = await ask(at);
  const body = await response.text();
  expect([response.status, JSON.parse(body)]).toMatchObject([status, { error: code }]);
  expect(body).not.toContain("hidden");
  expect(response.headers.get("retry-after")).toBe(status === 503 ? "60" : null);
});

test("a refusal for want of balance names what the account owes, in both shapes", async () => {
  const facts = { available: idr(0n), needed: idr(2n), owed: idr(24_000_000_000n) };
  const at = await serve(() => Promise.reject(new InsufficientBalance(facts)));
  const said = "owes Rp 24,000.00 for a payment that was reversed";
  const plain = await (await ask(at)).json();
  expect(plain).toMatchObject({ error: "insufficient_balance", owed_idr: "24000" });
  expect((plain as { message: string }).message).toContain(said);
  const nested = await ask(at, "{}", { "x-saldo-error-format": "openai" });
  expect(await nested.json()).toMatchObject({ error: { code: "insufficient_balance", owed_idr: "24000" } });
});

test("a request without a body is refused before the gateway", async () => {
  const at = await serve(() => Promise.reject(new Error("not reached")));
  const response = await fetch(`${at.http}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: BEARER },
  });
  expect([response.status, await response.json()]).toMatchObject([400, { error: "validation_error" }]);
});

test("a fault after the start breaks the stream instead of completing it", async () => {
  const at = await serve(async (_call, sink) => {
    sink.begin(HEAD);
    sink.pass(Buffer.from("data: 1\n\n"), CHAT_FORMAT);
    await new Promise<void>((resolve) => setImmediate(resolve));
    throw new TypeError("a bug");
  });
  const response = await ask(at);
  await expect(response.text()).rejects.toThrow("terminated");
});

test("a slow reader holds the writer back until it reads", async () => {
  // More than the buffers of both sockets can hold.
  const pieces = 1024;
  const piece = Buffer.alloc(64 * 1024, "x");
  const order: string[] = [];
  const refused = Promise.withResolvers<void>();
  const at = await serve(async (_call, sink) => {
    sink.begin(HEAD);
    for (let i = 0; i < pieces; i += 1) {
      if (sink.pass(piece, CHAT_FORMAT)) continue;
      refused.resolve();
      await new Promise<void>((resolve) => sink.onDrained(resolve));
    }
    order.push("written");
    sink.end(ENDING);
  });
  const socket = await askWithoutReading(at);
  await refused.promise;
  // Turns of the event loop in which a writer that is not held back would have come to its end.
  for (let turn = 0; turn < 4 * pieces; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  order.push("read");
  let received = 0;
  for await (const bytes of socket) {
    received += (bytes as Buffer).length;
    if (received > pieces * piece.length) break;
  }
  expect(order).toEqual(["read", "written"]);
});

test.each([true, false])("a client that never reads a settled answer is not kept, streamed: %s", async (streamed) => {
  const closed = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => {
    response.on("close", () => closed.resolve(response));
    const sink = new ChatResponseSink(
      new AnswerResponse({ response, requestId: "request", headers: {}, unreadWithinMs: 200 }),
    );
    const json = Buffer.alloc(64 * 1024 * 1024, "x");
    if (streamed) {
      sink.begin(HEAD);
      sink.end({ ...ENDING, passed: json });
    } else sink.answer(HEAD, { json, format: CHAT_FORMAT, costIdr: "0" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").pause();
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const response = await closed.promise;
  expect(response.writableFinished).toBe(false);
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test("a client that leaves is noticed, and code that waits for it to read wakes up", async () => {
  const piece = Buffer.alloc(64 * 1024, "x");
  const gone = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<ChatSink>();
  const full = Promise.withResolvers<void>();
  const at = await serve(async (_call, sink) => {
    sink.onGone(() => gone.resolve());
    sink.begin(HEAD);
    while (sink.pass(piece, CHAT_FORMAT)) await new Promise<void>((resolve) => setImmediate(resolve));
    sink.onDrained(() => woken.resolve(sink));
    full.resolve();
    await woken.promise;
  });
  const socket = await askWithoutReading(at);
  await full.promise;
  socket.destroy();
  await gone.promise;
  const sink = await woken.promise;
  // Nothing is waited for any more: a bounded pool of upstream connections would stall for good.
  expect(sink.pass(piece, CHAT_FORMAT)).toBe(true);
  const late = Promise.withResolvers<void>();
  sink.onGone(() => late.resolve());
  await late.promise;
  sink.end(ENDING);
});

test("a client that got its whole answer is not reported as gone", async () => {
  let left = false;
  const at = await serve(async (_call, sink) => {
    sink.onGone(() => (left = true));
    sink.begin(HEAD);
    sink.pass(Buffer.from("data: 1\n\n"), CHAT_FORMAT);
    sink.end(ENDING);
  });
  await (await ask(at, "{}", { connection: "close" })).text();
  await at.servers.close(1_000);
  expect(left).toBe(false);
});

test("stopping is announced and goes on for a moment, then takes nothing new and waits for running calls", async () => {
  const proceed = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const at = await serve(async (_call, sink) => {
    sink.begin(HEAD);
    sink.pass(Buffer.from("data: 1\n\n"), CHAT_FORMAT);
    started.resolve();
    await proceed.promise;
    sink.end(ENDING);
  });
  const response = await ask(at);
  await started.promise;
  const closed = at.servers.close(10_000);
  expect((await fetch(`${at.http}/readyz`)).status).toBe(503);
  const late = await fetch(`${at.http}/healthz`);
  expect([late.status, late.headers.get("connection")]).toEqual([200, "close"]);
  await expect
    .poll(() =>
      fetch(`${at.http}/healthz`).then(
        () => "served",
        ({ cause }) => cause.code,
      ),
    )
    .toBe("ECONNREFUSED");
  proceed.resolve();
  expect(await response.text()).toContain("[DONE]");
  await closed;
});

test("an answer that outlasts the limit is cut", async () => {
  const started = Promise.withResolvers<void>();
  const gone = Promise.withResolvers<void>();
  const at = await serve(async (_call, sink) => {
    sink.onGone(() => gone.resolve());
    sink.begin(HEAD);
    sink.pass(Buffer.from("data: 1\n\n"), CHAT_FORMAT);
    started.resolve();
    await gone.promise;
  });
  const response = await ask(at);
  await started.promise;
  await at.servers.close(0);
  await expect(response.text()).rejects.toThrow("terminated");
});

test("the log line of a chat request names the key and the outcome", async () => {
  const { lines, logger } = createLogMemory();
  running = await startServers({ logger, gateway: { answerChat: () => Promise.reject(new ModelNotFound("x")) } });
  const response = await ask(running, '{"messages":"a secret prompt"}');
  expect(lines.find((line) => line["requestId"] === response.headers.get("x-request-id"))).toMatchObject({
    method: "saldo.gateway.v1.GatewayService/CreateChatCompletion",
    keyId: "key-1",
    code: "model_not_found",
  });
  expect(JSON.stringify(lines)).not.toContain("secret prompt");
});
