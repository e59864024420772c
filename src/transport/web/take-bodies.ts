// Receives the bodies of routes without credentials: sign-in and webhooks. Fastify calls these parsers once its hooks have
// accepted a request.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { type DomainError, UnsupportedMediaType } from "../../kernel/errors.ts";
import type { BodyIntake } from "../http/body-intake.ts";
import { isReadable } from "../rest/json-body.ts";

/** Takes bodies of one media type in a scope, as bytes, up to the limit of the route. `refusalOf` checks the request first. */
export function takeBodies(
  app: FastifyInstance,
  mediaType: string,
  intake: BodyIntake,
  refusalOf: (request: FastifyRequest) => DomainError | null = () => null,
): void {
  // The first parser that is set removes Fastify's own parsers of the scope.
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

/** The error of a JSON body before it is read; null: none. */
export function refusalOfJson(request: FastifyRequest): DomainError | null {
  return isReadable(request.raw) ? null : new UnsupportedMediaType();
}
