// The headers that every answer of the HTTP port has, walked over every kind of path, and what pages of other sites may do.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Catalog } from "../../../src/catalog/catalog.ts";
import { createDashboard } from "../../../src/transport/web/dashboard.ts";
import { BEARER, PRODUCTION_PAIR, startServers, type Running } from "../fakes.ts";
import { exchange } from "../raw-http.ts";

const PAGE = "<!doctype html><html><head></head><body></body></html>";

let folder: string;
let plain: Running;
let secure: Running;

async function start(publicUrl: string | null): Promise<Running> {
  const catalog = { snapshot: async () => ({ models: new Map() }) } as unknown as Catalog;
  return startServers({
    publicUrl,
    dashboard: createDashboard({ folder: pathToFileURL(`${folder}/`), isDemo: false, hasSession: () => true }),
    docs: { catalog, baseUrl: () => "http://localhost" },
    payments: {
      topUps: { takesNotificationsOf: (provider) => provider === "xendit", takeNotification: async () => undefined },
      desk: null,
    },
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "saldo-pages-"));
  await writeFile(join(folder, "index.html"), PAGE);
  await writeFile(join(folder, "favicon.svg"), "<svg/>");
  await mkdir(join(folder, ".git"));
  await writeFile(join(folder, ".git", "config"), "[core]");
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "assets", "page-1.js"), "1");
  [plain, secure] = await Promise.all([start(null), start("https://saldo.example")]);
});
afterAll(async () => {
  await Promise.all([plain, secure].map(({ servers }) => servers.close(1_000)));
  await rm(folder, { recursive: true, force: true });
});

const JSON_TYPE = { "content-type": "application/json" };
const OWN_PAGE = { origin: "https://saldo.example", "sec-fetch-site": "same-origin" };
const RPC = "/saldo.gateway.v1.GatewayService/ListModels";
const TRANSPORT = "max-age=31536000; includeSubDomains";

type Case = [what: string, init: RequestInit & { path: string }, status: number, cache?: string, referrer?: string];

const cases: readonly Case[] = [
  [
    "chat",
    { path: "/v1/chat/completions", method: "POST", body: "{}", headers: { ...JSON_TYPE, authorization: BEARER } },
    200,
  ],
  [
    "chat through Fastify",
    { path: "/v1/chat/completions/", method: "POST", body: "{}", headers: { ...JSON_TYPE, authorization: BEARER } },
    200,
  ],
  ["chat without a key", { path: "/v1/chat/completions", method: "POST", body: "{}", headers: JSON_TYPE }, 401],
  ["a list", { path: "/v1/models", headers: { authorization: BEARER } }, 200],
  ["a list without a key", { path: "/v1/models" }, 401],
  ["a merchant's refusal", { path: "/v1/merchant-transfers", headers: {} }, 401],
  ["a merchant's list", { path: "/v1/merchant-transfers", headers: { authorization: PRODUCTION_PAIR } }, 200],
  ["no such path", { path: "/nothing" }, 404],
  ["no such path of merchants", { path: "/v1/merchant-nothing" }, 404],
  ["no such page", { path: "/nothing", headers: { accept: "text/html" } }, 404, "no-cache", "same-origin"],
  ["a path that cannot be read", { path: "/v1/models/%zz" }, 400],
  ["another verb", { path: "/v1/models", method: "DELETE" }, 405],
  ["another verb of a page's", { path: "/openapi.json", method: "POST" }, 405],
  ["RPC", { path: RPC, method: "POST", body: "{}", headers: { ...JSON_TYPE, authorization: BEARER } }, 200],
  ["RPC without a key", { path: RPC, method: "POST", body: "{}", headers: JSON_TYPE }, 401],
  ["RPC by GET", { path: `${RPC}?connect=v1&encoding=json&message=%7B%7D`, headers: { authorization: BEARER } }, 200],
  ["another verb of RPC", { path: RPC, method: "PUT" }, 405],
  ["another type of RPC", { path: RPC, method: "POST", body: "x", headers: { "content-type": "text/plain" } }, 415],
  ["the document", { path: "/openapi.json" }, 200],
  ["life", { path: "/healthz" }, 200],
  ["readiness", { path: "/readyz" }, 200],
  ["the agents' package", { path: "/saldo-agents.tgz" }, 200],
  ["llms.txt", { path: "/llms.txt" }, 200, "public, max-age=60"],
  ["documentation", { path: "/docs/errors.md" }, 200, "no-cache"],
  ["no such documentation", { path: "/docs/none.md" }, 404, "no-cache"],
  ["a page", { path: "/" }, 200, "no-cache", "same-origin"],
  ["an asset", { path: "/assets/page-1.js" }, 200, "public, max-age=31536000, immutable"],
  ["no such asset", { path: "/assets/none.js" }, 404],
  ["source control", { path: "/.git/config" }, 404],
  ["a folder", { path: "/assets/" }, 404],
  ["a source of ours", { path: "/src/main.js" }, 404],
  ["a file outside", { path: "/assets/..%2f..%2fpackage.json" }, 404],
  ["a picture", { path: "/favicon.svg" }, 200, "no-cache"],
  ["an icon", { path: "/favicon.ico", redirect: "manual" }, 301],
  ["a session", { path: "/auth/get-session" }, 200, "no-store", "same-origin"],
  ["a foreign sign-in", { path: "/auth/sign-in/email", method: "POST", body: "{}", headers: JSON_TYPE }, 403],
  [
    "a sign-in",
    { path: "/auth/sign-in/email", method: "POST", body: "{}", headers: { ...JSON_TYPE, ...OWN_PAGE } },
    200,
    "no-store",
    "same-origin",
  ],
  ["a page for operators", { path: "/auth/operator/set-up" }, 200, "no-store", "same-origin"],
  ["no such sign-in", { path: "/auth/nothing" }, 404],
  ["a webhook", { path: "/webhooks/payments/xendit", method: "POST", body: "{}", headers: JSON_TYPE }, 200],
  [
    "a webhook of no provider",
    { path: "/webhooks/payments/nobody", method: "POST", body: "{}", headers: JSON_TYPE },
    404,
  ],
  [
    "a body that is too large",
    { path: "/webhooks/payments/xendit", method: "POST", body: "a".repeat(70_000), headers: JSON_TYPE },
    413,
  ],
  [
    "a preflight",
    {
      path: "/v1/models",
      method: "OPTIONS",
      headers: { origin: "https://a.example", "access-control-request-method": "GET" },
    },
    204,
  ],
];

