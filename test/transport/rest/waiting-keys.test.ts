// A key that is known to have no free slot is refused on its headers: its body would be read for nothing.

import { afterAll, beforeAll, expect, test } from "vitest";
import { BEARER, startServers, UNREAD_SECRET, type Running } from "../fakes.ts";
import { RawConnection } from "../raw-http.ts";

const CHAT = "/v1/chat/completions";
const RPC = "/saldo.gateway.v1.GatewayService/CreateChatCompletion";
const TYPE = "content-type: application/json\r\n";
const LARGE = `${TYPE}content-length: ${31 * 1024 * 1024}\r\n`;

let running: Running;
beforeAll(async () => {
  running = await startServers();
});
afterAll(() => running.servers.close(1_000));

test.each([
  ["a key", CHAT, BEARER, LARGE],
  ["a key that is not in memory", CHAT, `Bearer ${UNREAD_SECRET}`, LARGE],
  ["a key", RPC, BEARER, LARGE],
  ["a key with a body in chunks", CHAT, BEARER, `${TYPE}transfer-encoding: chunked\r\n`],
])(
  "%s that has to wait is refused at %s, and nothing of its body is kept",
  async (_what, path, authorization, more) => {
    running.keys.full = true;
    const connection = new RawConnection(running);
    await connection.send(`POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n${more}\r\n`);
    expect(await connection.status()).toBe(429);
    expect(connection.answer).toMatch(/\r\nretry-after: 17\r\n/i);
    expect(running.servers.intake.bytesInFlight).toBe(0);
    connection.close();
  },
);

test("a key that need not wait is answered", async () => {
  running.keys.full = false;
  const connection = new RawConnection(running);
  const head = `POST ${CHAT} HTTP/1.1\r\nhost: localhost\r\nauthorization: ${BEARER}\r\n${TYPE}content-length: 2\r\n\r\n`;
  await connection.send(`${head}{}`);
  expect(await connection.status()).toBe(200);
  connection.close();
});
