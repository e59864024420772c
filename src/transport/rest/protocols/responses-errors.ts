// Errors in the form of OpenAI's Responses: always the nested object, whose codes its clients know.

import { type DomainError, type ErrorCode, ValidationError } from "../../../kernel/errors.ts";
import { refusalFacts } from "../../../kernel/refusal-facts.ts";
import { retryAfterSecondsOf } from "../../calls/errors.ts";

/** OpenAI's names for kinds of errors. */
const types = {
  validation_error: "invalid_request_error",
  invalid_api_key: "authentication_error",
  invalid_credentials: "authentication_error",
  permission_denied: "permission_error",
  second_factor_required: "permission_error",
  fresh_authentication_required: "permission_error",
  insufficient_balance: "insufficient_quota",
  key_budget_exceeded: "insufficient_quota",
  member_budget_exceeded: "insufficient_quota",
  model_not_allowed: "permission_error",
  network_not_allowed: "permission_error",
  model_not_found: "invalid_request_error",
  not_found: "invalid_request_error",
  method_not_allowed: "invalid_request_error",
  payload_too_large: "invalid_request_error",
  unsupported_media_type: "invalid_request_error",
  request_timeout: "invalid_request_error",
  rate_limit: "rate_limit_error",
  token_limit_exceeded: "rate_limit_error",
  upstream_busy: "server_error",
  external_id_conflict: "invalid_request_error",
  already_running: "invalid_request_error",
  already_answered: "invalid_request_error",
  idempotency_conflict: "invalid_request_error",
  amount_precision: "invalid_request_error",
  address_invalid: "invalid_request_error",
  currency_unsupported: "invalid_request_error",
  limit_exceeded: "invalid_request_error",
  internal_error: "server_error",
} as const satisfies Record<ErrorCode, string>;

/** The codes that clients of Responses know by another name than ours. Codex repeats a request less often with the last one. */
const codes: Partial<Record<ErrorCode, string>> = {
  rate_limit: "rate_limit_exceeded",
  token_limit_exceeded: "rate_limit_exceeded",
  upstream_busy: "server_is_overloaded",
};

export function openAiType(code: ErrorCode): string {
  return types[code];
}

/** The body of an error. */
export function responsesErrorBody(error: DomainError): object {
  const { code, message } = error;
  const isInvalid = error instanceof ValidationError;
  const field = isInvalid ? (error.details[0]?.field ?? "") : "";
  const reason = isInvalid ? error.reason : null;
  const retryAfter = retryAfterSecondsOf(error);
  return {
    error: {
      message,
      type: openAiType(code),
      code: reason ?? codes[code] ?? code,
      param: field === "" ? null : field,
      ...refusalFacts(error),
      ...(retryAfter === 0 ? {} : { retry_after: retryAfter }),
    },
  };
}
