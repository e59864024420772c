// `/auth/*`, which no contract describes: every path × every kind of caller × where the request comes from, against what is
// written here; and nothing of better-auth is reached by any path that is not in the list.

import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authRoutes } from "../../src/identity/sign-in/auth-routes.ts";
import { createFactorSecrets } from "../../src/identity/second-factor/factor-secrets.ts";
import { createAuthServer } from "../../src/identity/sign-in/auth-server.ts";
import { issueServiceToken } from "../../src/identity/service-tokens.ts";
import { issueKey } from "../../src/keys/issue-key.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { Browser } from "../identity/browser.ts";
import { servePeople, type ServedPeople } from "../identity/served-people.ts";

const PASSWORD = "kuda benar baterai staples";

let served: ServedPeople;
let base: string;
let member: string;
let credentials: Record<string, Record<string, string>>;
beforeAll(async () => {
  served = await servePeople();
  base = served.saldo.httpUrl;
  const email = served.newEmail();
  const browser = served.newBrowser();
  await browser.auth("/sign-up/email", { email, password: PASSWORD });
  await browser.open(await served.mails.linkTo(email, /verify-email/));
  member = browser.cookies();
  const { person } = await browser.rpc<{ person: { accountId: string } }>("accounts.v1.AccountsService/GetMe");
  const { accountId } = person;
  const { database } = served.opened;
  const key = await issueKey(database, { accountId, name: "a key" });
  const token = await issueServiceToken(database.pool, { accountId, name: "a token" });
  credentials = {
    nobody: {},
    "a key": { authorization: `Bearer ${key.secret}` },
    "a service": { authorization: `Bearer ${token.secret}`, "x-saldo-account": accountId },
    "a made-up session": { cookie: "saldo_session=abc.def" },
  };
});
afterAll(() => served.stop());

/** A path's answer to a caller who is not signed in, in a request that is otherwise good, and from our own page. */
const withoutSession: Readonly<Record<string, number>> = {
  "POST /sign-up/email": 200,
  "POST /sign-in/email": 401,
  "POST /sign-out": 200,
  "GET /get-session": 200,
  "GET /verify-email": 401,
  "POST /send-verification-email": 200,
  "POST /request-password-reset": 200,
  "GET /reset-password/:token": 302,
  "POST /reset-password": 400,
  "POST /change-password": 401,
  "POST /revoke-other-sessions": 401,
  "POST /revoke-sessions": 401,
  "POST /demo/sign-in": 404,
  "POST /operator/set-up": 404,
  "POST /two-factor/verify-totp": 401,
  "POST /two-factor/verify-backup-code": 401,
  "GET /passkey/generate-authenticate-options": 200,
  "POST /passkey/verify-authentication": 400,
  "GET /passkey/generate-register-options": 401,
  "POST /passkey/verify-registration": 400,
  "GET /second-factor/state": 401,
  "POST /second-factor/set-up-app": 401,
  "POST /second-factor/recovery-codes": 401,
  "POST /second-factor/remove-app": 401,
  "POST /second-factor/remove-passkey": 401,
  "POST /second-factor/verify-password": 401,
};

const nameOf = ({ verb, path }: (typeof authRoutes)[number]): string => `${verb} ${path}`;
const addressOf = (path: string): string => {
  const address = `/auth${path.replace(":token", "some-token")}`;
  if (path === "/verify-email") return `${address}?token=abc`;
  return path.startsWith("/reset-password/") ? `${address}?callbackURL=%2F` : address;
};

function ask(route: (typeof authRoutes)[number], headers: Record<string, string>) {
  const fields: Record<string, string> = {
    email: served.newEmail(),
    password: PASSWORD,
    newPassword: PASSWORD,
    currentPassword: PASSWORD,
    token: "some-token",
    code: "123456",
    id: "some-id",
  };
  const wanted = (route.required ?? []).map((field) => [field, fields[field] ?? ""]);
  const type = { "content-type": "application/json" };
  const body = route.verb === "POST" ? JSON.stringify(Object.fromEntries(wanted)) : undefined;
  return new Browser(base).send(route.verb, addressOf(route.path), { ...type, ...headers }, body);
}

