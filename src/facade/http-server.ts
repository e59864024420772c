// The HTTP/1.1 port: REST, Connect, gRPC-Web, the OpenAPI document and the probes. Every answer has a documented shape;
// Fastify's own error bodies never leave it.

import { readFileSync } from "node:fs";
import fastify, { type FastifyInstance } from "fastify";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { SignIn } from "../accounts/sign-in.ts";
import type { Gateway } from "../gateway/chat.ts";
import { NotFound, UnsupportedMediaType } from "../kernel/errors.ts";
import { timeOfUuidv7, uuidv7 } from "../kernel/ids.ts";
import { createCallValues, READ_MAX_BYTES, sayRequestId } from "../rpc/call.ts";
import { endWithin, listenOn, type StoppableServer } from "../rpc/stoppable-server.ts";
import { createInterceptors, type CallPorts, verifiersOf } from "../rpc/interceptors.ts";
import { bindServices, registerServices, type Implementations } from "../rpc/services.ts";
import { registerAuth } from "./auth.ts";
import { chatMethod, type ChatPorts, createChatHandler } from "./chat.ts";
import type { Dashboard } from "./dashboard.ts";
import { type DocsOptions, registerDocs } from "./docs.ts";
import { answerErrorsIn, refuseMalformed } from "./refusals.ts";
import { tellFactsOfUndecodable } from "../rpc/undecodable.ts";
import { KnownPaths, PLAIN_PATHS, ROUTER_OPTIONS } from "./other-verbs.ts";
import { prepareToLeave } from "./leaving.ts";
import { createOwnSite, readWebCredentials, type OwnSite } from "./own-site.ts";
import { takePlainChats } from "./plain-chat.ts";
import { registerPayments, type PaymentPorts } from "./payments.ts";
import { mountRoutes, registerRest } from "./rest.ts";
import { routesOf } from "./http-rules.ts";

/** What the HTTP server is built from. */
export type HttpServerOptions = {
  readonly implementations: Implementations;
  readonly ports: CallPorts;
  readonly gateway: Gateway;
  /** Signs people up, in and out. */
  readonly signIn: SignIn;
  readonly trustedProxies: number;
  /** Where people reach this server. Null: where their request says. */
  readonly publicUrl: string | null;
  /** The name or address the server listens at. */
  readonly host: string;
  /** The probe behind /readyz. */
  readonly ready: () => Promise<boolean>;
  /** The package that points coding agents at this gateway. */
  readonly agentsPackage: () => Promise<Buffer>;
  /** What the documentation for programs is filled from. Left out, there is none. */
  readonly docs?: DocsOptions;
  /** Webhooks and the sandbox's page. Left out, there are none. */
  readonly payments?: PaymentPorts;
  /** The pages that people see. Null: they were not built. */
  readonly dashboard: Dashboard | null;
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether errors on the route have the merchants' shape. */
    inEnvelope?: boolean;
  }
}

/** How long a request may take to arrive: 32 MiB on a slow line, but not for ever. Its answer may take longer. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Idle connections that no answer has closed, such as those that never sent a request. */
const IDLE_SWEEP_MS = 1_000;

/** Builds the HTTP server. */
export function createHttpServer(options: HttpServerOptions): StoppableServer {
  const shutdown = new AbortController();
  const ready = async () => !leaving.isLeaving && (await options.ready());
  const app = createApp({ ...options, ready }, shutdown.signal);
  const leaving = prepareToLeave(app.server);
  app.server.prependListener("request", (request, response) => leaving.note(request.socket, response));
  return {
    async listen(address) {
      await app.ready();
      return listenOn(app.server, address);
    },
    async close(limitMs) {
      const startedAt = performance.now();
      await leaving.leave(limitMs);
      const closed = app.close();
      const sweep = setInterval(() => app.server.closeIdleConnections(), IDLE_SWEEP_MS);
      await endWithin(Math.max(0, limitMs - (performance.now() - startedAt)), closed, {
        abort: () => shutdown.abort(new ConnectError("The server is stopping.", Code.Unavailable)),
        destroy: () => app.server.closeAllConnections(),
      });
      clearInterval(sweep);
    },
  };
}

