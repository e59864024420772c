// A plain chat request goes around Fastify and every other one through it. The answers must not show which.

import { CHAT_FORMAT } from "../../../src/gateway/formats/chat/chat-format.ts";
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Gateway } from "../../../src/gateway/chat.ts";
import { BEARER, RATE, startServers, type Running } from "../fakes.ts";

let running: Running | undefined;
afterEach(async () => {
  await running?.servers.close(1_000);
  running = undefined;
});

async function serve(answer: (...call: Parameters<Gateway["answerChat"]>) => Promise<void>): Promise<Running> {
  const answerChat: Gateway["answerChat"] = (...call) => answer(...call).then(() => "answered");
  running = await startServers({ gateway: { answerChat } });
  return running;
}

/** Sends a chat request as raw HTTP, in the pieces given, and gives all that comes back once the server has closed. */
async function askRaw(at: Running, pieces: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(at.http).port), "127.0.0.1").setNoDelay(true);
  let answer = "";
  socket.on("data", (bytes: Buffer) => (answer += bytes.toString()));
  for (const piece of pieces) {
    socket.write(piece);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await once(socket, "close");
  return answer;
}

// One of these goes around Fastify, the others through it.
describe.each([
  ["content-type: application/json\r\ncontent-length: 13\r\n", ['{"a":', '"long"}\n']],
  ["content-type: Application/JSON\r\ncontent-length: 13\r\n", ['{"a":', '"long"}\n']],
  ["content-type: application/json; charset=utf-8\r\ncontent-length: 13\r\n", ['{"a":', '"long"}\n']],
  [
    "content-type: application/json\r\ntransfer-encoding: chunked\r\n",
    ['5\r\n{"a":\r\n', '8\r\n"long"}\n\r\n0\r\n\r\n'],
  ],
])("a request with %j", (headers, body) => {
  const head = (more: string) =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${more}${headers}\r\n`;

  test("is answered, whatever pieces its body comes in", async () => {
    const bodies: string[] = [];
    const at = await serve(async (call, sink) => {
      bodies.push(call.body.toString());
      sink.answer(
        { rate: RATE, demo: false, origin: "demo" },
        { json: Buffer.from("{}"), format: CHAT_FORMAT, costIdr: "0" },
      );
    });
    const answer = await askRaw(at, [head(`authorization: ${BEARER}\r\n`), ...body]);
    expect(bodies).toEqual(['{"a":"long"}\n']);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*x-request-id: [0-9a-f-]{36}\r\n[^]*\r\n\r\n\{\}$/i);
  });

  test("is refused without a key, and with two", async () => {
    const at = await serve(() => Promise.reject(new Error("not reached")));
    const key = `authorization: ${BEARER}\r\n`;
    for (const keys of ["", key + key]) {
      const answer = await askRaw(at, [head(keys), ...body]);
      expect(answer).toMatch(/^HTTP\/1.1 401 [^]*"error":"invalid_api_key"/);
    }
  });

  test("is forgotten when its client leaves in the middle of it", async () => {
    let calls = 0;
    const at = await serve(async () => void (calls += 1));
    const socket = connect(Number(new URL(at.http).port), "127.0.0.1");
    socket.write(head(`authorization: ${BEARER}\r\n`) + body[0]);
    await once(socket, "connect");
    await new Promise<void>((resolve) => setImmediate(resolve));
    socket.destroy();
    await once(socket, "close");
    // Another request is answered behind it.
    expect((await fetch(`${at.http}/healthz`)).status).toBe(200);
    expect(calls).toBe(0);
  });
});

test("a body over the limit is refused, and its bytes are not waited for", async () => {
  const at = await serve(() => Promise.reject(new Error("not reached")));
  const length = 32 * 1024 * 1024 + 1;
  const answer = await askRaw(at, [
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: ${BEARER}\r\n` +
      `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n{`,
  ]);
  expect(answer).toMatch(/^HTTP\/1.1 413 [^]*"error":"payload_too_large"/);
});
