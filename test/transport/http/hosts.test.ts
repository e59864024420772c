// Requests whose host or framing is not clear. A proxy in front may read them otherwise than we do, so none is carried out.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { BEARER, startServers, type Running } from "../fakes.ts";
import { exchange, RawConnection } from "../raw-http.ts";

let running: Running;
const answerChat = vi.fn<() => Promise<"answered">>(async () => "answered");
beforeAll(async () => {
  running = await startServers({ gateway: { answerChat } });
});
afterAll(() => running.servers.close(1_000));

const written = vi.spyOn(console, "error");
beforeEach(() => void written.mockClear());
afterEach(() => {
  // Nothing is written beside the log.
  expect(written).not.toHaveBeenCalled();
  expect(answerChat).not.toHaveBeenCalled();
});

const RPC = "/saldo.billing.v1.BillingService/GetBalance";
const JSON_BODY = "content-type: application/json\r\ncontent-length: 2\r\n";

describe.each([
  ["chat", `POST /v1/chat/completions HTTP/1.1\r\nauthorization: ${BEARER}\r\n${JSON_BODY}`, "{}"],
  [
    "chat in chunks",
    `POST /v1/chat/completions HTTP/1.1\r\nauthorization: ${BEARER}\r\ntransfer-encoding: chunked\r\n`,
    "0\r\n\r\n",
  ],
  ["REST", `GET /v1/models HTTP/1.1\r\nauthorization: ${BEARER}\r\n`, ""],
  ["RPC", `POST ${RPC} HTTP/1.1\r\nauthorization: ${BEARER}\r\n${JSON_BODY}`, "{}"],
  ["a probe", "GET /healthz HTTP/1.1\r\n", ""],
  ["nothing", "GET /nothing HTTP/1.1\r\n", ""],
])("%s", (_name, head, body) => {
  test.each([
    ["no host", ""],
    ["an empty host", "host: \r\n"],
    ["a space", "host: a b\r\n"],
    ["a path", "host: a/b\r\n"],
    ["a user", "host: a@b\r\n"],
    ["a port that is none", "host: a:99999\r\n"],
    ["an address that is none", "host: 1.2.3.4.5\r\n"],
    ["an unclosed bracket", "host: [::1\r\n"],
    ["two hosts", "host: a\r\nhost: b\r\n"],
    ["the same host twice", "host: a\r\nHost: a\r\n"],
  ])("with %s is refused in our shape", async (_what, host) => {
    const answer = await exchange(running, `${head}${host}connection: close\r\n\r\n${body}`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
    expect(answer).toMatch(/\r\n\r\n\{"error":"validation_error",[^]*"field":"Host","rule":"http"/);
  });
});

test("merchants are refused in theirs", async () => {
  const answer = await exchange(running, "GET /v1/merchant-balances HTTP/1.1\r\nconnection: close\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\{"meta":\{[^]*"statusCode":400,"error":"validation_error"/);
});

test.each(["localhost", "LOCALHOST:3000", "127.0.0.1", "[::1]:3000", "saldo.example", "a_b-c.example:80"])(
  "the host %s is taken",
  async (host) => {
    const answer = await exchange(running, `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  },
);

test("HTTP/1.0 needs no host", async () => {
  expect(await exchange(running, "GET /healthz HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 /);
});

test.each([
  ["http://localhost/healthz", 200],
  ["HTTP://LOCALHOST/healthz?a=b", 200],
  ["http://localhost", 404],
  ["http://elsewhere/healthz", 400],
  ["https://user@localhost/healthz", 400],
  ["http://localhost:81/healthz", 400],
  ["ftp://localhost/healthz", 404],
  ["*", 404],
])("an address in absolute form names the host again: %s is %i", async (address, status) => {
  const answer = await exchange(running, `GET ${address} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});

const POST = "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
const HIDDEN = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

// One answer at most: the request that is hidden in the first is never answered, and none reaches the gateway.
test.each([
  ["a length and chunks", `${POST}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
  ["a coding that is none", `${POST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
  ["a space before the colon", `${POST}transfer-encoding : chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
  ["two lengths", `${POST}content-length: 2\r\ncontent-length: 3\r\n\r\n{}x${HIDDEN}`],
  ["a signed length", `${POST}content-length: +2\r\n\r\n{}${HIDDEN}`],
  ["a bare line feed", `GET /healthz HTTP/1.1\nhost: localhost\n\n${HIDDEN}`],
  ["a line feed in a chunk", `${POST}transfer-encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\n${HIDDEN}`],
  ["a folded header", `GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-a: 1\r\n b\r\n\r\n${HIDDEN}`],
  [
    "a chunk extension without end",
    `${POST}transfer-encoding: chunked\r\n\r\n2;${"a".repeat(20_000)}\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
  ],
])("%s hides no request", async (_what, bytes) => {
  const connection = new RawConnection(running);
  await connection.send(bytes);
  const status = await connection.status().catch(() => null);
  expect([400, 401, null]).toContain(status);
  await connection.closed();
  expect(connection.answer.match(/HTTP\/1\.1 \d+/g)?.length ?? 0).toBeLessThanOrEqual(1);
});
