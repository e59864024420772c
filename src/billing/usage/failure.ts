// What a customer sees of a failed request: the status, the code and a sentence of ours. Records keep no text of an upstream.

import { httpStatus } from "../../kernel/http-status.ts";
import type { RequestFailure } from "../../ledger/ledger.ts";

/** `httpStatus` null: the client left before the end of the answer. */
export type ShownFailure = RequestFailure & { readonly httpStatus: number | null; readonly reason: string };

const REASONS: Partial<Record<RequestFailure["code"], string>> = {
  validation_error: "The upstream refused the request as invalid.",
  context_length_exceeded: "The conversation is longer than the model's context window.",
  content_policy_violation: "The upstream refused the content of the request.",
  upstream_busy: "The upstream was busy or could not be reached.",
  service_busy: "This service was busy and could not finish the answer.",
  internal_error: "A fault of this service ended the request.",
  insufficient_balance: "The balance ran out while the answer was written.",
  key_budget_exceeded: "The budget of the key ran out while the answer was written.",
  member_budget_exceeded: "The budget of the member ran out while the answer was written.",
  client_left: "The client disconnected before the end of the answer.",
  answer_refused: "The model refused to answer before any output.",
};

const CUT_OFF = "The answer broke off after it had begun.";

/** The failure of a record with its status and its sentence. */
export function shownFailure({ code, inStream }: RequestFailure): ShownFailure {
  const cutOff = inStream && code === "upstream_busy";
  const reason = cutOff ? CUT_OFF : (REASONS[code] ?? "The request failed.");
  return { code, inStream, httpStatus: inStream ? 200 : statusOf(code), reason };
}

/** Codes that are no error of ours; a reason has the status of an invalid request. */
const OTHER_STATUSES: Readonly<Record<string, number | null>> = {
  client_left: null,
  answer_refused: 200,
  service_busy: httpStatus.upstream_busy,
  context_length_exceeded: httpStatus.validation_error,
  content_policy_violation: httpStatus.validation_error,
};

/** Null also for a code that a version after this one has written. */
function statusOf(code: RequestFailure["code"]): number | null {
  return OTHER_STATUSES[code] ?? (httpStatus as Readonly<Record<string, number>>)[code] ?? null;
}
