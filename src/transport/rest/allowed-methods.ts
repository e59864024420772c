// A known path with a verb it does not take: 405 with the verbs it takes, before its body is read. Fastify knows some of HTTP's
// verbs only, says of the others that there is no such path, and may find a wider path that takes the verb. So the paths are
// kept here as well, in a router of the same kind, which is asked first. Routes for every verb would be thirty for each path.

import findMyWay from "find-my-way";
import type { FastifyRequest } from "fastify";
import { MethodNotAllowed, NotFound } from "../../kernel/errors.ts";
import { services } from "../calls/services.ts";
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

/** How paths are read, here and by Fastify. */
export const ROUTER_OPTIONS = { ignoreTrailingSlash: true, maxParamLength: 1024 } as const;

/** The verbs that a refusal names, and those that are not refused. */
type PathVerbs = { readonly allowed: readonly string[]; readonly taken: readonly string[] };

/** The paths that take some verbs only: the REST routes, the plain paths, and what is added. */
export class KnownPaths {
  // One verb stands for all: what is asked here is which path it is.
  readonly #router = findMyWay(ROUTER_OPTIONS);

  constructor() {
    const mounted = Object.values(services).flatMap((service) => mountRoutes(service.methods.flatMap(routesOf)));
    for (const [path, routes] of Map.groupBy(mounted, (each) => each.path)) {
      const verbs = routes.map((each) => each.verb);
      this.add(path, verbs);
    }
    for (const path of Object.values(PLAIN_PATHS)) this.add(path, ["GET"]);
  }

  /** Adds a path with the verbs that it names as allowed. HEAD comes with GET where nothing else is said. */
  add(path: string, allowed: readonly string[], taken = withHead(allowed)): void {
    this.#router.on("GET", path, ignore, { allowed, taken } satisfies PathVerbs);
  }

  /** The verbs that a path takes; none where there is no such path. */
  allowedAt(url: string): readonly string[] {
    const known: PathVerbs | undefined = this.#router.find("GET", url)?.store;
    return known?.allowed ?? [];
  }

  /** Why a request is for nobody; undefined where it is for somebody. */
  refusalOf({ method, url, is404 }: FastifyRequest): MethodNotAllowed | NotFound | undefined {
    const known: PathVerbs | undefined = this.#router.find("GET", url)?.store;
    if (known !== undefined && !known.taken.includes(method)) return new MethodNotAllowed(known.allowed);
    return is404 ? new NotFound("There is no such path.") : undefined;
  }
}

function withHead(verbs: readonly string[]): readonly string[] {
  return verbs.includes("GET") ? [...verbs, "HEAD"] : verbs;
}

function ignore(): void {}
