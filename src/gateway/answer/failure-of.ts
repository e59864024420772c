import { DomainError, ValidationError } from "../../kernel/errors.ts";
import type { RequestFailure } from "../../ledger/ledger.ts";

/** The failure that a record keeps of the error which its caller gets. An upstream is not blamed for a fault of ours. `inStream`: the status had been sent. */
export function failureOf(error: unknown, { inStream }: Pick<RequestFailure, "inStream">): RequestFailure {
  if (!(error instanceof DomainError)) return { code: "internal_error", inStream };
  const reason = error instanceof ValidationError ? error.reason : null;
  return { code: reason ?? error.recordedCode, inStream };
}

/** The client left before the end of the answer. */
export const CLIENT_LEFT: RequestFailure = { code: "client_left", inStream: false };

/** The model refused to answer before any output, which its provider does not charge for. */
export const ANSWER_REFUSED: RequestFailure = { code: "answer_refused", inStream: false };
