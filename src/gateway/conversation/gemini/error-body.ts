// Errors in the form of Google's APIs. Those before a stream are answers of a transport, whose HTTP status they repeat.

import { AnswerCut } from "../../answer/answer-cut.ts";
import { type DomainError, type ErrorCode, ValidationError } from "../../../kernel/errors.ts";
import { isOutOfMoney } from "../../../kernel/key-limit-errors.ts";
import { refusalFacts } from "../../../kernel/refusal-facts.ts";

/** Google's names for kinds of errors. */
const statuses = {
  validation_error: "INVALID_ARGUMENT",
  invalid_api_key: "UNAUTHENTICATED",
  invalid_credentials: "UNAUTHENTICATED",
  permission_denied: "PERMISSION_DENIED",
  second_factor_required: "PERMISSION_DENIED",
  fresh_authentication_required: "PERMISSION_DENIED",
  insufficient_balance: "FAILED_PRECONDITION",
  key_budget_exceeded: "FAILED_PRECONDITION",
  member_budget_exceeded: "FAILED_PRECONDITION",
  model_not_allowed: "PERMISSION_DENIED",
  network_not_allowed: "PERMISSION_DENIED",
  model_not_found: "NOT_FOUND",
  not_found: "NOT_FOUND",
  method_not_allowed: "UNIMPLEMENTED",
  payload_too_large: "INVALID_ARGUMENT",
  unsupported_media_type: "INVALID_ARGUMENT",
  request_timeout: "DEADLINE_EXCEEDED",
  rate_limit: "RESOURCE_EXHAUSTED",
  token_limit_exceeded: "RESOURCE_EXHAUSTED",
  upstream_busy: "UNAVAILABLE",
  external_id_conflict: "ALREADY_EXISTS",
  already_running: "ABORTED",
  already_answered: "ABORTED",
  idempotency_conflict: "ABORTED",
  amount_precision: "INVALID_ARGUMENT",
  address_invalid: "INVALID_ARGUMENT",
  currency_unsupported: "INVALID_ARGUMENT",
  limit_exceeded: "INVALID_ARGUMENT",
  internal_error: "INTERNAL",
} as const satisfies Record<ErrorCode, string>;

const TYPE = "type.googleapis.com/google.rpc";

/** `retryAfterSeconds`: 0 where a client is not asked to wait. */
export type GeminiErrorFacts = { readonly code: number; readonly retryAfterSeconds: number; readonly status?: string };

/** The body of an error. */
export function geminiErrorBody(error: DomainError, facts: GeminiErrorFacts): object {
  const { code, retryAfterSeconds, status = statuses[error.code] } = facts;
  const amounts = Object.entries(refusalFacts(error));
  // Google's map of texts.
  const metadata =
    amounts.length === 0 ? {} : { metadata: Object.fromEntries(amounts.map(([name, value]) => [name, String(value)])) };
  const details = [
    { "@type": `${TYPE}.ErrorInfo`, reason: error.code.toUpperCase(), domain: "saldo", ...metadata },
    ...(error instanceof ValidationError
      ? [{ "@type": `${TYPE}.BadRequest`, fieldViolations: violations(error) }]
      : []),
    ...(retryAfterSeconds === 0 ? [] : [{ "@type": `${TYPE}.RetryInfo`, retryDelay: `${retryAfterSeconds}s` }]),
  ];
  return { error: { code, message: error.message, status, details } };
}

function violations({ details }: ValidationError): object[] {
  return details.map(({ field, message }) => ({ field, description: message }));
}

/**
 * The error that ends a stream. Gemini CLI sends a request again after 429 and 5xx: not after an answer that is paid for in part.
 */
export function geminiStreamError(error: DomainError): object {
  if (isOutOfMoney(error)) return geminiErrorBody(error, { code: 402, retryAfterSeconds: 0 });
  if (error.code === "rate_limit") return geminiErrorBody(error, { code: 429, retryAfterSeconds: 0 });
  if (error instanceof ValidationError) return geminiErrorBody(error, { code: 400, retryAfterSeconds: 0 });
  const isBilled = error instanceof AnswerCut && error.costIdr !== "0";
  return geminiErrorBody(error, isBilled ? { code: 409, status: "ABORTED", retryAfterSeconds: 0 } : UNBILLED);
}

const UNBILLED: GeminiErrorFacts = { code: 503, retryAfterSeconds: 0 };
