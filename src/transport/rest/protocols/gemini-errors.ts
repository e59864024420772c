// Errors before a stream in the form of Google's Gemini API. Those within a stream are the protocol's.

import { geminiErrorBody } from "../../../gateway/conversation/gemini/error-body.ts";
import type { DomainError } from "../../../kernel/errors.ts";
import { retryAfterSecondsOf } from "../../calls/errors.ts";

/** The body of an error. It repeats its HTTP status, and when to try again: Google's clients do not read the header for that. */
export function geminiErrorAnswer(error: DomainError, status: number): object {
  return geminiErrorBody(error, { code: status, retryAfterSeconds: retryAfterSecondsOf(error) });
}
