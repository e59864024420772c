// The HTTP/1.1 port: REST, Connect, gRPC-Web, the OpenAPI document and the probes. Every answer has a documented form;
// Fastify's own error bodies are never sent.

import { readFileSync } from "node:fs";
import type { Server as SecureServer } from "node:https";
import fastify, { type FastifyInstance } from "fastify";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { SignIn } from "../../identity/sign-in/sign-in.ts";
import type { Gateway } from "../../gateway/chat.ts";
import { NotFound } from "../../kernel/errors.ts";
import { timeOfUuidv7, uuidv7 } from "../../kernel/ids.ts";
import { packageVersion } from "../../kernel/version.ts";
import { createCallValues, READ_MAX_BYTES, setRequestId } from "../calls/call.ts";
import { connectionsOf, endWithin, listenOn, type StoppableServer } from "../http/stoppable-server.ts";
import { renewCertificate, type TlsFiles, tlsOptions } from "../http/tls-files.ts";
import { createInterceptors, type CallPorts, verifiersOf } from "../calls/interceptors.ts";
import { bindServices, registerServices, type Implementations } from "../calls/services.ts";
import { createAnswerHeaders } from "../http/answer-headers.ts";
import { registerAuth } from "../web/auth.ts";
import type { BodyIntake } from "../http/body-intake.ts";
import { CHAT_ROUTE, EMBEDDINGS_ROUTE } from "../rest/chat/chat.ts";
import { createModelHandler, type ModelPorts, type ModelRoute } from "../rest/model-request.ts";
import { isPreflight, preflightHeaders } from "../http/cors.ts";
import type { Dashboard } from "../web/dashboard.ts";
import { type DocsOptions, registerDocs } from "../web/docs.ts";
import { answerErrorsIn, refuseMalformed } from "./error-handler.ts";
import { listenForRequests } from "./request-listener.ts";
import { addFactsToDecodeErrors } from "../calls/decode-errors.ts";
import { registerHello } from "./hello.ts";
import { KnownPaths, PLAIN_PATHS, ROUTER_OPTIONS } from "../rest/allowed-methods.ts";
import { prepareToLeave } from "./graceful-shutdown.ts";
import { createSameOriginCheck, readWebCredentials, type SameOrigin } from "../http/same-origin.ts";
import { createPlainChat } from "../rest/chat/plain-chat.ts";
import { registerPayments, type PaymentPorts } from "../web/payments.ts";
import { PROTOCOL_ROUTES } from "../rest/protocols/protocol-routes.ts";
import { actionConstraint, addActions } from "../rest/path-actions.ts";
import { mountRoutes, registerRest, unreached } from "../rest/rest.ts";
import { routesOf } from "../rest/http-rules.ts";
import { leaveBodyUnread } from "../http/unread-body.ts";

/** The parts of the HTTP server. */
export type HttpServerOptions = {
  readonly implementations: Implementations;
  readonly ports: CallPorts;
  readonly gateway: Gateway;
  /** Signs people up, in and out. */
  readonly signIn: SignIn;
  readonly trustedProxies: number;
  /** The public address of this server. Null: the host of each request. */
  readonly publicUrl: string | null;
  /** The name or address the server listens at. */
  readonly host: string;
  /** Null or left out: cleartext. */
  readonly tls?: TlsFiles | null;
  /** The probe behind /readyz. */
  readonly ready: () => Promise<boolean>;
  /** The package that points coding agents at this gateway. */
  readonly agentsPackage: () => Promise<Buffer>;
  /** The facts in the documentation for programs. Absent: there is none. */
  readonly docs?: DocsOptions;
  /** Webhooks and the sandbox's page. Absent: there are none. */
  readonly payments?: PaymentPorts;
  /** The dashboard. Null: it was not built. */
  readonly dashboard: Dashboard | null;
  /** Receives the bodies of requests. */
  readonly intake: BodyIntake;
  /** How many connections may be open at once; more are closed at once. */
  readonly maxConnections: number;
};

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether errors on the route have the merchants' form. */
    inEnvelope?: boolean;
  }
}

