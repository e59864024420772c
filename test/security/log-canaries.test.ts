// What must never be in the log: secrets, passwords, cookies, links and what people write to models. Each goes through every
// route once, whole and malformed, with a word of its own in it; afterwards the log is searched for the words.

import { afterAll, beforeAll, expect, test } from "vitest";
import { authRoutes } from "../../src/identity/sign-in/auth-routes.ts";
import { routesOf } from "../../src/transport/rest/http-rules.ts";
import { PLAIN_PATHS } from "../../src/transport/rest/allowed-methods.ts";
import { mountRoutes } from "../../src/transport/rest/rest.ts";
import { services } from "../../src/transport/calls/services.ts";
import { Browser } from "../identity/browser.ts";
import { type MailServer, startMailServer } from "../identity/mail-server.ts";
import { allowProblems } from "../setup/answers/problems.ts";
import { IS_LONG } from "../setup/long-tests.ts";
import { saldoJson } from "../setup/saldo-command.ts";
import { SaldoProcess } from "../setup/saldo-process.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";

const CANARY = "kenari";
// A password may hold nothing of its address, so it is looked for by itself.
const PASSWORD = "jalak bali bertelur 7 butir";

type Route = { readonly verb: string; readonly path: string; readonly isEnveloped?: boolean };

/** Every route of the process: REST, RPC, sign-in, webhooks, and what is asked of the process itself. */
function everyRoute(): Route[] {
  const methods = Object.values(services).flatMap((service) => [...service.methods]);
  const rest = methods.flatMap((method) => mountRoutes(routesOf(method)));
  return [
    ...rest.map(({ verb, path, route }) => ({
      verb,
      path: path.replace("*", "a/b").replace(/:\w+/, "some-id"),
      isEnveloped: route.inEnvelope,
    })),
    ...methods.map((method) => ({ verb: "POST", path: `/${method.parent.typeName}/${method.name}` })),
    ...authRoutes.map(({ verb, path }) => ({ verb, path: `/auth${path.replace(/:\w+/, "some-token")}` })),
    ...Object.values(PLAIN_PATHS).map((path) => ({ verb: "GET", path })),
    ...["sandbox", "midtrans", "xendit"].map((provider) => ({ verb: "POST", path: `/webhooks/payments/${provider}` })),
    { verb: "GET", path: "/no/such/path" },
  ];
}

let opened: TestDatabase;
let mails: MailServer;
let saldo: SaldoProcess;
let key: string;
let token: string;
beforeAll(async () => {
  // Requests that are malformed on purpose reach no operation.
  allowProblems(/: the status 404 is not documented$/);
  [opened, mails] = await Promise.all([createTestDatabase(), startMailServer()]);
  const settings = {
    DATABASE_URL: opened.url,
    SMTP_URL: mails.url,
    SALDO_LOG_LEVEL: "trace",
    // There is no listener. Providers of nodes put the key into the URL.
    SALDO_ETHEREUM_RPC_URL: `http://127.0.0.1:9/v3/${CANARY}-node`,
    SALDO_ETHEREUM_KEY_VARIABLE: "HOT_WALLET_KEY",
    HOT_WALLET_KEY: `0x${"01".repeat(32)}`,
  };
  saldo = await SaldoProcess.start(settings);
  key = saldo.announced(/gw_\w{49}/);
  ({ token = "" } = await saldoJson(
    ["service-token", "create", "--all", "--scope", "read,keys,top_ups,settings,merchants,transfers"],
    settings,
  ));
});
afterAll(async () => {
  await saldo.stop();
  await mails.stop();
  await opened.drop();
});

function send(
  { verb, path }: Route,
  headers: Record<string, string>,
  body?: string | Uint8Array<ArrayBuffer>,
): Promise<Response> {
  const hasBody = verb !== "GET" && body !== undefined;
  const target = `${saldo.httpUrl}${path}?api_key=${CANARY}-query&token=${CANARY}-query`;
  const base = { "content-type": "application/json", origin: saldo.httpUrl, "user-agent": `${CANARY}-agent` };
  return fetch(target, {
    method: verb,
    headers: { ...base, ...headers },
    redirect: "manual",
    ...(hasBody && { body }),
  });
}

