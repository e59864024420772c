// A chat request has connections of its own: nothing that people, merchants or operators do to the others delays it.

import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openServiceDatabase } from "../../src/app/compose/database.ts";
import { type Demo, prepareDemo } from "../../src/app/demo/demo.ts";
import { type Serving, startServing } from "../../src/app/compose/app.ts";
import { readConfig } from "../../src/app/config/config.ts";
import { DEFAULT_POOL_SIZE } from "../../src/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { onServer } from "../setup/test-servers.ts";

let opened: TestDatabase;
let serving: Serving;
let demo: Demo;
const lines: string[] = [];
beforeAll(async () => {
  opened = await createTestDatabase();
  demo = await prepareDemo(opened.database);
  const ports = { SALDO_HTTP_PORT: "0", SALDO_GRPC_PORT: "0" };
  const config = readConfig({ ...ports, SALDO_DRAIN_SECONDS: "1", SALDO_DEMO_PACE_MS: "0", DATABASE_URL: opened.url });
  const logger = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
  serving = await startServing({
    config,
    database: opened.database,
    logger,
    linesLost: () => 0,
    worksForNode: false,
  });
});
afterAll(async () => {
  await serving.stop();
  await opened.drop();
});

function post(body: object, name = "one"): Promise<Response> {
  return fetch(`http://127.0.0.1:${serving.ports.httpPort}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${demo.key}`, "content-type": "application/json", "idempotency-key": name },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
}

test("a chat request is answered while every other connection is taken and others wait for one", async () => {
  const { pool } = opened.database;
  const taken = await Promise.all(Array.from({ length: DEFAULT_POOL_SIZE }, () => pool.connect()));
  try {
    // The key has never been looked up, the catalog never been read, and the request has a name.
    const person = fetch(`http://127.0.0.1:${serving.ports.httpPort}/auth/get-session`);
    await expect.poll(() => pool.waitingCount).toBeGreaterThan(0);
    const body = { model: "demo/small", messages: [{ role: "user", content: "hello" }], max_tokens: 8 };
    const whole = await post(body);
    expect(await whole.json()).toMatchObject({ object: "chat.completion" });
    const models = await fetch(`http://127.0.0.1:${serving.ports.httpPort}/v1/models`, {
      headers: { authorization: `Bearer ${demo.key}` },
    });
    expect(models.status).toBe(200);
    const balance = await fetch(`http://127.0.0.1:${serving.ports.httpPort}/v1/balance`, {
      headers: { authorization: `Bearer ${demo.key}` },
      signal: AbortSignal.timeout(30_000),
    });
    expect(await balance.json()).toMatchObject({ currency: "IDR" });
    taken.splice(0).forEach((client) => client.release());
    // It may have waited longer than it may: a page that is opened now is answered.
    await person;
    expect((await fetch(`http://127.0.0.1:${serving.ports.httpPort}/auth/get-session`)).status).toBe(200);
  } finally {
    taken.forEach((client) => client.release());
  }
});

test("every statement of a chat request ran under the login that cannot mint", async () => {
  const body = { model: "demo/small", messages: [{ role: "user", content: "hi" }], max_tokens: 8 };
  expect((await post(body, "two")).status).toBe(200);
  const { rows } = await onServer(
    opened.url,
    `SELECT DISTINCT usename AS login FROM pg_stat_activity WHERE datname = current_database()
       AND pid <> pg_backend_pid() AND query ~ 'admit_request|settle_request|commit_requests|WHERE digest =|kept_answer'`,
  );
  expect(rows).toEqual([{ login: "saldo_request" }]);
});

test("the pools are as large as their settings, and neither opens the connections of the other", async () => {
  const config = { ...readConfig({ SALDO_POOL_SIZE: "4", SALDO_REQUEST_POOL_SIZE: "2" }), databaseUrl: opened.url };
  const database = await openServiceDatabase(config);
  try {
    expect([database.pool.options.max, database.requests.pool.options.max]).toEqual([4, 2]);
    const taken = await Promise.all(Array.from({ length: 4 }, () => database.pool.connect()));
    expect((await database.requests.pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    taken.forEach((client) => client.release());
  } finally {
    await database.close();
  }
});

test("a process whose login of requests is refused is not ready, logs the reason, and is ready again afterwards", async () => {
  const ready = async (): Promise<number> => (await fetch(`http://127.0.0.1:${serving.ports.httpPort}/readyz`)).status;
  const logged = () =>
    lines
      .map((line) => JSON.parse(line) as { event: string; login?: string; err?: { message: string } })
      .filter(({ event }) => event.startsWith("database.") && event.endsWith("reachable"))
      .map(({ event, login, err }) => [event, login, err?.message]);
  const patience = { timeout: 30_000 };
  expect(await ready()).toBe(200);
  const name = new URL(opened.url).pathname.slice(1);
  await onServer(
    opened.url,
    `REVOKE CONNECT ON DATABASE ${name} FROM public; GRANT CONNECT ON DATABASE ${name} TO saldo_serve`,
  );
  await onServer(
    opened.url,
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = 'saldo_request'",
  );
  await expect.poll(ready, patience).toBe(503);
  await expect.poll(() => logged().at(0)?.slice(0, 2), patience).toEqual(["database.unreachable", "saldo_request"]);
  expect(logged().every(([, login]) => login === "saldo_request")).toBe(true);
  await onServer(opened.url, `GRANT CONNECT ON DATABASE ${name} TO saldo_request`);
  await expect.poll(ready, patience).toBe(200);
  expect(logged().at(-1)).toEqual(["database.reachable", "saldo_request", undefined]);
  const body = { model: "demo/small", messages: [{ role: "user", content: "hi" }], max_tokens: 8 };
  await expect.poll(async () => (await post(body, "three")).status, patience).toBe(200);
});
