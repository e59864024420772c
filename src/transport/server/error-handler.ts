// Refusals before or around a handler: unknown paths, foreign content types, too large bodies, broken HTTP. All of them have the
// same documented bodies as the errors of methods.

import { maxHeaderSize, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  DomainError,
  InternalError,
  PayloadTooLarge,
  UnsupportedMediaType,
  ValidationError,
} from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { RequestTimeout } from "../../kernel/intake-errors.ts";
import { READ_MAX_BYTES } from "../calls/call.ts";
import { toDomainError } from "../calls/errors.ts";
import { logFault, type CallLogger } from "../calls/log.ts";
import type { HeaderLines } from "../http/answer-headers.ts";
import { answerError, ERROR_FORMAT_HEADER, errorFormatOf } from "../rest/error-answer.ts";
import { WrongPath } from "../rest/wrong-paths.ts";
import { ConnectError } from "@connectrpc/connect";

/** Unknown paths that begin like those of merchants. */
const MERCHANT_PATH = /^\/(sandbox(\/|$)|v1\/merchant-)/;

/** Whether errors at an address without a route have the merchants' form. */
export function isMerchantPath(url: string): boolean {
  return MERCHANT_PATH.test(url);
}

const HEADERS_TOO_LARGE = `The headers are too large: address and headers may have ${maxHeaderSize / 1024} KiB together`;

/** Sets the handler for everything that a route or a hook throws. */
export function answerErrorsIn(app: FastifyInstance, logger: CallLogger): void {
  app.setErrorHandler((thrown, request, reply) => send(logger, thrown, request, reply));
}

/** Server options that answer bytes which are no request: an address that cannot be read, broken HTTP. */
export function refuseMalformed(logger: CallLogger, common: HeaderLines) {
  return {
    frameworkErrors: (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
      send(logger, thrown, request, reply);
    },
    clientErrorHandler: (thrown: NodeJS.ErrnoException, socket: Socket) => {
      // A client that hung up, or one that already has part of an answer, cannot get an error.
      if (thrown.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) {
        socket.destroy();
        return;
      }
      const { status, headers, body } = answerError(unreadable(thrown.code), "plain", uuidv7());
      const lines = Object.entries({
        ...common,
        ...headers,
        "content-length": Buffer.byteLength(body),
        connection: "close",
      });
      socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join("")}\r\n${body}`,
      );
    },
  };
}

function unreadable(code: string | undefined): DomainError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new RequestTimeout();
  const message = code === "HPE_HEADER_OVERFLOW" ? HEADERS_TOO_LARGE : "The request must be valid HTTP";
  return new ValidationError([{ field: "", rule: "http", message }]);
}

function send(logger: CallLogger, thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const error = toError(thrown, request.routeOptions?.bodyLimit ?? READ_MAX_BYTES);
  // The chain of a method has logged its internal error and wrapped it in a ConnectError.
  if (!(thrown instanceof ConnectError)) logFault(logger, request.id, error);
  const inEnvelope = request.routeOptions?.config?.inEnvelope ?? isMerchantPath(request.url);
  // Libraries show the message of a nested error only. A client at a wrong path has not chosen a form.
  const asked = error instanceof WrongPath ? "openai" : request.headers[ERROR_FORMAT_HEADER];
  const format = errorFormatOf({ url: request.url, inEnvelope, asked });
  const answer = answerError(error, format, request.id);
  void reply.code(answer.status).headers(answer.headers).send(answer.body);
}

function toError(thrown: unknown, bodyLimit: number): DomainError {
  switch (codeOf(thrown)) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new PayloadTooLarge(bodyLimit);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new UnsupportedMediaType();
    default:
      return isOfTheClient(thrown)
        ? new ValidationError([{ field: "", rule: "http", message: "The request must be valid HTTP" }], {
            cause: thrown,
          })
        : toDomainError(thrown);
  }
}

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
}

/** Fastify's own refusals have a code of Fastify and a status below 500. */
function isOfTheClient(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || thrown instanceof DomainError || thrown instanceof InternalError) return false;
  const code = codeOf(thrown);
  return (
    typeof code === "string" && code.startsWith("FST_") && "statusCode" in thrown && Number(thrown.statusCode) < 500
  );
}
