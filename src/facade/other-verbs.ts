// A known path with a verb it does not take: 405 with the verbs it takes, before its body is read. Fastify by itself knows
// some of HTTP's verbs only, and says of the others that there is no such path.

import { METHODS } from "node:http";
import type { FastifyInstance, HTTPMethods } from "fastify";
import type { ConnectRouter } from "@connectrpc/connect";
import { MethodNotAllowed } from "../kernel/errors.ts";
import { services } from "../rpc/services.ts";
import { routesOf } from "./http-rules.ts";
import { mountRoutes } from "./rest.ts";

/** Paths where the process itself is asked, not a method of it. */
export const PLAIN_PATHS = {
  document: "/openapi.json",
  lives: "/healthz",
  ready: "/readyz",
  agents: "/saldo-agents.tgz",
  llms: "/llms.txt",
} as const;

/** Lets routes be registered for every verb that Node reads. CONNECT is no verb of a path. */
export function knowEveryVerb(app: FastifyInstance): void {
  const unknown = METHODS.filter((verb) => verb !== "CONNECT" && !app.supportedMethods.some((known) => known === verb));
  for (const verb of unknown) app.addHttpMethod(verb, { hasBody: true });
}

/** Refuses the other verbs of the REST routes and of the plain paths. */
export function refuseOtherVerbs(app: FastifyInstance): void {
  const mounted = Object.values(services).flatMap((service) => mountRoutes(service.methods.flatMap(routesOf)));
  for (const [path, routes] of Map.groupBy(mounted, (each) => each.path)) {
    const allowed = routes.map((each) => each.verb);
    refuseBut(allowed, app, { path, inEnvelope: routes.some((each) => each.route.inEnvelope) });
  }
  for (const path of Object.values(PLAIN_PATHS)) refuseBut(["GET"], app, { path, inEnvelope: false });
}

/** Refuses the other verbs of RPC paths, where Connect answers without a body. Gives what takes the router once it is filled. */
export function refuseOtherRpcVerbs(app: FastifyInstance): (router: ConnectRouter) => void {
  const allowedAt = new Map<string, readonly string[]>();
  app.addHook("onRequest", (request, _reply, done) => {
    const allowed = allowedAt.get(request.routeOptions.url ?? "");
    done(allowed === undefined || allowed.includes(request.method) ? undefined : new MethodNotAllowed(allowed));
  });
  return (router) => router.handlers.forEach((each) => allowedAt.set(each.requestPath, each.allowedMethods));
}

/** Refuses every verb on a path but those it takes. */
export function refuseBut(
  allowed: readonly string[],
  app: FastifyInstance,
  { path, inEnvelope }: { path: string; inEnvelope: boolean },
): void {
  const refuse = () => {
    throw new MethodNotAllowed(allowed);
  };
  const others = app.supportedMethods.filter((verb) => !isTaken(verb, allowed));
  app.route({ method: others, url: path, config: { inEnvelope }, onRequest: refuse, handler: refuse });
}

/** HEAD comes with GET. */
function isTaken(verb: HTTPMethods, allowed: readonly string[]): boolean {
  return allowed.includes(verb) || (verb === "HEAD" && allowed.includes("GET"));
}
