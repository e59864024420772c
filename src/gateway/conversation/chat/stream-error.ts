// Errors within a chat stream. They always have the object form of OpenAI, in contrast to errors by status.

import { type DomainError, InsufficientBalance, UpstreamBusy, ValidationError } from "../../../kernel/errors.ts";
import { isOutOfMoney } from "../../../kernel/key-limit-errors.ts";
import { formatMoney } from "../../../kernel/money.ts";
import { refusalFacts } from "../../../kernel/refusal-facts.ts";
import { AnswerCut } from "../../answer/answer-cut.ts";

/** The object that ends a stream which broke off. */
export function chatStreamError(error: DomainError): object {
  const { message } = error;
  // Clients act on a reason, such as a context that is too long.
  const code = (error instanceof ValidationError ? error.reason : null) ?? error.code;
  return { error: { message, type: typeOf(error), code, ...factsOf(error) } };
}

function typeOf(error: DomainError): string {
  if (isOutOfMoney(error)) return "insufficient_quota";
  return error instanceof ValidationError ? "invalid_request_error" : "server_error";
}

/** The facts that clients act on. */
function factsOf(error: DomainError): Record<string, unknown> {
  if (error instanceof ValidationError) return { details: error.details };
  if (error instanceof InsufficientBalance) {
    const { available, needed } = error;
    // The names that the first two had before errors by status had these fields.
    return { ...refusalFacts(error), available: formatMoney(available), needed: formatMoney(needed) };
  }
  if (error instanceof AnswerCut) return { cost_idr: error.costIdr };
  return error instanceof UpstreamBusy ? { retry_after: error.retryAfterSeconds } : refusalFacts(error);
}