test.each<Case>([...cases])(
  "%s",
  async (_what, { path, ...init }, status, cache = "no-store", referrer = "no-referrer") => {
    const [here, there] = await Promise.all([plain, secure].map(({ http }) => fetch(http + path, init)));
    expect(there?.status).toBe(status);
    const { headers } = there ?? new Response();
    expect({
      cache: headers.get("cache-control"),
      sniffing: headers.get("x-content-type-options"),
      referrer: headers.get("referrer-policy"),
      transport: headers.get("strict-transport-security"),
    }).toEqual({ cache, sniffing: "nosniff", referrer, transport: TRANSPORT });
    expect(headers.get("vary")).toBeTruthy();
    // Nor what it is made by.
    for (const name of ["server", "x-powered-by", "via"]) expect(headers.has(name)).toBe(false);
    expect(headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    // A cleartext address cannot ask for encryption.
    expect(here?.headers.has("strict-transport-security")).toBe(false);
  },
);

test.each<Case>([...cases])("%s is no page of another site's, whatever a browser takes it for", async (_what, init) => {
  const { path, ...rest } = init;
  const { headers } = await fetch(plain.http + path, rest);
  const policy = headers.get("content-security-policy")?.split("; ") ?? [];
  for (const part of ["default-src 'none'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"])
    expect(policy).toContain(part);
  expect(policy.includes("sandbox")).toBe(!headers.get("content-type")?.startsWith("text/html"));
  expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
  expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
});

test.each<Case>([...cases])("%s has the type of its body, and texts their encoding", async (_what, init) => {
  const { path, ...rest } = init;
  const answer = await fetch(plain.http + path, { ...rest, redirect: "manual" });
  const type = answer.headers.get("content-type");
  const body = await answer.text();
  const isText = /^text\/|\+xml|javascript/.test(type ?? "");
  // A body has a type; an answer without one is empty.
  expect(body === "" || /^[a-z]+\/[a-z.+-]+(; charset=utf-8)?$/.test(type ?? "")).toBe(true);
  expect(!isText || type?.endsWith("; charset=utf-8")).toBe(true);
  expect(!type?.startsWith("application/json") || isJson(body)).toBe(true);
});

test.each(["TRACE", "TRACK", "CONNECT"])(
  "%s is refused wherever it is asked for, and repeats nothing",
  async (verb) => {
    for (const path of ["/", "/v1/models", "/v1/chat/completions", "/auth/get-session", RPC, "/healthz", "/nothing"]) {
      const answer = await exchange(
        plain,
        `${verb} ${path} HTTP/1.1\r\nhost: x\r\ncookie: kenari=1\r\nconnection: close\r\n\r\n`,
      );
      expect([path, answer]).toEqual([path, expect.stringMatching(/^(HTTP\/1\.1 40[045] |$)/)]);
      expect(answer).not.toContain("kenari");
    }
  },
);

test.each([
  ["broken HTTP", "GET / HTTP/1.1\r\n: nothing\r\n\r\n", 400],
  ["no host", "GET / HTTP/1.1\r\nconnection: close\r\n\r\n", 400],
  ["an expectation that is not met", "GET / HTTP/1.1\r\nhost: x\r\nexpect: more\r\nconnection: close\r\n\r\n", 400],
])("%s, which never becomes a request", async (_what, bytes, status) => {
  const answer = await exchange(secure, bytes);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  for (const line of [
    "cache-control: no-store",
    "x-content-type-options: nosniff",
    "referrer-policy: no-referrer",
    `strict-transport-security: ${TRANSPORT.toLowerCase()}`,
    "cross-origin-resource-policy: same-origin",
  ])
    expect(answer.toLowerCase()).toContain(`\r\n${line}\r\n`);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("pages of other sites", () => {
  const FOREIGN = { origin: "https://app.example" };
  const preflight = (path: string, asked = "POST") =>
    fetch(plain.http + path, {
      method: "OPTIONS",
      headers: {
        ...FOREIGN,
        "access-control-request-method": asked,
        "access-control-request-headers": "authorization",
      },
    });

  test.each([
    ["/v1/chat/completions", "POST"],
    ["/v1/models", "GET"],
    ["/v1/models/acme/large", "GET"],
  ])("may ask for %s with a key, which browsers cache for two hours", async (path, verbs) => {
    const { status, headers } = await preflight(path);
    expect(status).toBe(204);
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("access-control-allow-methods")).toBe(verbs);
    expect(headers.get("access-control-max-age")).toBe("7200");
    expect(headers.has("access-control-allow-credentials")).toBe(false);
    const allowed = headers.get("access-control-allow-headers")?.split(", ") ?? [];
    for (const name of ["authorization", "content-type", "idempotency-key", "x-request-id", "x-stainless-retry-count"])
      expect(allowed).toContain(name);
  });

  test.each(["/auth/get-session", "/openapi.json", RPC, "/sandbox/v1/merchant-transfers", "/v1/nothing", "/"])(
    "may not ask for %s",
    async (path) => {
      const { status, headers } = await preflight(path);
      expect([404, 405]).toContain(status);
      expect(headers.has("access-control-allow-methods")).toBe(false);
    },
  );

  test("an OPTIONS that is no preflight is a verb like any other", async () => {
    expect((await fetch(`${plain.http}/v1/models`, { method: "OPTIONS", headers: FOREIGN })).status).toBe(405);
  });

  test.each([
    [
      "chat",
      "/v1/chat/completions",
      { method: "POST", body: "{}", headers: { ...JSON_TYPE, authorization: BEARER } },
      200,
    ],
    ["a refusal of chat", "/v1/chat/completions", { method: "POST", body: "{}", headers: JSON_TYPE }, 401],
    ["a list", "/v1/models", { headers: { authorization: BEARER } }, 200],
    ["a refusal", "/v1/models", {}, 401],
    ["what is not there", "/v1/nothing", {}, 404],
  ] as const)("may read %s with its request id, and no cookies count", async (_what, path, init, status) => {
    const headers = { ...("headers" in init ? init.headers : {}), ...FOREIGN, cookie: "session=1" };
    const answer = await fetch(plain.http + path, { ...init, headers });
    expect(answer.status).toBe(status);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-expose-headers")).toContain("x-request-id");
    expect(answer.headers.get("access-control-expose-headers")).toContain("retry-after");
    expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
    expect(answer.headers.get("vary")).toContain("origin");
  });

  test("a program that is no page gets no such headers", async () => {
    const answer = await fetch(`${plain.http}/v1/models`, { headers: { authorization: BEARER } });
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test.each(["/auth/get-session", RPC, "/openapi.json"])("may read nothing at %s", async (path) => {
    const answer = await fetch(plain.http + path, { headers: FOREIGN });
    expect(answer.headers.has("access-control-allow-origin")).toBe(false);
  });
});