const DEEP = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
const TEXTS: [name: string, body: string | Uint8Array<ArrayBuffer>, type?: string][] = [
  ["deep", `{"messages":${DEEP},"x":"${CANARY}-deep"}`],
  ["a number nobody can hold", `{"amount":1e999999,"currencyCode":"TRX","externalId":"${CANARY}","email":1e400}`],
  ["long digits", `{"amount":${"9".repeat(20_000)},"temperature":${"9".repeat(20_000)}}`],
  ["a prototype", `{"__proto__":{"isOperator":true},"constructor":{"prototype":{"x":"${CANARY}"}}}`],
  ["a key twice", `{"amount":"1","amount":"${CANARY}","email":"a@b.example","email":"${CANARY}@b.example"}`],
  ["broken", `{"password":"${CANARY}-broken`],
  ["an array", `["${CANARY}"]`],
  ["nothing", ""],
  ["bytes", new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ["another type", `password=${CANARY}`, "application/x-www-form-urlencoded"],
  ["plain text", `{"password":"${CANARY}"}`, "text/plain"],
  ["another charset", `{"password":"${CANARY}"}`, "application/json; charset=utf-16"],
];

test.each(TEXTS.map(([name, body, type = "application/json"], number) => ({ name, body, type, number })))(
  "no route takes $name for a request, or breaks by it",
  async ({ body, type, number }) => {
    const session = (await signedIn()).cookies();
    const credentials = [{ authorization: `Bearer ${key}` }, { cookie: session }];
    const broken: unknown[] = [];
    const routes = everyRoute().filter(({ verb }) => verb !== "GET");
    for (const [at, route] of routes.entries()) {
      // The short form takes one of both, another for the next text.
      const taken = IS_LONG ? credentials : credentials.slice((at + number) % 2).slice(0, 1);
      for (const headers of taken) {
        const response = await send(route, { ...headers, "content-type": type }, body);
        const text = await response.text();
        // A form is refused with what it asks for; an empty body is one where no field is needed.
        if (response.status >= 500 && response.status !== 501) broken.push([route.path, response.status, text]);
        if (text.includes("    at ") || text.includes("node_modules")) broken.push([route.path, "a stack trace"]);
      }
    }
    expect(broken).toEqual([]);
  },
);

test("a key that appears twice is refused where money is ordered, and nothing is taken from prototypes", async () => {
  const pair = saldo.announced(/mk_test_\w+:sk_test_\w+/);
  const headers = { authorization: `Basic ${btoa(pair)}` };
  const ordering = everyRoute().filter(
    ({ isEnveloped, verb, path }) => isEnveloped === true && verb === "POST" && path.startsWith("/sandbox"),
  );
  expect(ordering.length).toBeGreaterThan(2);
  for (const route of ordering.filter(({ path }) => !path.includes("some-id"))) {
    const response = await send(route, headers, '{"amount":1,"currencyCode":"TRX","am\\u006funt":2}');
    expect([route.path, response.status, await response.text()]).toMatchObject([
      route.path,
      400,
      expect.stringContaining("json.duplicate_key"),
    ]);
  }
});

test("two of a header that identifies the caller identify none", async () => {
  const { cookies } = { cookies: (await signedIn()).cookies() };
  const url = `${saldo.httpUrl}/v1/balance`;
  const call = async (headers: [string, string][]) => {
    const { request } = await import("node:http");
    return new Promise<number>((resolve, reject) => {
      const sent = request(url, { headers: headers.flat() });
      sent.on("response", (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.on("error", reject);
      sent.end();
    });
  };
  const host: [string, string] = ["host", new URL(url).host];
  const origin: [string, string] = ["origin", saldo.httpUrl];
  expect(await call([host, ["authorization", `Bearer ${key}`]])).toBe(200);
  expect(await call([host, origin, ["cookie", cookies]])).toBe(200);
  const bad: [string, string][][] = [
    [
      ["authorization", `Bearer ${key}`],
      ["Authorization", `Bearer ${key}`],
    ],
    [["authorization", `Bearer ${key}, Bearer ${key}`]],
    [origin, ["cookie", cookies], ["cookie", cookies]],
    [origin, origin, ["cookie", cookies]],
    [origin, ["cookie", cookies], ["authorization", "Bearer gw_wrong"]],
    [
      ["x-forwarded-host", "evil.example"],
      ["origin", "http://evil.example"],
      ["cookie", cookies],
    ],
  ];
  for (const headers of bad) expect(await call([host, ...headers])).toBe(401);
});

/** A person who has signed up with the password of the canary. */
let people = 0;
async function signedIn(): Promise<Browser> {
  const browser = new Browser(saldo.httpUrl);
  const email = `${CANARY}-${(people += 1)}@test.example`;
  await browser.auth("/sign-up/email", { email, password: PASSWORD });
  await browser.open(await mails.linkTo(email, /verify-email/));
  return browser;
}

test("nothing that is secret or private comes into the log", async () => {
  const browser = await signedIn();
  const session = browser.cookie("saldo_session") ?? "";
  const prompt = { model: "demo/small", stream: true, messages: [{ role: "user", content: `${CANARY}-prompt` }] };
  const body = {
    ...prompt,
    email: `${CANARY}@test.example`,
    password: PASSWORD,
    newPassword: PASSWORD,
    token: `${CANARY}-token`,
  };
  const credentials: Record<string, string>[] = [
    { authorization: `Bearer ${key}` },
    { authorization: `Bearer ${token}`, "x-saldo-account": `${CANARY}-account` },
    { authorization: `Basic ${btoa(`${CANARY}:${CANARY}`)}` },
    { authorization: `${CANARY}-scheme ${CANARY}` },
    { cookie: browser.cookies() },
  ];
  for (const route of everyRoute()) {
    for (const headers of credentials) await (await send(route, headers, JSON.stringify(body))).text();
  }
  await saldo.stop();
  const log = JSON.stringify(saldo.log);
  expect(saldo.log.length).toBeGreaterThan(500);
  expect(log).toContain("NodeError");
  const never = [CANARY, key, token, session.split(".")[0] ?? "", PASSWORD];
  expect(never.filter((each) => log.includes(each))).toEqual([]);
});

test("a line of the log is one JSON object with its time in UTC, whatever was sent", async () => {
  expect(saldo.log.length).toBeGreaterThan(500);
  for (const line of saldo.log) {
    expect(line).toMatchObject({ level: expect.any(String) as string, msg: expect.any(String) as string });
    expect(line["event"]).toMatch(/^[a-z]+(\.[a-z_]+)+$/);
    expect(line["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
});
