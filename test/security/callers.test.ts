// Every method of every service × every kind of caller × RPC and REST, compared with the contract's `callers` option. The
// methods are bound to nothing, so a caller who gets as far as the method learns that it is missing.

import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import {
  Caller,
  callers as callersOption,
  rest_callers,
  token_scope,
  TokenScope,
} from "#gen/saldo/options/v1/options_pb.ts";
import { createServers, type Servers } from "../../src/transport/server/servers.ts";
import { routesOf } from "../../src/transport/rest/http-rules.ts";
import { mountRoutes } from "../../src/transport/rest/rest.ts";
import { services } from "../../src/transport/calls/services.ts";
import { createLogMemory, echoGateway } from "../transport/fakes.ts";
import { allowProblems } from "../setup/answers/problems.ts";
import { createTestDatabase, type TestDatabase } from "../setup/test-database.ts";
import { type Kind, makeCallers, type TestCaller } from "./callers.ts";

const REFUSALS = new Set(["invalid_api_key", "invalid_credentials", "permission_denied"]);
/** The paths that programs ask models at: they take no cookies. */
const ANSWERED_BY_MODELS =
  /^\/v1\/(?:chat\/completions|embeddings|messages|responses)$|^\/v1(?:beta)?\/models\/.*:(?:g|streamG)enerateContent$/;
const NO_ACCOUNT = "There is no such account.";

let opened: TestDatabase;
let servers: Servers;
let http: string;
let grpc: string;
let made: Awaited<ReturnType<typeof makeCallers>>;
const log = createLogMemory();
beforeAll(async () => {
  // The methods are bound to nothing, and the gateway answers with any bytes.
  allowProblems(/^POST \/v1\/(chat\/completions|embeddings) 200|: the status 404 is not documented$/);
  opened = await createTestDatabase();
  made = await makeCallers(opened.database);
  servers = createServers({
    implementations: {},
    gateway: echoGateway,
    ...made.ports,
    signIn: { answer: async () => ({ status: 200, headers: [], body: "null" }) },
    trustedProxies: 0,
    publicUrl: null,
    ready: async () => true,
    agentsPackage: async () => Buffer.from("a package"),
    recordCall: async () => undefined,
    takeCallerSlot: async () => undefined,
    takeCountSlot: () => undefined,
    dashboard: null,
    logger: log.logger,
    host: "127.0.0.1",
    ports: { http: 0, grpc: 0 },
  });
  const ports = await servers.listen();
  http = `http://127.0.0.1:${ports.httpPort}`;
  grpc = `http://127.0.0.1:${ports.grpcPort}`;
});
afterAll(async () => {
  await servers.close(1_000);
  await opened.drop();
});

const methods: DescMethod[] = Object.values(services).flatMap((service) => [...service.methods]);

/** Who a caller is to a method, by the words of the contracts alone. */
function kindFor({ kind, asPerson, byCookie }: TestCaller, takes: readonly Caller[], takesCookies: boolean): Kind {
  if (byCookie === true && !takesCookies) return Caller.PUBLIC;
  if (asPerson === undefined) return kind;
  const namesAccount = asPerson === "no such account";
  const isOperator = takes.includes(Caller.OPERATOR) && (namesAccount || !takes.includes(Caller.SESSION));
  return isOperator ? kind : asPerson;
}

/** What the contract lets happen: the method is reached, the account is not there, or which refusal. */
function expected(
  method: DescMethod,
  caller: TestCaller,
  takesCookies: boolean,
  takes = getOption(method, callersOption),
): string {
  // A method for everyone acts for no account, and looks up no credentials.
  if (takes.length === 1 && takes[0] === Caller.PUBLIC) return "reached";
  const kind = kindFor(caller, takes, takesCookies);
  if (kind === "no such account") return kind;
  if (caller.mayOnlyRead === true && takes.includes(Caller.SERVICE)) {
    return getOption(method, token_scope) === TokenScope.READ ? "reached" : "permission_denied";
  }
  if (takes.includes(kind) || takes.includes(Caller.PUBLIC)) return "reached";
  if (takes.includes(Caller.MERCHANT)) return "invalid_credentials";
  return kind === Caller.PUBLIC || kind === Caller.MERCHANT ? "invalid_api_key" : "permission_denied";
}