/** The Fastify application without a port; tests inject requests into it. */
export function createApp(options: HttpServerOptions, shutdownSignal?: AbortSignal): FastifyInstance {
  const app = fastify({
    bodyLimit: READ_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: () => uuidv7(),
    requestIdHeader: false,
    forceCloseConnections: "idle",
    // A request without a Host header is answered like any other, instead of with Node's empty 400.
    http: { requireHostHeader: false },
    return503OnClosing: false,
    routerOptions: ROUTER_OPTIONS,
    ...refuseMalformed(options.ports.logger),
  });
  const paths = new KnownPaths();
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    const refusal = paths.refusalOf(request);
    if (refusal instanceof NotFound && options.dashboard?.isWanted(request) === true) {
      options.dashboard.send(request, reply.code(404));
      return;
    }
    // Before a body is read: whatever it holds, there is nothing here.
    done(refusal);
  });
  answerErrorsIn(app, options.ports.logger);

  const interceptors = createInterceptors(options.ports);
  const isOwnSite = createOwnSite(options.publicUrl, options.host);
  app.register((rpcScope, _options, done) => {
    registerRpc(rpcScope, options, { interceptors, isOwnSite, paths, shutdownSignal });
    done();
  });

  const chat = { gateway: options.gateway, verifiers: verifiersOf(options.ports), logger: options.ports.logger };
  takePlainChats(app, chat);
  // A scope of its own: Connect reads bodies itself, and would meet the parser of this one.
  app.register((restScope, _options, done) => {
    takeJsonBodies(restScope);
    const except = new Set([chatMethod]);
    registerRest(restScope, bindServices(options.implementations), { interceptors, isOwnSite, except });
    registerChat(restScope, chat);
    done();
  });
  const { payments } = options;
  if (payments !== undefined) {
    app.register((paymentScope, _options, done) => {
      registerPayments(paymentScope, paths, payments);
      done();
    });
  }
  app.register((authScope, _options, done) => {
    takeJsonBodies(authScope);
    registerAuth(authScope, paths, { ...options, isOwnSite, logger: options.ports.logger });
    done();
  });
  registerPlain(app, options);
  if (options.docs !== undefined) registerDocs(app, paths, options.docs);
  options.dashboard?.mount(app);
  return app;
}

type CallSetting = {
  readonly interceptors: Interceptor[];
  readonly isOwnSite: OwnSite;
  readonly paths: KnownPaths;
  readonly shutdownSignal: AbortSignal | undefined;
};

/** Connect and gRPC-Web. */
function registerRpc(
  app: FastifyInstance,
  { implementations, ports }: HttpServerOptions,
  { interceptors, isOwnSite, paths, shutdownSignal }: CallSetting,
): void {
  app.register(fastifyConnectPlugin, {
    grpc: false,
    readMaxBytes: READ_MAX_BYTES,
    requestGate: sayRequestId,
    ...(shutdownSignal === undefined ? {} : { shutdownSignal }),
    contextValues: (request) =>
      createCallValues({
        requestId: request.id,
        receivedAtMs: timeOfUuidv7(request.id),
        credentials: readWebCredentials(request.raw, isOwnSite),
        environment: null,
      }),
    routes: (router) => {
      registerServices(router, implementations, interceptors);
      // Connect would answer other verbs, HEAD among them, without a body.
      for (const { requestPath, allowedMethods } of router.handlers)
        paths.add(requestPath, allowedMethods, allowedMethods);
      tellFactsOfUndecodable(router, ports.logger);
    },
  });
}

/** The chat handler stands where the contract's option says, like any other method. */
function registerChat(app: FastifyInstance, ports: ChatPorts): void {
  const handler = createChatHandler(ports);
  for (const { verb, path } of mountRoutes(routesOf(chatMethod))) app.route({ method: verb, url: path, handler });
}

/** What is neither a method nor an error: the document of the REST face, the probes and the agents' package. */
function registerPlain(app: FastifyInstance, { ready, agentsPackage }: HttpServerOptions): void {
  const document = readFileSync(new URL("../../openapi/openapi.json", import.meta.url), "utf8");
  app.get(PLAIN_PATHS.document, (_request, reply) => reply.type("application/json; charset=utf-8").send(document));
  app.get(PLAIN_PATHS.agents, async (_request, reply) => reply.type("application/gzip").send(await agentsPackage()));
  app.get(PLAIN_PATHS.lives, () => ({ status: "ok" }));
  app.get(PLAIN_PATHS.ready, async (_request, reply) => {
    const isReady = await ready();
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? "ready" : "not ready" });
  });
}

/** Bodies arrive as bytes: chat passes them on, and the other routes parse them with the numbers' source text. */
function takeJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    const { "content-encoding": encoding = "identity", "content-type": type = "" } = request.headers;
    const isReadable = encoding === "identity" && isUtf8(type);
    done(isReadable ? null : new UnsupportedMediaType(), body);
  });
}

/** JSON between systems is UTF-8; whoever says nothing else means it. */
function isUtf8(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
}