/** How long a request may take to arrive: 32 MiB on a slow line, but not for ever. Its answer may take longer. */
const REQUEST_TIMEOUT_MS = 300_000;
/** How long its headers may take. */
const HEADERS_TIMEOUT_MS = 20_000;
/** How often both are checked. */
const TIMEOUTS_CHECKED_EACH_MS = 5_000;
/** Idle connections that no answer has closed, such as those that never sent a request. */
const IDLE_SWEEP_MS = 1_000;

const LISTENING = {
  // The listener refuses a request without a Host header itself; Node would answer it with an empty 400.
  requireHostHeader: false,
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: TIMEOUTS_CHECKED_EACH_MS,
};

/** The HTTP port. */
type HttpServer = StoppableServer & {
  /** How many connections were closed at once, because too many were open. */
  droppedConnections(): number;
};

/** Builds the HTTP server. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const shutdown = new AbortController();
  const ready = async () => !leaving.isLeaving && (await options.ready());
  const app = createApp({ ...options, ready }, shutdown.signal);
  const leaving = prepareToLeave(app.server);
  const connections = connectionsOf(app.server);
  let dropped = 0;
  app.server.on("drop", () => (dropped += 1));
  app.server.prependListener("request", (request, response) => leaving.note(request.socket, response));
  return {
    droppedConnections: () => dropped,
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
        destroy: () => connections.destroyAll(),
      });
      clearInterval(sweep);
    },
  };
}

/** The Fastify application without a port; tests inject requests into it. */
export function createApp(options: HttpServerOptions, shutdownSignal?: AbortSignal): FastifyInstance {
  const { intake, tls = null } = options;
  const isEncrypted = tls !== null;
  const headers = createAnswerHeaders(options.publicUrl, { isEncrypted });
  const app = fastify({
    bodyLimit: READ_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: () => uuidv7(),
    requestIdHeader: false,
    forceCloseConnections: "idle",
    ...(tls === null ? { http: LISTENING } : { https: { ...LISTENING, ...tlsOptions(tls) } }),
    return503OnClosing: false,
    routerOptions: ROUTER_OPTIONS,
    ...refuseMalformed(options.ports.logger, headers.common),
  });
  if (tls !== null) renewCertificate(app.server as SecureServer, tls);
  app.server.maxConnections = options.maxConnections;
  addActions(app);
  const paths = new KnownPaths();
  app.addHook("onRequest", (request, reply, done) => {
    reply.header("x-request-id", request.id);
    const verbs = isPreflight(request.raw) ? paths.allowedAt(request.url) : [];
    if (verbs.length > 0) {
      void reply.code(204).headers(preflightHeaders(verbs)).send();
      return;
    }
    const refusal = paths.refusalOf(request);
    if (refusal instanceof NotFound && options.dashboard?.isWanted(request) === true) {
      options.dashboard.send(request, reply.code(404));
      return;
    }
    // Before a body is read: there is no handler for it.
    done(refusal);
  });
  app.addHook("onSend", (request, reply, _payload, done) => {
    leaveBodyUnread(request.raw, reply.raw);
    done();
  });
  answerErrorsIn(app, options.ports.logger);

  const interceptors = createInterceptors(options.ports);
  const isSameOrigin = createSameOriginCheck(options.publicUrl, options.host, { isEncrypted });
  app.register((rpcScope, _options, done) => {
    registerRpc(rpcScope, options, { interceptors, isSameOrigin, paths, shutdownSignal });
    done();
  });

  const verifiers = verifiersOf(options.ports);
  const { keys, logger } = options.ports;
  const models: ModelPorts = {
    gateway: options.gateway,
    verifiers,
    keys,
    intake,
    headers,
    logger,
    tracing: options.ports.tracing,
  };
  listenForRequests(app, { headers, takePlainChat: createPlainChat(models), readsItself: isRpcPath });
  registerRest(app, bindServices(options.implementations), {
    interceptors,
    isSameOrigin,
    intake,
    except: new Set(MODEL_ROUTES.map(({ method }) => method)),
  });
  for (const route of MODEL_ROUTES) registerModelRoute(app, models, route);
  const { payments } = options;
  if (payments !== undefined) {
    app.register((paymentScope, _options, done) => {
      registerPayments(paymentScope, paths, { ...payments, intake });
      done();
    });
  }
  app.register((authScope, _options, done) => {
    registerAuth(authScope, paths, { ...options, isSameOrigin, logger: options.ports.logger });
    done();
  });
  registerPlain(app, options);
  if (options.docs !== undefined) registerDocs(app, paths, options.docs);
  options.dashboard?.mount(app);
  return app;
}