/** Who may call a method in REST, by the words of the contracts alone. */
function takenInRest(method: DescMethod): Caller[] {
  const admitted = getOption(method.parent, rest_callers);
  return getOption(method, callersOption).filter((caller) => admitted.length === 0 || admitted.includes(caller));
}

async function outcome(transport: Transport, method: DescMethod, headers: Record<string, string>): Promise<string> {
  const client = createClient(method.parent, transport) as Record<string, (...args: unknown[]) => unknown>;
  try {
    const answer = client[method.localName]?.({}, { headers, timeoutMs: 20_000 });
    if (method.methodKind === "server_streaming") await Array.fromAsync(answer as AsyncIterable<unknown>);
    else await answer;
    return "reached";
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    const code = error.findDetails(ErrorFactsSchema)[0]?.code ?? "";
    if (REFUSALS.has(code)) return code;
    if (error.code === Code.NotFound && error.rawMessage === NO_ACCOUNT) return "no such account";
    return error.code === Code.Unimplemented || code === "validation_error"
      ? "reached"
      : `${error.code} ${error.message}`;
  }
}

const faces: [name: string, takesCookies: boolean, transport: () => Transport][] = [
  ["gRPC", false, () => createGrpcTransport({ baseUrl: grpc })],
  ["Connect", true, () => createConnectTransport({ baseUrl: http, httpVersion: "1.1" })],
];

test.each(faces)("over %s each method takes exactly the callers it names", async (_face, takesCookies, transport) => {
  const through = transport();
  expect(methods.length).toBeGreaterThan(20);
  for (const method of methods) {
    const wanted = made.callers.map((caller) => [caller.name, expected(method, caller, takesCookies)]);
    const called = made.callers.map(async ({ name, headers }) => [
      name,
      await outcome(through, method, { origin: http, ...headers }),
    ]);
    const name = `${method.parent.typeName}/${method.name}`;
    expect([name, ...(await Promise.all(called))]).toEqual([name, ...wanted]);
  }
});

test("over REST each route takes exactly the callers its method names, in the environment of its path", async () => {
  const routes = methods.flatMap((method) => mountRoutes(routesOf(method)).map((mounted) => ({ method, mounted })));
  expect(routes.length).toBeGreaterThan(10);
  for (const { method, mounted } of routes) {
    const { action } = mounted.route;
    const path = mounted.path.replace("*", "some/model").replace(/:\w+/, "some-id");
    const address = action === null ? path : `${path}:${action}`;
    const wanted = made.callers.map((caller) => {
      const { environment } = mounted;
      const isElsewhere = ![null, undefined, environment].includes(caller.environment) && environment !== null;
      const takesCookies = !ANSWERED_BY_MODELS.test(address);
      return [
        caller.name,
        isElsewhere ? "invalid_credentials" : expected(method, caller, takesCookies, takenInRest(method)),
      ];
    });
    const called = made.callers.map(async ({ name, headers }) => [
      name,
      await restOutcome(mounted.verb, address, { origin: http, ...headers }),
    ]);
    const name = `${mounted.verb} ${address}`;
    expect([name, ...(await Promise.all(called))]).toEqual([name, ...wanted]);
  }
});

type Detail = { error_code?: string; reason?: string };
type Nested = { code?: string | number; message?: string; details?: Detail | Detail[] };

/** The code of an error in the form of OpenAI, Anthropic or Google. */
function codeIn({ details, code }: Nested): string {
  if (Array.isArray(details)) return details[0]?.reason?.toLowerCase() ?? "";
  return details?.error_code ?? String(code ?? "");
}

