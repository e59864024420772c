// The codes of an answer that broke off. Clients decide by them whether to send the request again.

import { type DomainError, ValidationError, type ValidationReason } from "../../../kernel/errors.ts";
import { isOutOfMoney } from "../../../kernel/key-limit-errors.ts";

/**
 * The code of an error in a stream. `isBilled`: the client has output, which it pays for. Codex sends a request again up to five
 * times after `server_error`, and does not after `server_is_overloaded`: what was billed is not to be billed again.
 */
export function failureCode(error: DomainError, isBilled: boolean): string {
  if (isOutOfMoney(error)) return "insufficient_quota";
  if (error.code === "rate_limit") return "rate_limit_exceeded";
  if (error instanceof ValidationError) return error.reason === TOO_LONG ? TOO_LONG : "invalid_prompt";
  return isBilled ? "server_is_overloaded" : "server_error";
}

const TOO_LONG: ValidationReason = "context_length_exceeded";