describe("every path of sign-in", () => {
  test("is listed here", () => {
    expect(authRoutes.map(nameOf).toSorted()).toEqual(Object.keys(withoutSession).toSorted());
  });

  test.each(authRoutes.map((route) => [nameOf(route), route] as const))(
    "%s takes no key, token or made-up cookie for a signed-in person",
    async (name, route) => {
      const asked = Object.entries(credentials).map(async ([caller, headers]) => {
        const { status, text, setCookies } = await ask(route, headers);
        const cookies = setCookies.filter((line) => line.startsWith("saldo_session=") && !/Max-Age=0/.test(line));
        return [caller, status, name === "GET /get-session" ? text : "null", cookies];
      });
      const wanted = Object.keys(credentials).map((caller) => [caller, withoutSession[name], "null", []]);
      expect(await Promise.all(asked)).toEqual(wanted);
    },
  );

  test("does nothing that another site asks for, with or without a session", async () => {
    const foreign = [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: base, "sec-fetch-site": "cross-site" },
    ];
    const asked = authRoutes
      .filter(({ verb }) => verb === "POST")
      .flatMap((route) =>
        foreign.map(async (from) => [nameOf(route), (await ask(route, { cookie: member, ...from })).status]),
      );
    expect((await Promise.all(asked)).filter(([, status]) => status !== 403)).toEqual([]);
    expect((await new Browser(base).with(member).rpcStatus("accounts.v1.AccountsService/GetMe")).status).toBe(200);
  });

  test("has no other verb", async () => {
    const routes = authRoutes.filter(({ path }) => path !== "/operator/set-up");
    const asked = routes.map(async (route) => {
      const verb = route.verb === "GET" ? "POST" : "GET";
      return [nameOf(route), (await ask({ ...route, verb }, {})).status] as const;
    });
    expect((await Promise.all(asked)).filter(([, status]) => status !== 405)).toEqual([]);
  });
});

describe("no other path", () => {
  test("of better-auth is there", async () => {
    const server = createAuthServer({
      pool: served.opened.database.pool,
      mailer: { isConfigured: false, send: async () => undefined },
      baseUrl: base,
      secret: uuidv7(),
      factorSecrets: createFactorSecrets([uuidv7()]),
      demoPerson: null,
      makeOperator: async () => "",
      onPasswordReset: () => undefined,
      onSession: async () => undefined,
      onMailLost: () => undefined,
    }) as unknown as { api: Record<string, { path?: string }> };
    const own = new Set(authRoutes.map(({ path }) => path));
    const others = Object.values(server.api).flatMap(({ path }) => (path === undefined || own.has(path) ? [] : [path]));
    expect(others.length).toBeGreaterThan(10);
    for (const path of others) {
      const address = `/auth${path.replaceAll(/:\w+/g, "some-id")}`;
      const statuses = await Promise.all(
        ["GET", "POST"].map(async (verb) => {
          const body = verb === "POST" ? "{}" : undefined;
          const headers = { "content-type": "application/json", cookie: member };
          return (await new Browser(base).send(verb, address, headers, body)).status;
        }),
      );
      expect([path, ...statuses]).toEqual([path, 404, 404]);
    }
  });

  test.each([
    "/auth/reset-password/..\\list-sessions",
    "/auth/reset-password/..\\error",
    "/auth/reset-password/..",
    "/auth/reset-password/%2e%2e%5clist-sessions",
    "/auth/reset-password/%2e%2e%2flist-sessions",
    "/auth/reset-password/..%5c..%5cok",
    "/auth/reset-password/a;b",
    "/auth/../auth/list-sessions",
    "/auth//list-sessions",
  ])("is reached by %j", async (path) => {
    expect(await statusAt(path)).toBe(404);
  });
});

/** Asks for a path as it is written; fetch would tidy it. */
function statusAt(path: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const { hostname, port } = new URL(base);
  const asking = request({ hostname, port, path, headers: { cookie: member } }, (response) => {
    response.resume();
    resolve(response.statusCode);
  });
  asking.on("error", reject).end();
  return promise;
}
