// POST /v1/chat/completions and /v1/embeddings. Their formats are OpenAI's JSON and server-sent events, not proto JSON, so they are
// bound to the contracts' methods by name and pass bytes. This is the hot path: nothing is parsed here and Connect is not involved.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { EmbeddingsService } from "#gen/saldo/gateway/v1/embeddings_service_pb.ts";
import { GatewayService } from "#gen/saldo/gateway/v1/gateway_service_pb.ts";
import type { ApiKeyPrincipal, Principal } from "../../../identity/principal.ts";
import type { Endpoint, Gateway } from "../../../gateway/chat.ts";
import { DomainError, InvalidApiKey, ValidationError } from "../../../kernel/errors.ts";
import { timeOfUuidv7 } from "../../../kernel/ids.ts";
import { authenticate, type Verifiers } from "../../calls/authenticate.ts";
import { authorise, callersOf } from "../../calls/authorise.ts";
import { readCredentials } from "../../calls/call.ts";
import { toDomainError } from "../../calls/errors.ts";
import { IDEMPOTENCY_HEADER, readIdempotencyKey } from "../../calls/idempotency-header.ts";
import { logCall, logFault, type CallLogger } from "../../calls/log.ts";
import { requestLimitOf } from "../../calls/request-bounds.ts";
import type { VerifiedKey } from "../../../keys/verified-key.ts";
import type { AnswerHeaders } from "../../http/answer-headers.ts";
import type { BodyIntake } from "../../http/body-intake.ts";
import { ChatResponseSink } from "./chat-sink.ts";
import { answerError, ERROR_FORMAT_HEADER, errorFormatOf } from "../error-answer.ts";
import { receiveJson } from "../json-body.ts";
import { leaveBodyUnread } from "../../http/unread-body.ts";

/** An endpoint whose bytes go to the gateway, and the method of the contract that it is. */
export type BytesEndpoint = {
  readonly endpoint: Endpoint;
  readonly method: DescMethodUnary;
  readonly name: string;
  /** The most bytes of a request. */
  readonly limit: number;
  readonly wanted: Parameters<typeof authenticate>[2];
};

export const CHAT = bytesEndpoint("chat", GatewayService.method.createChatCompletion);
export const EMBEDDINGS = bytesEndpoint("embeddings", EmbeddingsService.method.createEmbeddings);
export const BYTES_ENDPOINTS: readonly BytesEndpoint[] = [CHAT, EMBEDDINGS];

function bytesEndpoint(endpoint: Endpoint, method: DescMethodUnary): BytesEndpoint {
  return {
    endpoint,
    method,
    name: `${method.parent.typeName}/${method.name}`,
    limit: requestLimitOf(method),
    wanted: { environment: null, callers: callersOf(method) },
  };
}

const PUBLIC: Principal = { kind: "public" };

/** The parts of the handler. */
export type ChatPorts = {
  readonly gateway: Gateway;
  readonly verifiers: Verifiers;
  /** The key of a secret that was looked up a moment ago; undefined: it was not. */
  readonly knownKey: (secret: string) => VerifiedKey | undefined;
  /** Errors: RateLimited while no slot of the key can be free. */
  readonly refuseWhileLimited: (key: VerifiedKey) => void;
  readonly intake: BodyIntake;
  readonly headers: AnswerHeaders;
  readonly logger: CallLogger;
};

/** Makes the hook that answers an endpoint. It takes the response over from Fastify, since answers are streamed with their own back-pressure. */
export function createChatHandler(
  ports: ChatPorts,
  endpoint: BytesEndpoint,
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    reply.hijack();
    const received = { endpoint, requestId: request.id, raw: request.raw, key: null, body: null };
    void answerChatRequest(ports, received, reply.raw);
  };
}

/** A request whose headers have arrived. */
type ReceivedChat = {
  readonly endpoint: BytesEndpoint;
  readonly requestId: string;
  readonly raw: IncomingMessage;
  /** The key of the caller; null where it has to be looked up first. */
  readonly key: ApiKeyPrincipal | null;
  /** The body, or the error of receiving it. Null: it is not read yet. */
  readonly body: Buffer | DomainError | null;
};

/**
 * Answers a request. The caller is known before the body is read: 401 and 403 come first, then the 429 of a key with a full
 * window, then 415, 413, 503, 429 and 408, and all of them before 400. Never rejects: every error is sent to the client, or
 * logged when the answer has begun.
 */
export async function answerChatRequest(
  ports: ChatPorts,
  { endpoint: { endpoint, method, name, limit, wanted }, requestId, raw, key: known, body: received }: ReceivedChat,
  response: ServerResponse,
): Promise<void> {
  const { gateway, logger } = ports;
  const receivedAtMs = timeOfUuidv7(requestId);
  const headers = ports.headers.of(raw);
  const sink = new ChatResponseSink(response, requestId, headers);
  let principal: Principal = known ?? PUBLIC;
  let error: unknown;
  try {
    if (known === null) principal = await authenticate(ports.verifiers, readCredentials(raw.rawHeaders, raw), wanted);
    authorise(method, principal);
    const key = requireKey(principal);
    const idempotencyKey = readIdempotencyKey(raw.headers[IDEMPOTENCY_HEADER]);
    // Its body would be read for nothing, and would take from the budget of all bodies.
    if (received === null) ports.refuseWhileLimited(key);
    const rules = { limit, caller: key.keyId };
    const body = requireBody(received ?? (await receiveJson(ports.intake, raw, rules)));
    await gateway.answerChat({ endpoint, requestId, receivedAtMs, key, body, idempotencyKey }, sink);
  } catch (thrown) {
    error = thrown;
    logFault(logger, requestId, thrown);
    if (sink.started || response.headersSent) {
      // Half an answer must not look complete.
      response.destroy();
    } else if (!response.destroyed) {
      const format = errorFormatOf(false, raw.headers[ERROR_FORMAT_HEADER]);
      const answer = answerError(toDomainError(thrown), format, requestId);
      leaveBodyUnread(raw, response);
      const length = Buffer.byteLength(answer.body);
      response.writeHead(answer.status, { ...headers, ...answer.headers, "content-length": length });
      response.end(answer.body);
    }
  }
  logCall(logger, { method: name, requestId, receivedAtMs, principal, error });
}

function requireKey(principal: Principal): ApiKeyPrincipal {
  if (principal.kind !== "api_key") throw new InvalidApiKey();
  return principal;
}

function requireBody(body: Buffer | DomainError | null): Buffer {
  if (body instanceof DomainError) throw body;
  if (body !== null) return body;
  throw new ValidationError([{ field: "", rule: "required", message: "The body must be a JSON object" }]);
}
