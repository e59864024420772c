// How the routes whose callers bring no credentials get their bodies: sign-in and webhooks. Fastify calls what is registered here
// once its hooks have let a request through.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { type DomainError, UnsupportedMediaType } from "../../kernel/errors.ts";
import type { BodyIntake } from "../http/body-intake.ts";
import { isReadable } from "../rest/json-body.ts";

/** Takes bodies of one media type in a scope, as bytes, up to the limit of the route. `refusalOf` looks at the request first. */
export function takeBodies(
  app: FastifyInstance,
  mediaType: string,
  intake: BodyIntake,
  refusalOf: (request: FastifyRequest) => DomainError | null = () => null,
): void {
  // Fastify's own parsers of a scope go with the first that is set.
  if (app.hasContentTypeParser("text/plain")) app.removeAllContentTypeParsers();
  app.addContentTypeParser(mediaType, (request, _payload, done) => {
    const refusal = refusalOf(request);
    if (refusal !== null) {
      done(refusal);
      return;
    }
    const { bodyLimit } = request.routeOptions;
    intake.read(request.raw, { limit: bodyLimit, caller: null }, (error, body) => done(error, body));
  });
}

/** Why a body of JSON is not read; null where it is. */
export function refusalOfJson(request: FastifyRequest): DomainError | null {
  return isReadable(request.raw) ? null : new UnsupportedMediaType();
}
