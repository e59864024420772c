// The REST routes of the contracts. A route calls its method in process, which reads the body once the caller may call it, and
// writes the answer. It does not depend on what the method does. A request is handled as soon as its headers are there.

import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { DescMethod, DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Environment } from "../../identity/principal.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { InvariantError } from "../../kernel/invariant.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import { isForMerchants } from "../calls/authorise.ts";
import { createCallValues, principalOf } from "../calls/call.ts";
import { requestLimitOf } from "../calls/request-bounds.ts";
import type { BoundService } from "../calls/services.ts";
import { type BodyIntake, callerNameOf } from "../http/body-intake.ts";
import { actionConstraint } from "./path-actions.ts";
import { routerPath, routesOf, type HttpRoute, type HttpVerb } from "./http-rules.ts";
import { receiveJson } from "./json-body.ts";
import { parseJsonBody } from "./json-text.ts";
import { protocolCredentials } from "./protocols/protocol-paths.ts";
import { readWebCredentials, type SameOrigin } from "../http/same-origin.ts";
import { readBody, readQuery, toMessage } from "./read-request.ts";
import { createUnaryCaller, type UnaryCaller } from "./unary.ts";
import { type AnsweredFile, readFile } from "./answer-file.ts";
import { writeAnswer } from "./write-answer.ts";

/** Under this prefix the merchant paths take sandbox pairs only; without it production pairs only. */
export const SANDBOX_PREFIX = "/sandbox";

/** A REST route at one of its addresses. */
export type MountedRoute = {
  readonly route: HttpRoute;
  readonly verb: HttpVerb;
  /** The path in the form of the router. */
  readonly path: string;
  /** The environment the path names; null on paths that are not the merchants'. */
  readonly environment: Environment | null;
};

/** Every route at each of its addresses. */
export function mountRoutes(routes: readonly HttpRoute[]): MountedRoute[] {
  return routes.flatMap((route): MountedRoute[] => {
    const mounted = { route, verb: route.verb, path: routerPath(route) };
    if (!isForMerchants(route.method)) return [{ ...mounted, environment: null }];
    return [
      { ...mounted, environment: "production" },
      { ...mounted, path: SANDBOX_PREFIX + mounted.path, environment: "sandbox" },
    ];
  });
}

/** Registers the routes of every unary method that has an HTTP option, except those another handler is bound to by name. */
export function registerRest(
  app: FastifyInstance,
  bound: readonly BoundService[],
  options: {
    readonly interceptors: Interceptor[];
    readonly isSameOrigin: SameOrigin;
    readonly intake: BodyIntake;
    readonly except: ReadonlySet<unknown>;
  },
): void {
  for (const { service, implementation } of bound) {
    for (const method of service.methods) {
      if (!isUnary(method) || options.except.has(method)) continue;
      const call = createUnaryCaller(method, implementation, options.interceptors);
      for (const mounted of mountRoutes(routesOf(method))) {
        app.route({
          method: mounted.verb,
          url: mounted.path,
          config: { inEnvelope: mounted.route.inEnvelope },
          ...actionConstraint(mounted.route),
          // Fastify reads the body before it calls a handler, and refuses it before the caller is known.
          onRequest: (request, reply) => answer({ ...options, mounted, call }, request, reply),
          handler: unreached,
        });
      }
    }
  }
}

/** The handler of a route that has answered before. */
export function unreached(): never {
  throw new InvariantError("a route that answers on its headers has no use for a handler");
}

type Answering = {
  readonly mounted: MountedRoute;
  readonly call: UnaryCaller;
  readonly isSameOrigin: SameOrigin;
  readonly intake: BodyIntake;
};

async function answer(
  { mounted, call, isSameOrigin, intake }: Answering,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { route } = mounted;
  const values = createCallValues({
    requestId: request.id,
    receivedAtMs: timeOfUuidv7(request.id),
    credentials: protocolCredentials(readWebCredentials(request.raw, isSameOrigin), request.raw),
    environment: mounted.environment,
    isRest: true,
    ...traceparentOf(request.raw),
  });
  const [path, query] = splitOnce(request.url, "?");
  const { message, header } = await call({
    readMessage: async () => {
      const caller = callerNameOf(principalOf({ values }));
      const fields = route.hasBody
        ? readFields(route, await receiveJson(intake, request.raw, { limit: requestLimitOf(route.method), caller }))
        : readQuery(route.method.input, query);
      return toMessage(route.method.input, { ...fields, ...readPath(route, request) });
    },
    values,
    // Without the query string, which may have secrets.
    url: `http://rest${path}`,
    signal: goneSignal(reply),
  });
  header.forEach((value, name) => reply.header(name, value));
  if (isKnown(request.raw, header.get("etag"))) return reply.code(304).send();
  const file = readFile(route, message);
  if (file !== null) return sendFile(reply, file);
  reply.type("application/json; charset=utf-8");
  return reply.send(writeAnswer(route, message));
}

/** Whether the client has this answer already: its tag is compared as RFC 9110 has it for reads. */
function isKnown({ headers: { "if-none-match": known } }: IncomingMessage, tag: string | null): boolean {
  if (known === undefined || tag === null) return false;
  return known
    .split(",")
    .map(strongTag)
    .some((each) => each === "*" || each === strongTag(tag));
}

function strongTag(tag: string): string {
  return tag.trim().replace(/^W\//, "");
}

/** A file as the answer. It is never shown as a page of ours. */
function sendFile(reply: FastifyReply, { content, mediaType, fileName }: AnsweredFile): FastifyReply {
  reply.type(mediaType).header("content-disposition", `attachment; filename="${fileName}"`);
  return reply.send(Buffer.from(content));
}

/** The header of a call that is passed on without its headers. */
function traceparentOf({ headers: { traceparent } }: IncomingMessage): { readonly traceparent?: string } {
  return typeof traceparent === "string" ? { traceparent } : {};
}

function readFields(route: HttpRoute, body: Buffer | null) {
  if (body === null || body.length === 0) {
    throw new ValidationError([{ field: "", rule: "required", message: "The body must be a JSON object" }]);
  }
  return readBody(route.method.input, parseJsonBody(body, { refuseDuplicateKeys: route.inEnvelope }));
}

function readPath({ pathField, takesRest, action }: HttpRoute, request: FastifyRequest) {
  if (pathField === null) return {};
  const params = request.params as Record<string, string>;
  const whole = params[takesRest ? "*" : pathField.name] ?? "";
  const value = action === null ? whole : whole.slice(0, whole.lastIndexOf(":"));
  return { [pathField.jsonName]: takesRest ? value.replace(/\/$/, "") : value };
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/** Aborted when the client leaves before its answer. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableEnded) gone.abort(new ConnectError("The client has left.", Code.Canceled));
  });
  return gone.signal;
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
