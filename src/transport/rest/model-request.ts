// Requests that a model answers, in any protocol: the caller is known before the body is read, and the answer is written to the
// raw response. This is the hot path: nothing is parsed here and Connect is not involved.

import { errorTypeOf, type TracedCall, type Tracing } from "../../kernel/tracing.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ChatCall, Gateway } from "../../gateway/chat.ts";
import type { ApiKeyPrincipal, Principal } from "../../identity/principal.ts";
import { DomainError, InvalidApiKey, ValidationError } from "../../kernel/errors.ts";
import { timeOfUuidv7 } from "../../kernel/ids.ts";
import type { Keys } from "../../keys/keys.ts";
import type { Verifiers } from "../calls/authenticate.ts";
import { authorise } from "../calls/authorise.ts";
import { toDomainError } from "../calls/errors.ts";
import { IDEMPOTENCY_HEADER, readIdempotencyKey } from "../calls/idempotency-header.ts";
import { type CallLogger, logCall, logFault } from "../calls/log.ts";
import { requestLimitOf } from "../calls/request-bounds.ts";
import type { AnswerHeaders, HeaderLines } from "../http/answer-headers.ts";
import type { BodyIntake } from "../http/body-intake.ts";
import { leaveBodyUnread } from "../http/unread-body.ts";
import { AnswerResponse } from "./answer-response.ts";
import { answerError, ERROR_FORMAT_HEADER, errorFormatOf } from "./error-answer.ts";
import { receiveJson } from "./json-body.ts";

/** The parts of the handlers. */
export type ModelPorts = {
  readonly gateway: Gateway;
  readonly verifiers: Verifiers;
  /** `refuseWhileLimited`: RateLimited while no slot of the key can be free. `known`: a key that was looked up a moment ago. */
  readonly keys: Pick<Keys, "known" | "takeSlot" | "refuseWhileLimited">;
  readonly intake: BodyIntake;
  readonly headers: AnswerHeaders;
  readonly logger: CallLogger;
  /** Traces calls. Absent: there are no traces. */
  readonly tracing?: Tracing | undefined;
};

/** One route of a protocol. */
export type ModelRoute = {
  /** The method of the contract that the route answers. */
  readonly method: DescMethod;
  /** Errors: those of `authenticate`. */
  readonly authenticate: (verifiers: Verifiers, raw: IncomingMessage) => Promise<Principal>;
  /** Headers of each answer and error beside the common ones. */
  readonly headersOf: (requestId: string) => HeaderLines;
  /** `raw`: for protocols that name the model in the address, or have headers of their own. */
  readonly answer: (
    ports: ModelPorts,
    call: ChatCall,
    response: AnswerResponse,
    raw: IncomingMessage,
  ) => Promise<unknown>;
};

/** A request whose headers have arrived. */
export type ReceivedRequest = {
  readonly requestId: string;
  readonly raw: IncomingMessage;
  /** The key of the caller; null where it has to be looked up first. */
  readonly key: ApiKeyPrincipal | null;
  /** The body, or the error of receiving it. Null: it is not read yet. */
  readonly body: Buffer | DomainError | null;
};

/** Makes the hook that answers. It takes the response over from Fastify, since answers are streamed with their own back-pressure. */
export function createModelHandler(
  ports: ModelPorts,
  route: ModelRoute,
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    reply.hijack();
    const received = { requestId: request.id, raw: request.raw, key: null, body: null };
    void answerModelRequest(ports, route, received, reply.raw);
  };
}

const PUBLIC: Principal = { kind: "public" };

/**
 * Answers a request. The caller is known before the body is read: 401 and 403 come first, then the 429 of a key with a full
 * window, then 415, 413, 503, 429 and 408, and all of them before 400. Never rejects: every error is sent to the client, or
 * logged when the answer has begun.
 */
export async function answerModelRequest(
  ports: ModelPorts,
  route: ModelRoute,
  { requestId, raw, key: known, body: received }: ReceivedRequest,
  rawResponse: ServerResponse,
): Promise<void> {
  const { logger } = ports;
  const { method } = route;
  const receivedAtMs = timeOfUuidv7(requestId);
  const headers = { ...ports.headers.of(raw), ...route.headersOf(requestId) };
  const response = new AnswerResponse({ response: rawResponse, requestId, headers });
  let principal: Principal = known ?? PUBLIC;
  const methodName = `${method.parent.typeName}/${method.name}`;
  const span = ports.tracing?.receive(tracedRequest(raw, methodName, requestId)) ?? null;
  let error: unknown;
  try {
    if (known === null) principal = await route.authenticate(ports.verifiers, raw);
    authorise(method, principal);
    const key = requireKey(principal);
    const idempotencyKey = readIdempotencyKey(raw.headers[IDEMPOTENCY_HEADER]);
    // Its body would be read for nothing, and would take from the budget of all bodies.
    if (received === null) ports.keys.refuseWhileLimited(key);
    const rules = { limit: requestLimitOf(method), caller: key.keyId };
    const body = requireBody(received ?? (await receiveJson(ports.intake, raw, rules)));
    await route.answer(ports, { requestId, receivedAtMs, key, body, idempotencyKey, span }, response, raw);
  } catch (thrown) {
    error = thrown;
    logFault(logger, requestId, thrown);
    if (response.started || rawResponse.headersSent) {
      // Half an answer must not look complete.
      rawResponse.destroy();
    } else if (!rawResponse.destroyed) {
      const format = errorFormatOf({ url: raw.url, inEnvelope: false, asked: raw.headers[ERROR_FORMAT_HEADER] });
      const answer = answerError(toDomainError(thrown), format, requestId);
      leaveBodyUnread(raw, rawResponse);
      const length = Buffer.byteLength(answer.body);
      rawResponse.writeHead(answer.status, { ...headers, ...answer.headers, "content-length": length });
      rawResponse.end(answer.body);
    }
  }
  logCall(logger, { method: methodName, requestId, receivedAtMs, principal, error });
  span?.end(error === undefined ? undefined : errorTypeOf(toDomainError(error)));
}

function tracedRequest({ headers }: IncomingMessage, method: string, requestId: string): TracedCall {
  const { traceparent } = headers;
  return { method, requestId, port: "http", traceparent: typeof traceparent === "string" ? traceparent : null };
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