async function restOutcome(verb: string, address: string, headers: Record<string, string>): Promise<string> {
  const body = verb === "GET" ? {} : { body: "{}" };
  const response = await fetch(http + address, {
    method: verb,
    headers: { "content-type": "application/json", ...headers },
    ...body,
  });
  const text = await response.text();
  type Refusal = { error?: string | Nested; message?: string; meta?: { error?: string; message?: string } };
  const told = (response.ok ? {} : JSON.parse(text)) as Refusal;
  const error = told.meta?.error ?? told.error ?? "";
  const code = typeof error === "string" ? error : codeIn(error);
  if (REFUSALS.has(code)) return code;
  const nested = typeof told.error === "object" ? told.error.message : undefined;
  if ((told.meta?.message ?? nested ?? told.message) === NO_ACCOUNT) return "no such account";
  return response.ok || response.status === 400 || response.status === 404 ? "reached" : `${response.status} ${text}`;
}

test("the paths of merchants take a merchant's pair and nothing else", () => {
  const mounted = methods.flatMap((method) => mountRoutes(routesOf(method)).map(({ path }) => ({ method, path })));
  const taken = mounted
    .filter(({ path }) => /^(\/sandbox)?\/v1\/merchant-/.test(path))
    .map(({ method }) => takenInRest(method));
  expect(taken).toEqual(Array.from({ length: 14 }, () => [Caller.MERCHANT]));
});

test("every method that takes services names what a token must be allowed to do, and reading changes nothing", () => {
  const scopes = methods.map((method) => {
    const takesServices = getOption(method, callersOption).includes(Caller.SERVICE);
    return { name: method.name, takesServices, scope: getOption(method, token_scope), level: method.idempotency };
  });
  expect(scopes.filter(({ takesServices, scope }) => takesServices !== (scope !== TokenScope.UNSPECIFIED))).toEqual([]);
  const isRead = MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const served = scopes.filter(({ takesServices }) => takesServices);
  const reading = served.filter(({ scope }) => scope === TokenScope.READ);
  // Streams cannot be marked as changing nothing.
  expect(reading.filter(({ level }) => level !== isRead).map(({ name }) => name)).toEqual([
    "WatchTopUp",
    "ExportUsage",
    "ExportLedger",
    "ExportStatement",
  ]);
  expect(served.filter(({ scope, level }) => scope !== TokenScope.READ && level === isRead)).toEqual([]);
  // Whatever moves a merchant's money, or makes the credentials that do.
  const moving = served.filter(({ scope }) => scope === TokenScope.TRANSFERS).map(({ name }) => name);
  expect(moving.toSorted()).toEqual(
    ["CreateMerchant", "CreateCredential", "CreateTransfer", "CancelTransfer"].toSorted(),
  );
});

test("a cookie counts for nothing where another site may have sent it", async () => {
  const operator = made.callers.find(({ name }) => name === "an operator");
  const call = async (headers: Record<string, string>) => {
    const response = await fetch(`${http}/saldo.accounts.v1.AccountsService/ListServiceTokens`, {
      method: "POST",
      headers: { "content-type": "application/json", ...operator?.headers, ...headers },
      body: "{}",
    });
    await response.text();
    return response.status;
  };
  expect(await call({ origin: http })).toBe(501);
  for (const foreign of [
    {},
    { origin: "null" },
    { origin: "http://evil.example" },
    { origin: http, "sec-fetch-site": "cross-site" },
  ]) {
    expect(await call(foreign)).toBe(401);
  }
  // No form of another site can send what a method takes.
  for (const type of ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"]) {
    expect(await call({ origin: http, "content-type": type })).toBe(415);
  }
});

test("nothing that was sent to identify a caller is in the log", () => {
  expect(log.lines.length).toBeGreaterThan(100);
  const text = JSON.stringify(log.lines);
  expect(made.secrets.filter((secret) => text.includes(secret))).toEqual([]);
});