type CallSetting = {
  readonly interceptors: Interceptor[];
  readonly isSameOrigin: SameOrigin;
  readonly paths: KnownPaths;
  readonly shutdownSignal: AbortSignal | undefined;
};

const WEB_PROTOCOLS = { connect: true, grpc: false, grpcWeb: true };

/** Connect and gRPC-Web. */
function registerRpc(
  app: FastifyInstance,
  { implementations, ports, intake: { meter } }: HttpServerOptions,
  { interceptors, isSameOrigin, paths, shutdownSignal }: CallSetting,
): void {
  app.register(fastifyConnectPlugin, {
    ...WEB_PROTOCOLS,
    requestGate: setRequestId,
    ...(shutdownSignal === undefined ? {} : { shutdownSignal }),
    contextValues: (request) =>
      createCallValues({
        requestId: request.id,
        receivedAtMs: timeOfUuidv7(request.id),
        credentials: readWebCredentials(request.raw, isSameOrigin),
        environment: null,
      }),
    routes: (router) => {
      registerServices(router, implementations, { interceptors, protocols: WEB_PROTOCOLS, meter });
      // Connect would answer other verbs, including HEAD, without a body.
      for (const { requestPath, allowedMethods } of router.handlers)
        paths.add(requestPath, allowedMethods, allowedMethods);
      addFactsToDecodeErrors(router, ports.logger);
    },
  });
}

/** The routes that stream answers of models. They are at the paths of their contracts' options, like every other method. */
const MODEL_ROUTES: readonly ModelRoute[] = [CHAT_ROUTE, EMBEDDINGS_ROUTE, ...PROTOCOL_ROUTES];

function registerModelRoute(app: FastifyInstance, ports: ModelPorts, route: ModelRoute): void {
  const onRequest = createModelHandler(ports, route);
  for (const mounted of mountRoutes(routesOf(route.method))) {
    const { verb, path } = mounted;
    app.route({ method: verb, url: path, ...actionConstraint(mounted.route), onRequest, handler: unreached });
  }
}

/** Routes without a method: the OpenAPI document, the probes and the agents' package. */
function registerPlain(app: FastifyInstance, { ready, agentsPackage, trustedProxies }: HttpServerOptions): void {
  const document = readFileSync(new URL("../../../openapi/openapi.json", import.meta.url), "utf8");
  app.get(PLAIN_PATHS.document, (_request, reply) => reply.type("application/json; charset=utf-8").send(document));
  app.get(PLAIN_PATHS.agents, async (_request, reply) => reply.type("application/gzip").send(await agentsPackage()));
  registerHello(app, trustedProxies);
  const version = packageVersion();
  app.get(PLAIN_PATHS.lives, () => ({ status: "ok", version }));
  app.get(PLAIN_PATHS.ready, async (_request, reply) => {
    const isReady = await ready();
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? "ready" : "not ready" });
  });
}

/** Connect reads the bodies of its paths itself. */
function isRpcPath(url: string): boolean {
  return url.startsWith("/saldo.");
}
