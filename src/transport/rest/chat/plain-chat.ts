// Handles a plain chat request without Fastify: a POST to the chat's own path with a JSON body of stated length, as every client
// library sends it. Every request that differs goes through Fastify and is answered, or refused, there. So this file decides
// nothing about what is allowed.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiKeyPrincipal } from "../../../identity/principal.ts";
import { uuidv7 } from "../../../kernel/ids.ts";
import { readAuthorization } from "../../calls/call.ts";
import { requestLimitOf } from "../../calls/request-bounds.ts";
import { routesOf } from "../http-rules.ts";
import { answerModelRequest, type ModelPorts } from "../model-request.ts";
import { CHAT_ROUTE, chatMethod } from "./chat.ts";
import { mountRoutes } from "../rest.ts";

const CHAT_LIMIT = requestLimitOf(chatMethod);

/** Makes the handler of plain chat requests. It returns false for all others and does not touch them. */
export function createPlainChat(ports: ModelPorts): (request: IncomingMessage, response: ServerResponse) => boolean {
  const paths = new Set(mountRoutes(routesOf(chatMethod)).map(({ path }) => path));
  return (request, response) => {
    if (!isPlainChat(request, paths)) return false;
    const requestId = uuidv7();
    const key = keyInMemory(ports, request);
    if (key === null || hasToWait(ports, key)) {
      // Such a key is looked up, or refused, before the body is read.
      void answerModelRequest(ports, CHAT_ROUTE, { requestId, raw: request, key, body: null }, response);
      return true;
    }
    // The key is known now, so a body that came with its headers is read in this turn of the event loop.
    ports.intake.read(request, { limit: CHAT_LIMIT, caller: key.keyId }, (error, body) => {
      void answerModelRequest(ports, CHAT_ROUTE, { requestId, raw: request, key, body: error ?? body }, response);
    });
    return true;
  };
}

function isPlainChat({ method, url, headers }: IncomingMessage, paths: ReadonlySet<string>): boolean {
  const length = Number(headers["content-length"]);
  return (
    method === "POST" &&
    paths.has(url ?? "") &&
    headers["content-type"] === "application/json" &&
    headers["content-encoding"] === undefined &&
    headers["transfer-encoding"] === undefined &&
    // It is also false without a stated length.
    length > 0 &&
    length <= CHAT_LIMIT
  );
}

/** Whether a key is known to have no free slot. */
function hasToWait({ keys }: ModelPorts, key: ApiKeyPrincipal): boolean {
  try {
    keys.refuseWhileLimited(key);
    return false;
  } catch {
    return true; // Refused in the same way, and answered, by answerModelRequest.
  }
}

const BEARER = "Bearer ";
/** A key is 53 characters long; much longer texts are not looked up. */
const MAX_SECRET_LENGTH = 128;

/** The key of a request, if it was looked up in the last seconds. Null: it has to be looked up, or there is none. */
function keyInMemory({ keys }: ModelPorts, request: IncomingMessage): ApiKeyPrincipal | null {
  const authorization = readAuthorization(request.rawHeaders);
  if (authorization === null || !authorization.startsWith(BEARER)) return null;
  if (authorization.length > MAX_SECRET_LENGTH) return null;
  const key = keys.known(authorization.slice(BEARER.length));
  // The networks of a key are compared where it is looked up.
  if (key === undefined || key.allowedNetworks !== undefined) return null;
  return { kind: "api_key", ...key };
}
