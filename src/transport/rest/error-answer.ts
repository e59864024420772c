// Errors over REST. The code and the facts come from the domain; status, headers and the form of the body are decided here.

import { InternalError, MethodNotAllowed, ValidationError, type DomainError } from "../../kernel/errors.ts";
import { httpStatus } from "../../kernel/http-status.ts";
import { formatMoney } from "../../kernel/money.ts";
import { refusalFacts } from "../../kernel/refusal-facts.ts";
import { AlreadyAnswered } from "../../kernel/retry-errors.ts";
import { ExternalIdConflict } from "../../kernel/transfer-errors.ts";
import { errorHeaders, retryAfterSecondsOf } from "../calls/errors.ts";
import { geminiErrorAnswer } from "./protocols/gemini-errors.ts";
import { messagesErrorBody, messagesHeaders } from "./protocols/messages-errors.ts";
import { type ProtocolFormat, protocolFormatAt } from "./protocols/protocol-paths.ts";
import { openAiType, responsesErrorBody } from "./protocols/responses-errors.ts";

/** The forms of an error body: ours, OpenAI's (chosen by a header), the merchants' envelope, and those of other protocols. */
export type ErrorFormat = "plain" | "openai" | "envelope" | ProtocolFormat;

/** A whole error answer, ready to be sent. */
export type ErrorAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The header with which a caller of area A chooses OpenAI's nested error object. */
export const ERROR_FORMAT_HEADER = "x-saldo-error-format";

/** The facts of a request that decide on the form. `asked`: the header of the caller's choice. */
type FormatFacts = {
  readonly url: string | undefined;
  readonly inEnvelope: boolean;
  readonly asked: string | readonly string[] | undefined;
};

/** The form for a caller: that of its path, else the one that the caller chose. */
export function errorFormatOf({ url = "", inEnvelope, asked }: FormatFacts): ErrorFormat {
  if (inEnvelope) return "envelope";
  return protocolFormatAt(url) ?? (asked === "openai" ? "openai" : "plain");
}

/** Makes the answer to an error. */
export function answerError(error: DomainError, format: ErrorFormat, requestId: string): ErrorAnswer {
  const status = httpStatus[error.code];
  return {
    status,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "x-request-id": requestId,
      ...(format === "messages" ? messagesHeaders(requestId) : {}),
      ...errorHeaders(error),
      ...(error instanceof MethodNotAllowed ? { allow: error.allowed.join(", ") } : {}),
    },
    body: JSON.stringify(bodyOf(error, status, format, requestId)),
  };
}

function bodyOf(error: DomainError, status: number, format: ErrorFormat, requestId: string): object {
  const { code, message } = error;
  if (format === "messages") return messagesErrorBody(error, requestId);
  if (format === "responses") return responsesErrorBody(error);
  if (format === "gemini") return geminiErrorAnswer(error, status);
  const facts = {
    ...(error instanceof ValidationError ? { details: error.details } : {}),
    ...(format === "envelope" ? {} : refusalFacts(error)),
    ...(error instanceof ExternalIdConflict ? { differingFields: error.differingFields } : {}),
    ...(error instanceof InternalError ? { requestId } : {}),
    ...(error instanceof AlreadyAnswered
      ? { request_id: error.requestId, cost_idr: formatMoney(error.cost), status: ANSWERED_STATUS }
      : {}),
  };
  const retryAfter = retryAfterSecondsOf(error);
  const waiting = retryAfter === 0 ? {} : { retry_after: retryAfter };
  if (format === "envelope") return { meta: { message, statusCode: status, error: code, ...facts } };
  const reason = error instanceof ValidationError ? error.reason : null;
  if (format === "plain") {
    return { error: code, ...(reason === null ? {} : { code: reason }), message, ...facts, ...waiting };
  }
  const field = error instanceof ValidationError ? (error.details[0]?.field ?? "") : "";
  const param = field === "" ? null : field;
  return { error: { message, type: openAiType(code), param, code: reason ?? code, ...waiting, ...facts } };
}

/** The status of an answered request. A failed request frees its idempotency key, so there is only this one. */
const ANSWERED_STATUS = 200;
