// Requests that fetch would not send: several Authorization headers, broken HTTP, foreign content types, bodies too large.

import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BEARER, PRODUCTION_PAIR, startServers, type Running } from "../fakes.ts";

let running: Running;

beforeAll(async () => {
  running = await startServers();
});
afterAll(() => running.servers.close(1_000));

/** Sends bytes and gives the status and the body of the answer; the connection is closed after it. */
async function raw(head: string, body: string | Buffer = ""): Promise<{ status: number; body: unknown; head: string }> {
  const socket = connect(Number(new URL(running.http).port), "127.0.0.1");
  // The server may answer and close before the whole body was sent.
  socket.on("error", () => undefined);
  socket.write(`${head}connection: close\r\nhost: localhost\r\n\r\n`);
  socket.write(body);
  const [answerHead = "", ...rest] = (await text(socket)).split("\r\n\r\n");
  const json = rest.join("\r\n\r\n").replace(/^[0-9a-f]+\r\n|\r\n0$/g, "");
  return {
    status: Number(answerHead.split(" ")[1]),
    head: answerHead.toLowerCase(),
    body: json === "" ? null : JSON.parse(json),
  };
}

test.each(["/v1/models", "/v1/chat/completions"])(
  "two Authorization headers are no credentials at %s",
  async (path) => {
    const isChat = path.includes("chat");
    const body = isChat ? "{}" : "";
    const answer = await raw(
      `${isChat ? "POST" : "GET"} ${path} HTTP/1.1\r\nauthorization: ${BEARER}\r\nAuthorization: ${BEARER}\r\n` +
        (isChat ? "content-type: application/json\r\ncontent-length: 2\r\n" : ""),
      body,
    );
    expect(answer).toMatchObject({ status: 401, body: { error: "invalid_api_key" } });
  },
);

test("two Authorization headers are no credentials over Connect", async () => {
  const answer = await raw(
    `POST /saldo.gateway.v1.GatewayService/ListModels HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n` +
      `authorization: ${BEARER}\r\nauthorization: ${BEARER}\r\n`,
    "{}",
  );
  expect(answer).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
});

test.each([
  ["a header without a name", "GET /v1/models HTTP/1.1\r\n: nothing\r\n"],
  ["a method that does not exist", "BREW /v1/models HTTP/1.1\r\n"],
  ["two lengths", "POST /v1/models HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n"],
  ["headers without end", `GET /v1/models HTTP/1.1\r\nx: ${"a".repeat(20_000)}\r\n`],
])("%s is answered in the documented shape", async (_name, head) => {
  const answer = await raw(head);
  expect(answer).toMatchObject({ status: 400, body: { error: "validation_error" } });
  expect(answer.head).toContain("x-request-id: ");
});

test("headers that are too large are called so", async () => {
  const answer = await raw(`GET /v1/models HTTP/1.1\r\nx: ${"a".repeat(20_000)}\r\n`);
  expect(answer.body).toMatchObject({
    message: expect.stringContaining("The headers are too large"),
    details: [{ rule: "http" }],
  });
});

const send = (path: string, { body, headers }: { body: string; headers: Record<string, string> }) =>
  fetch(running.http + path, { method: "POST", body, headers: { authorization: BEARER, ...headers } });

test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp"])(
  "a body of type %s is refused",
  async (type) => {
    const response = await send("/v1/chat/completions", { body: "{}", headers: { "content-type": type } });
    expect([response.status, await response.json()]).toMatchObject([415, { error: "unsupported_media_type" }]);
  },
);

test("a compressed body is refused", async () => {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  expect((await send("/v1/chat/completions", { body: "{}", headers })).status).toBe(415);
});

test.each([
  ["UTF-8", 200],
  ["utf8", 200],
  ['"utf-8"; v=1', 200],
  ["utf-16", 415],
  ["iso-8859-1", 415],
  ['"windows-1252"', 415],
])("a body in the charset %s is answered %i", async (charset, status) => {
  const headers = { "content-type": `application/json; charset=${charset}` };
  expect((await send("/v1/chat/completions", { body: "{}", headers })).status).toBe(status);
});

test("a body over 32 MiB is refused by its announced length", async () => {
  const answer = await raw(
    `POST /v1/chat/completions HTTP/1.1\r\nauthorization: ${BEARER}\r\ncontent-type: application/json\r\ncontent-length: ${32 * 1024 * 1024 + 1}\r\n`,
  );
  expect(answer).toMatchObject({ status: 413, body: { error: "payload_too_large" } });
});

test("a large body of a merchant is refused in the merchants' shape", async () => {
  const answer = await raw(
    `POST /v1/merchant-transfers HTTP/1.1\r\nauthorization: ${PRODUCTION_PAIR}\r\ncontent-type: application/json\r\ncontent-length: ${32 * 1024 * 1024 + 1}\r\n`,
  );
  expect(answer).toMatchObject({ status: 413, body: { meta: { error: "payload_too_large", statusCode: 413 } } });
});

test.each([
  ["DELETE", "/v1/models", "GET"],
  ["POST", "/v1/models/acme/large", "GET"],
  ["GET", "/v1/chat/completions", "POST"],
  ["PUT", "/v1/merchant-transfers", "POST, GET"],
  ["GET", "/sandbox/v1/merchant-transfers/calculate", "POST"],
])("%s %s is refused with the verbs there are", async (method, path, allow) => {
  const response = await fetch(running.http + path, { method, ...(method === "PUT" ? { body: "{" } : {}) });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe(allow);
  expect(JSON.stringify(await response.json())).toContain('"method_not_allowed"');
});

test.each(["/healthz", "/readyz", "/openapi.json", "/v1/models", "/v1/models/acme/large"])(
  "no other verb is known at %s, however rare",
  async (path) => {
    for (const method of ["POST", "PROPFIND", "TRACE", "M-SEARCH"]) {
      const answer = await raw(`${method} ${path} HTTP/1.1\r\n`);
      expect(answer).toMatchObject({ status: 405, body: { error: "method_not_allowed" } });
      expect(answer.head).toContain("\r\nallow: get\r\n");
    }
  },
);

test.each(["GET", "PUT", "PROPFIND"])("%s at a path of RPC is refused in our shape", async (method) => {
  const answer = await raw(`${method} /saldo.gateway.v1.GatewayService/CreateChatCompletion HTTP/1.1\r\n`);
  expect(answer).toMatchObject({
    status: 405,
    body: { error: "method_not_allowed", message: "This path takes POST." },
  });
  expect(answer.head).toContain("\r\nallow: post\r\n");
  expect(answer.head).toContain("\r\nx-request-id: ");
});

test("an unknown path is not found, whatever its body", async () => {
  const response = await send("/nothing", { body: "{", headers: { "content-type": "application/json" } });
  expect([response.status, await response.json()]).toMatchObject([404, { error: "not_found" }]);
});
