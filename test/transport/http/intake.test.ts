// How bodies are received: no body is read before its caller is known, and the bodies read at once have bounds.

import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BEARER, PRODUCTION_PAIR, startServers, UNREAD_SECRET, type Running } from "../fakes.ts";
import { exchange, RawConnection } from "../raw-http.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const CHAT = "/v1/chat/completions";
const TRANSFERS = "/v1/merchant-transfers/calculate";
const RPC = "/saldo.gateway.v1.GatewayService/CreateChatCompletion";
const WRONG_PAIR = `Basic ${btoa("mk_live:wrong")}`;

const head = (path: string, headers: Record<string, string | number>): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\n` +
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("") +
  "\r\n";

const json = (length: number) => ({ "content-type": "application/json", "content-length": length });

describe("before the first byte of a body", () => {
  let running: Running;
  beforeAll(async () => {
    running = await startServers();
  });
  afterAll(() => running.servers.close(1_000));

  test.each([
    ["no credentials", CHAT, {}, "invalid_api_key"],
    ["a malformed key", CHAT, { authorization: "Bearer" }, "invalid_api_key"],
    ["an unknown key", CHAT, { authorization: "Bearer gw_unknown" }, "invalid_api_key"],
    ["an unknown key in chunks", CHAT, { authorization: "Bearer gw_unknown", "x-chunks": "1" }, "invalid_api_key"],
    ["no credentials", RPC, {}, "unauthenticated"],
    ["an unknown key", RPC, { authorization: "Bearer gw_unknown" }, "unauthenticated"],
    ["no pair", TRANSFERS, {}, "invalid_credentials"],
    ["a wrong pair", TRANSFERS, { authorization: WRONG_PAIR }, "invalid_credentials"],
    [
      "a pair of the other environment",
      `/sandbox${TRANSFERS}`,
      { authorization: PRODUCTION_PAIR },
      "invalid_credentials",
    ],
    ["a key where a pair belongs", TRANSFERS, { authorization: BEARER }, "invalid_credentials"],
  ])("%s at %s is answered, and nothing of the body is kept", async (_what, path, credentials, code) => {
    const connection = new RawConnection(running);
    const length = "x-chunks" in credentials ? { "transfer-encoding": "chunked" } : { "content-length": 31 * MIB };
    await connection.send(head(path, { ...credentials, "content-type": "application/json", ...length }));
    expect(await connection.status()).toBe(401);
    expect(connection.answer).toContain(`"${code}"`);
    expect(connection.answer).toMatch(/\r\nconnection: close\r\n/i);
    expect(running.servers.intake.bytesInFlight).toBe(0);
    connection.close();
  });

  test("a method without a body reads none, however large", async () => {
    const connection = new RawConnection(running);
    const request = head("/v1/models", { authorization: BEARER, ...json(31 * MIB) }).replace("POST", "GET");
    await connection.send(request);
    expect(await connection.status()).toBe(200);
    expect(connection.answer).toMatch(/\r\nconnection: close\r\n/i);
    connection.close();
  });

  test("a client that goes on sending reads its answer, and is then cut off", async () => {
    const connection = new RawConnection(running);
    await connection.send(head(CHAT, json(31 * MIB)));
    let sent = 0;
    for (; sent < 31 && !connection.socket.destroyed; sent += 1) await connection.send(Buffer.alloc(MIB, "a"));
    await connection.closed();
    expect(connection.answer).toMatch(/^HTTP\/1\.1 401 /);
    // What lies in the kernel's buffers was sent, too, from the client's side.
    expect(sent).toBeLessThan(31);
  });

  test("a request behind a body that was not read is not carried out", async () => {
    const length = 100 * KIB;
    // It would take a slot of the key's window.
    const { slots } = running.keys;
    const behind = `GET /v1/models HTTP/1.1\r\nhost: localhost\r\nauthorization: ${BEARER}\r\n\r\n`;
    const answer = await exchange(running, head(CHAT, json(length)) + "a".repeat(length) + behind);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401"]);
    await setImmediate();
    expect(running.keys.slots).toBe(slots);
  });

  test("a small body that was not read leaves the connection open", async () => {
    const answer = await exchange(
      running,
      `${head(CHAT, json(2))}{}GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`,
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 401", "HTTP/1.1 200"]);
  });

  // Each request has everything wrong that comes later in the order.
  test.each([
    [CHAT, { authorization: "Bearer no" }, { "content-type": "text/plain" }, 33 * MIB, 401],
    [CHAT, { authorization: BEARER }, { "content-type": "text/plain" }, 33 * MIB, 415],
    [CHAT, { authorization: BEARER }, { "content-type": "application/json" }, 33 * MIB, 413],
    [TRANSFERS, { authorization: "Basic no" }, { "content-type": "a bad one" }, 65 * KIB, 401],
    [TRANSFERS, { authorization: PRODUCTION_PAIR }, { "content-type": "a bad one" }, 65 * KIB, 415],
    [TRANSFERS, { authorization: PRODUCTION_PAIR }, { "content-type": "application/json" }, 65 * KIB, 413],
    [TRANSFERS, { authorization: PRODUCTION_PAIR }, { "content-type": "application/json" }, 1, 400],
  ])("%s with %o, %o and %i bytes is %i", async (path, credentials, type, length, status) => {
    const connection = new RawConnection(running);
    await connection.send(`${head(path, { ...credentials, ...type, "content-length": length })}{`);
    expect(await connection.status()).toBe(status);
    connection.close();
  });

  test.each([CHAT, TRANSFERS])("a body in chunks at %s is refused once it is too large", async (path) => {
    const limit = path === CHAT ? 32 * MIB : 64 * KIB;
    const connection = new RawConnection(running);
    const authorization = path === CHAT ? BEARER : PRODUCTION_PAIR;
    const type = { "content-type": "application/json", "transfer-encoding": "chunked" };
    await connection.send(head(path, { authorization, ...type }));
    const chunk = Buffer.concat([
      Buffer.from(`${(64 * KIB).toString(16)}\r\n`),
      Buffer.alloc(64 * KIB, " "),
      Buffer.from("\r\n"),
    ]);
    for (let sent = 0; sent <= limit && connection.answer === ""; sent += 64 * KIB) await connection.send(chunk);
    expect(await connection.status()).toBe(413);
    expect(running.servers.intake.bytesInFlight).toBe(0);
    connection.close();
  });

  test("a key that is not in memory is looked up first, and its body is read then", async () => {
    const connection = new RawConnection(running);
    await connection.send(`${head(CHAT, { authorization: `Bearer ${UNREAD_SECRET}`, ...json(7) })}{"a":`);
    await connection.send("1}");
    expect(await connection.status()).toBe(200);
    connection.close();
  });

  test("a client that waits for 100 Continue gets it when its body is read, and only then", async () => {
    const expecting = (authorization: string) => ({ authorization, ...json(2), expect: "100-continue" });
    const refused = new RawConnection(running);
    await refused.send(head(CHAT, expecting("Bearer no")));
    expect(await refused.status()).toBe(401);
    expect(refused.answer).not.toContain("100 Continue");
    refused.close();
    for (const authorization of [BEARER, `Bearer ${UNREAD_SECRET}`]) {
      const wanted = new RawConnection(running);
      await wanted.send(head(CHAT, expecting(authorization)));
      expect(await wanted.status()).toBe(100);
      await wanted.send("{}");
      while (!wanted.answer.includes("HTTP/1.1 200")) await once(wanted.socket, "data");
      wanted.close();
    }
    const unknown = await exchange(
      running,
      head(CHAT, { expect: "the-best", connection: "close", "content-length": 0 }),
    );
    expect(unknown).toMatch(/^HTTP\/1\.1 400 [^]*"field":"Expect"/);
  });
});

describe("while bodies are read", () => {
  let running: Running;
  beforeAll(async () => {
    const intake = { budgetBytes: 4 * MIB, uploadsPerCaller: 3, patienceMs: 400 };
    running = await startServers({ intake, maxConnections: 20 });
  });
  afterAll(() => running.servers.close(1_000));

  /** Begins a body and returns once the server has so many bytes of it. */
  async function begin(length: number, sent: number, path = CHAT): Promise<RawConnection> {
    const { intake } = running.servers;
    const before = intake.bytesInFlight;
    const connection = new RawConnection(running);
    await connection.send(head(path, { authorization: BEARER, ...json(length) }));
    await connection.send(Buffer.alloc(sent, " "));
    while (intake.bytesInFlight < before + sent && connection.answer === "") await setImmediate();
    return connection;
  }

  test("what all bodies have together is bounded; over it a body is refused with 503, and fits again later", async () => {
    const { intake } = running.servers;
    const large = await begin(3 * MIB, 2 * MIB);
    expect(intake.bytesInFlight).toBe(2 * MIB);
    const second = new RawConnection(running);
    await second.send(head(CHAT, { authorization: BEARER, ...json(2 * MIB + 1) }));
    expect(await second.status()).toBe(503);
    expect(second.answer).toMatch(/\r\nretry-after: 1\r\n[^]*"error":"upstream_busy"[^]*"retry_after":1/i);
    expect(intake.refused.overloaded).toBe(1);
    large.close();
    while (intake.bytesInFlight > 0) await setImmediate();
    const third = await begin(2 * MIB + 1, 2 * MIB + 1);
    // It is no JSON, but it was read: the gateway of this test answers anything.
    expect(await third.status()).toBe(200);
    expect(intake.bytesInFlight).toBe(0);
    for (const connection of [second, third]) connection.close();
  });

  test("a key may send three large bodies at once, and any number of small ones", async () => {
    const { intake } = running.servers;
    const uploads = [];
    for (let i = 0; i < 3; i += 1) uploads.push(await begin(MIB + 1, KIB));
    const refused = new RawConnection(running);
    await refused.send(head(CHAT, { authorization: BEARER, ...json(MIB + 1) }));
    expect(await refused.status()).toBe(429);
    expect(refused.answer).toMatch(/\r\nretry-after: 1\r\n[^]*"error":"rate_limit"/i);
    const small = await begin(KIB, KIB);
    expect(await small.status()).toBe(200);
    expect(intake.refused.uploads).toBe(1);
    for (const connection of [...uploads, refused, small]) connection.close();
    while (intake.bytesInFlight > 0) await setImmediate();
    const again = await begin(MIB + 1, MIB + 1);
    expect(await again.status()).toBe(200);
    again.close();
  });

  test.each([
    ["chat", CHAT, { authorization: BEARER }],
    ["sign-in", "/auth/sign-in/email", { origin: "ours", "sec-fetch-site": "same-origin" }],
  ])("a body of %s that does not come is ended with 408", async (_what, path, credentials) => {
    const connection = new RawConnection(running);
    const origin = "origin" in credentials ? { ...credentials, origin: "http://localhost" } : credentials;
    await connection.send(`${head(path, { ...origin, ...json(10 * KIB) })}{`);
    expect(await connection.status()).toBe(408);
    expect(connection.answer).toMatch(/\r\nconnection: close\r\n[^]*"error":"request_timeout"/i);
    await connection.closed();
    expect(running.servers.intake.bytesInFlight).toBe(0);
  });

  test("a body that drips is ended, and one at the least rate is not", async () => {
    const dripping = await begin(MIB, 1);
    const steady = await begin(3_001, 1);
    const drip = setInterval(() => void dripping.send(" "), 20);
    let pieces = 0;
    const flow = setInterval(() => void (pieces++ < 30 && steady.send(Buffer.alloc(100, " "))), 20);
    expect(await dripping.status()).toBe(408);
    clearInterval(drip);
    expect(await steady.status()).toBe(200);
    clearInterval(flow);
    for (const connection of [dripping, steady]) connection.close();
  });

  test("bodies of RPC count like any other", async () => {
    const { intake } = running.servers;
    const [overloaded, slow, uploads] = [intake.refused.overloaded, intake.refused.slow, intake.refused.uploads];
    const dripping = await begin(3 * MIB, 2 * MIB, RPC);
    expect(intake.bytesInFlight).toBe(2 * MIB);
    const second = await begin(2 * MIB + 1, KIB, RPC);
    expect(await second.status()).toBe(503);
    expect(second.answer).toMatch(/\r\nretry-after: 1\r\n[^]*"code":"unavailable"/i);
    expect(intake.refused.overloaded).toBe(overloaded + 1);
    expect(await dripping.status()).toBe(504);
    expect(dripping.answer).toMatch(/\r\nconnection: close\r\n[^]*"code":"deadline_exceeded"/i);
    expect(intake.refused.slow).toBe(slow + 1);
    const others = await Promise.all([1, 2, 3].map(() => begin(MIB + 1, KIB, RPC)));
    const fourth = await begin(MIB + 1, KIB, CHAT);
    expect(await fourth.status()).toBe(429);
    expect(intake.refused.uploads).toBe(uploads + 1);
    for (const connection of [dripping, second, fourth, ...others]) connection.close();
    while (intake.bytesInFlight > 0) await setImmediate();
    const again = await begin(2, 0, RPC);
    await again.send("{}");
    // It was read: an empty request is not valid.
    expect(await again.status()).toBe(400);
    again.close();
  });

  test("strangers' bodies use up nothing of what callers have, and have little themselves", async () => {
    const strangers = [];
    for (let i = 0; i < 17; i += 1) {
      const connection = new RawConnection(running);
      strangers.push(connection);
      const own = { origin: "http://localhost", "sec-fetch-site": "same-origin" };
      await connection.send(head("/auth/sign-in/email", { ...own, ...json(16 * KIB) }));
      await connection.send(Buffer.alloc(16 * KIB - 1, " "));
    }
    // A sixteenth of the budget is 256 KiB: sixteen bodies but for a byte each, not seventeen.
    expect(await strangers[16]?.status()).toBe(503);
    const caller = await begin(KIB, KIB);
    expect(await caller.status()).toBe(200);
    for (const connection of [...strangers, caller]) connection.close();
  });

  test("connections over the bound are closed as they come, and counted", async () => {
    const open = Array.from({ length: 25 }, () => new RawConnection(running));
    while (running.servers.droppedConnections() === 0) await setImmediate();
    expect(open.filter(({ answer }) => answer !== "")).toEqual([]);
    for (const connection of open) connection.close();
    await Promise.all(open.map((connection) => connection.closed()));
  });
});
