// POST /v1/chat/completions. Its wire is OpenAI's JSON and server-sent events, not proto JSON, so it is bound to the
// contract's method by name and passes bytes. This is the hot path: nothing is parsed here and Connect is not involved.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { ApiKeyPrincipal, Principal } from "../accounts/principal.ts";
import type { Gateway } from "../gateway/chat.ts";
import { InvalidApiKey, ValidationError } from "../kernel/errors.ts";
import { timeOfUuidv7 } from "../kernel/ids.ts";
import { authenticate, type Verifiers } from "../rpc/authenticate.ts";
import { authorise, callersOf } from "../rpc/authorise.ts";
import { readCredentials } from "../rpc/call.ts";
import { toDomainError } from "../rpc/errors.ts";
import { logCall, logFault, type CallLogger } from "../rpc/log.ts";
import { ChatResponseSink } from "./chat-sink.ts";
import { answerError, ERROR_FORMAT_HEADER, errorFormatOf } from "./error-answer.ts";

/** The method of the contract that this handler answers. */
export const chatMethod = GatewayService.method.createChatCompletion;

const METHOD_NAME = `${GatewayService.typeName}/${chatMethod.name}`;

const WANTED = { environment: null, callers: callersOf(chatMethod) };

/** What the handler needs. */
export type ChatPorts = {
  readonly gateway: Gateway;
  readonly verifiers: Verifiers;
  readonly logger: CallLogger;
};

/** Makes the handler. It takes the response over from Fastify, since answers are streamed with their own back-pressure. */
export function createChatHandler(ports: ChatPorts): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    reply.hijack();
    const body = Buffer.isBuffer(request.body) ? request.body : null;
    void answerChatRequest(ports, { requestId: request.id, body, raw: request.raw }, reply.raw);
  };
}

/** A chat request that has arrived whole. */
type ReceivedChat = {
  readonly requestId: string;
  /** Null: there is none. */
  readonly body: Buffer | null;
  readonly raw: IncomingMessage;
};

/** Never rejects: whatever goes wrong is told to the client, or to the log when the answer has begun. */
export async function answerChatRequest(
  { gateway, verifiers, logger }: ChatPorts,
  { requestId, body, raw }: ReceivedChat,
  response: ServerResponse,
): Promise<void> {
  const receivedAtMs = timeOfUuidv7(requestId);
  const sink = new ChatResponseSink(response, requestId);
  let principal: Principal = { kind: "public" };
  let error: unknown;
  try {
    principal = await authenticate(verifiers, readCredentials(raw.rawHeaders), WANTED);
    authorise(chatMethod, principal);
    const key = requireKey(principal);
    await gateway.answerChat({ requestId, receivedAtMs, key, body: requireBody(body) }, sink);
  } catch (thrown) {
    error = thrown;
    logFault(logger, requestId, thrown);
    if (sink.started || response.headersSent) {
      // A half-sent answer must not look complete.
      response.destroy();
    } else if (!response.destroyed) {
      const format = errorFormatOf(false, raw.headers[ERROR_FORMAT_HEADER]);
      const { status, headers, body: text } = answerError(toDomainError(thrown), format, requestId);
      response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
      response.end(text);
    }
  }
  logCall(logger, { method: METHOD_NAME, requestId, receivedAtMs, principal, error });
}

function requireKey(principal: Principal): ApiKeyPrincipal {
  if (principal.kind !== "api_key") throw new InvalidApiKey();
  return principal;
}

function requireBody(body: Buffer | null): Buffer {
  if (body !== null) return body;
  throw new ValidationError([{ field: "", rule: "required", message: "The body must be a JSON object" }]);
}
