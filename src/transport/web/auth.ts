// `/auth/*`: signing up, in and out, for browsers. identity/sign-in/auth-routes.ts has the paths; this file reads the request, checks that
// a page of ours sends it, and writes the answer.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type AuthRoute, authRoutes } from "../../identity/sign-in/auth-routes.ts";
import type { AuthRequest, SignIn } from "../../identity/sign-in/sign-in.ts";
import { ForeignPage, MethodNotAllowed, NotFound, PermissionDenied, ValidationError } from "../../kernel/errors.ts";
import { preferredLanguage } from "../../kernel/preferred-language.ts";
import { isLoopbackAddress, isLoopbackHost } from "../../kernel/loopback.ts";
import { readSingle } from "../calls/call.ts";
import { addressOf } from "../calls/client-address.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import { logCall, logFault, type CallLogger } from "../calls/log.ts";
import type { BodyIntake } from "../http/body-intake.ts";
import { refusalOfJson, takeBodies } from "./take-bodies.ts";
import { isJsonObject, JsonNumber, parseJsonBody, type JsonBody } from "../rest/json-text.ts";
import type { KnownPaths } from "../rest/allowed-methods.ts";
import type { SameOrigin } from "../http/same-origin.ts";
import { SET_UP_PAGE_HEADERS, setUpPage } from "./set-up-page.ts";

/** The prefix of all its paths. */
export const AUTH_PATH = "/auth";
const MAX_BODY_BYTES = 16_384;
const FORM_TYPE = "application/x-www-form-urlencoded";

export type AuthOptions = {
  readonly signIn: SignIn;
  readonly isSameOrigin: SameOrigin;
  /** How many of our proxies are in front, each adding the address it sees to X-Forwarded-For. */
  readonly trustedProxies: number;
  readonly intake: BodyIntake;
  readonly logger: CallLogger;
};

/** Registers the one catch-all, in a scope of its own. */
export function registerAuth(app: FastifyInstance, paths: KnownPaths, options: AuthOptions): void {
  takeBodies(app, "application/json", options.intake, refusalOfJson);
  takeBodies(app, FORM_TYPE, options.intake, refusalOfForm);
  app.route({
    method: app.supportedMethods.filter((verb) => verb !== "OPTIONS"),
    url: `${AUTH_PATH}/*`,
    bodyLimit: MAX_BODY_BYTES,
    onRequest(request, _reply, done) {
      warnOfProxy(request.raw, options);
      done(refusalOf(request, options.isSameOrigin) ?? undefined);
    },
    handler: (request, reply) => answer(options, request, reply),
  });
  // For OPTIONS and the verbs that Fastify does not support, which do not reach the catch-all.
  for (const [path, routes] of Map.groupBy(authRoutes, (route) => route.path))
    paths.add(AUTH_PATH + path, verbsOf(path, routes));
}

/** Forms of other sites can send this type unasked, so it is accepted only where cookies are ignored. */
function refusalOfForm(request: FastifyRequest): ValidationError | null {
  const isForm = routesAt(pathOf(request.url)).some((route) => route.isForm === true);
  return isForm ? null : new ValidationError([{ field: "", rule: "json", message: "The body must be valid JSON" }]);
}

/** The error of a request before its body is read. */
function refusalOf(request: FastifyRequest, isSameOrigin: SameOrigin): Error | null {
  const path = pathOf(request.url);
  const verbs = verbsOf(path, routesAt(path));
  if (verbs.length === 0) return new NotFound("There is no such path.");
  if (!verbs.includes(request.method)) return new MethodNotAllowed(verbs);
  if (request.method === "POST" && !isSameOrigin(request.raw)) return new ForeignPage();
  return path.replace(/\/$/, "") === DEMO_ROUTE && !isFromThisMachine(request.raw) ? new NotThisMachine() : null;
}

/** The one-click sign-in of a demo needs no password, so it works only for people at the machine. */
const DEMO_ROUTE = "/demo/sign-in";

class NotThisMachine extends PermissionDenied {
  override readonly message =
    "The sign-in without a password works only in a browser on the machine that runs the demo.";
}

/**
 * Whether a request comes from a browser on this machine, by its connection and by the host in its address bar. A request that a
 * proxy has passed on may come from anywhere.
 */
function isFromThisMachine({ headers, socket }: IncomingMessage): boolean {
  const isPassedOn = headers["x-forwarded-for"] !== undefined || headers["forwarded"] !== undefined;
  const host = (headers.host ?? "").replace(/:\d+$/, "");
  return !isPassedOn && isLoopbackHost(host) && isLoopbackAddress(socket.remoteAddress ?? "");
}

