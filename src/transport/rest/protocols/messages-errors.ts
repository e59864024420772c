// Errors in the form of Anthropic's Messages.

import { type DomainError, type ErrorCode, ValidationError } from "../../../kernel/errors.ts";
import { refusalFacts } from "../../../kernel/refusal-facts.ts";
import { retryAfterSecondsOf } from "../../calls/errors.ts";
import type { HeaderLines } from "../../http/answer-headers.ts";

const types = {
  validation_error: "invalid_request_error",
  invalid_api_key: "authentication_error",
  invalid_credentials: "authentication_error",
  permission_denied: "permission_error",
  second_factor_required: "permission_error",
  fresh_authentication_required: "permission_error",
  insufficient_balance: "billing_error",
  key_budget_exceeded: "billing_error",
  member_budget_exceeded: "billing_error",
  model_not_allowed: "permission_error",
  network_not_allowed: "permission_error",
  model_not_found: "not_found_error",
  not_found: "not_found_error",
  method_not_allowed: "invalid_request_error",
  payload_too_large: "request_too_large",
  unsupported_media_type: "invalid_request_error",
  request_timeout: "timeout_error",
  rate_limit: "rate_limit_error",
  token_limit_exceeded: "rate_limit_error",
  upstream_busy: "overloaded_error",
  external_id_conflict: "conflict_error",
  already_running: "conflict_error",
  already_answered: "conflict_error",
  idempotency_conflict: "conflict_error",
  amount_precision: "invalid_request_error",
  address_invalid: "invalid_request_error",
  currency_unsupported: "invalid_request_error",
  limit_exceeded: "invalid_request_error",
  internal_error: "api_error",
} as const satisfies Record<ErrorCode, string>;

/** Claude Code shortens a conversation when an error begins with these words. */
const TOO_LONG = "prompt is too long";

/** The header in which Anthropic's clients look for the id of a request. */
export function messagesHeaders(requestId: string): HeaderLines {
  return { "request-id": requestId };
}

/** The body of an error. */
export function messagesErrorBody(error: DomainError, requestId: string): object {
  const retryAfter = retryAfterSecondsOf(error);
  const waiting = retryAfter === 0 ? {} : { retry_after: retryAfter };
  const details = { error_code: error.code, ...refusalFacts(error), ...waiting };
  return {
    type: "error",
    error: { type: types[error.code], message: messageOf(error), details },
    request_id: requestId,
  };
}

function messageOf(error: DomainError): string {
  const { message } = error;
  const isTooLong = error instanceof ValidationError && error.reason === "context_length_exceeded";
  return isTooLong && !message.startsWith(TOO_LONG) ? `${TOO_LONG}: ${message}` : message;
}
