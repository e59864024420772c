// The codes of an answer that broke off. Clients decide by them whether to send the request again.

import { type DomainError, ValidationError } from "../../../kernel/errors.ts";

/**
 * The code of an error in a stream. `isBilled`: the client has output, which it pays for. Codex sends a request again up to five
 * times after `server_error`, and does not after `server_is_overloaded`: what was billed is not to be billed again.
 */
export function failureCode(error: DomainError, isBilled: boolean): string {
  switch (error.code) {
    case "insufficient_balance":
      return "insufficient_quota";
    case "rate_limit":
      return "rate_limit_exceeded";
    case "validation_error":
      return error instanceof ValidationError && error.reason === "context_length_exceeded"
        ? "context_length_exceeded"
        : "invalid_prompt";
    default:
      return isBilled ? "server_is_overloaded" : "server_error";
  }
}