/** The verbs of a path; none where there is no such path. */
function verbsOf(path: string, routes: readonly AuthRoute[]): string[] {
  const verbs = routes.map(({ verb }): string => verb);
  return path === SET_UP_ROUTE ? [...verbs, "GET"] : verbs;
}

const SET_UP_ROUTE = "/operator/set-up";

async function answer(options: AuthOptions, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const { signIn, logger, trustedProxies } = options;
  const path = pathOf(request.url);
  reply.header("cache-control", "no-store").header("referrer-policy", "same-origin");
  const route = routesAt(path).find(({ verb }) => verb === request.method);
  if (route === undefined) {
    void reply.headers(SET_UP_PAGE_HEADERS);
    return setUpPage(new URLSearchParams(queryOf(request.url)).get("token") ?? "");
  }
  const isForm = request.headers["content-type"]?.startsWith(FORM_TYPE) === true;
  const call = { method: `auth${route.path}`, requestId: request.id, receivedAtMs: timeOfUuidv7(request.id) };
  try {
    const { status, headers, body } = await signIn.answer({
      route,
      target: targetOf(route, path, route.noQuery === true ? "" : queryOf(request.url)),
      body: isForm ? Object.fromEntries(new URLSearchParams(String(request.body))) : fieldsOf(request),
      // Reads may come from mails and address bars, writes only from our own pages.
      cookies: readSingle(request.raw.rawHeaders, "cookie").value ?? "",
      language: preferredLanguage(request.headers["accept-language"]),
      userAgent: (request.headers["user-agent"] ?? "").slice(0, 300),
      address: addressOf(request.raw, trustedProxies),
    } satisfies AuthRequest);
    for (const [name, value] of headers) reply.header(name, value);
    logCall(logger, { ...call, principal: { kind: "public" } });
    if (isForm) {
      void reply.code(303).header("location", "/");
      return "";
    }
    void reply.code(status).type("application/json; charset=utf-8");
    return body;
  } catch (error) {
    logFault(logger, request.id, error);
    logCall(logger, { ...call, principal: { kind: "public" }, error });
    throw error;
  }
}

/** The routes at a path below `/auth`, whatever their verb. A slash at the end is as good as none. */
function routesAt(path: string): AuthRoute[] {
  const parts = path.replace(/\/$/, "").split("/");
  return authRoutes.filter((route) => {
    const wanted = route.path.split("/");
    return wanted.length === parts.length && wanted.every((part, i) => fits(part, parts[i] ?? ""));
  });
}

/** A token in a path. It has no character with a meaning for the next reader of the path. */
const TOKEN = /^[A-Za-z0-9_-]+$/;

function fits(wanted: string, part: string): boolean {
  return wanted.startsWith(":") ? TOKEN.test(part) : part === wanted;
}

/** The path and query for sign-in, built from the route: better-auth reads `\` and `..` in another way than we do. */
function targetOf(route: AuthRoute, path: string, query: string): string {
  const parts = path.split("/");
  const target = route.path.split("/").map((part, i) => (part.startsWith(":") ? (parts[i] ?? "") : part));
  return `${target.join("/")}${query === "" ? "" : `?${query}`}`;
}

function pathOf(url: string): string {
  return (url.split("?", 1)[0] ?? "").slice(AUTH_PATH.length);
}

function queryOf(url: string): string {
  const at = url.indexOf("?");
  return at < 0 ? "" : url.slice(at + 1);
}

function fieldsOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  if (!Buffer.isBuffer(request.body) || request.body.length === 0) return {};
  const body = parseJsonBody(request.body, { refuseDuplicateKeys: true });
  if (!isJsonObject(body)) {
    throw new ValidationError([{ field: "", rule: "type", message: "The body must be a JSON object" }]);
  }
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, plainOf(value)]));
}

/** Sign-in takes texts, booleans and the answers of passkeys; other values are refused field by field. */
function plainOf(value: JsonBody): unknown {
  if (value instanceof JsonNumber) return Number(value.source);
  if (Array.isArray(value)) return value.map(plainOf);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plainOf(each)]));
}

const warned = new WeakSet<AuthOptions>();

/** Warns once that tries of all people are counted together: a proxy passes requests on, and no setting names it. */
function warnOfProxy({ headers }: IncomingMessage, options: AuthOptions): void {
  if (options.trustedProxies > 0 || headers["x-forwarded-for"] === undefined || warned.has(options)) return;
  warned.add(options);
  const fact = { event: "auth.proxy.untrusted" } as const;
  options.logger.warn(
    fact,
    "X-Forwarded-For was sent, but SALDO_TRUSTED_PROXIES is 0: tries count for the proxy's address",
  );
}
