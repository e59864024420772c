// A known path with a wrong verb gets 405 with its verbs, before its body is read. Fastify supports only some of HTTP's verbs,
// answers the others with 404, and may match a wider path that has the verb. So the paths are kept here too, in a router of the
// same kind, which is used first. Routes for every verb would be thirty for each path.

import findMyWay from "find-my-way";
import type { FastifyRequest } from "fastify";
import { MethodNotAllowed, type NotFound } from "../../kernel/errors.ts";
import { services } from "../calls/services.ts";
import { actionOf, routesOf } from "./http-rules.ts";
import { mountRoutes } from "./rest.ts";
import { wrongPath } from "./wrong-paths.ts";

/** Paths of the process itself, without a method of a contract. */
export const PLAIN_PATHS = {
  document: "/openapi.json",
  lives: "/healthz",
  ready: "/readyz",
  agents: "/saldo-agents.tgz",
  // Claude Code asks for it when it starts.
  hello: "/api/hello",
  llms: "/llms.txt",
} as const;

/** The options of the routers, this one and Fastify's. */
export const ROUTER_OPTIONS = { ignoreTrailingSlash: true, maxParamLength: 1024 } as const;

/** The verbs that a refusal names, and all that are not refused. */
type PathVerbs = { readonly allowed: readonly string[]; readonly taken: readonly string[] };

/** The paths with a fixed set of verbs: the REST routes, the plain paths, and those that are added. */
export class KnownPaths {
  // One verb is enough: the router is only used to find the path.
  readonly #router = findMyWay(ROUTER_OPTIONS);
  /** The paths of each action. */
  readonly #actions = new Map<string, ReturnType<typeof findMyWay>>();
  readonly #fixed = new Set<string>();

  constructor() {
    const mounted = Object.values(services).flatMap((service) => mountRoutes(service.methods.flatMap(routesOf)));
    for (const [path, routes] of Map.groupBy(mounted, (each) => each.path)) {
      for (const [action, ofAction] of Map.groupBy(routes, ({ route }) => route.action)) {
        const verbs = ofAction.map((each) => each.verb);
        if (action === null) this.add(path, verbs);
        else this.#addAction(path, action, verbs);
      }
    }
    for (const path of Object.values(PLAIN_PATHS)) this.add(path, ["GET"]);
  }

  /** Adds a path with the verbs that it allows. By default GET includes HEAD. */
  add(path: string, allowed: readonly string[], taken = withHead(allowed)): void {
    if (!/[:*]/.test(path)) this.#fixed.add(path);
    this.#router.on("GET", path, ignore, { allowed, taken } satisfies PathVerbs);
  }

  #addAction(path: string, action: string, verbs: readonly string[]): void {
    const known = this.#actions.get(action) ?? findMyWay(ROUTER_OPTIONS);
    this.#actions.set(action, known);
    known.on("GET", path, ignore, { allowed: verbs, taken: withHead(verbs) } satisfies PathVerbs);
  }

  #find(url: string): PathVerbs | undefined {
    const action = actionOf(url);
    const withAction = action === null ? undefined : this.#actions.get(action)?.find("GET", url);
    return (withAction ?? this.#router.find("GET", url))?.store as PathVerbs | undefined;
  }

  /** The verbs of a path; none where there is no such path. */
  allowedAt(url: string): readonly string[] {
    return this.#find(url)?.allowed ?? [];
  }

  /** Why a request has no handler; undefined where it has one. */
  refusalOf({ method, url, is404 }: FastifyRequest): MethodNotAllowed | NotFound | undefined {
    const known = this.#find(url);
    if (known !== undefined && !known.taken.includes(method)) return new MethodNotAllowed(known.allowed);
    return is404 ? wrongPath(url, this.#fixed) : undefined;
  }
}

function withHead(verbs: readonly string[]): readonly string[] {
  return verbs.includes("GET") ? [...verbs, "HEAD"] : verbs;
}

function ignore(): void {}
