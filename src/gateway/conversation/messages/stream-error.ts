// Errors within a stream. Those before a stream are answers of a transport, with a status.

import { AnswerCut } from "../../answer/answer-cut.ts";
import type { DomainError } from "../../../kernel/errors.ts";
import { isOutOfMoney } from "../../../kernel/key-limit-errors.ts";

/** The protocol's type of an error. Claude Code continues a turn that broke off, and waits for a service that is overloaded. */
export function streamErrorType(error: DomainError): string {
  if (isOutOfMoney(error)) return "billing_error";
  return error.code === "upstream_busy" && !(error instanceof AnswerCut) ? "overloaded_error" : "api_error";
}
