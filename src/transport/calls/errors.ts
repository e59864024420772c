// Errors of RPC: our classes become Connect errors that carry the facts. Every other thrown value becomes an internal error, and
// its cause is only logged.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorFactsSchema } from "#gen/saldo/errors/v1/errors_pb.ts";
import { isDatabaseAway } from "../../database/transactions.ts";
import {
  DomainError,
  InsufficientBalance,
  InternalError,
  NotFound,
  PayloadTooLarge,
  RateLimited,
  TooManyAtOnce,
  TooManyRequests,
  TooManyTries,
  ServiceBusy,
  UpstreamBusy,
  ValidationError,
  type ErrorCode,
} from "../../kernel/errors.ts";
import { BudgetExceeded, isOutOfMoney, TokenLimitExceeded } from "../../kernel/key-limit-errors.ts";
import { formatMoney } from "../../kernel/money.ts";
import { AlreadyAnswered, AlreadyRunning, IdempotencyConflict } from "../../kernel/retry-errors.ts";
import { ExternalIdConflict } from "../../kernel/transfer-errors.ts";
import { READ_MAX_BYTES } from "./call.ts";
import { rateHeaders, tokenHeaders } from "./rate-headers.ts";

/** The RPC code of each of our codes. Several share one: the fact `code` is what a caller acts on. */
export const rpcCode = {
  validation_error: Code.InvalidArgument,
  invalid_api_key: Code.Unauthenticated,
  invalid_credentials: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  second_factor_required: Code.PermissionDenied,
  fresh_authentication_required: Code.PermissionDenied,
  insufficient_balance: Code.FailedPrecondition,
  key_budget_exceeded: Code.FailedPrecondition,
  member_budget_exceeded: Code.FailedPrecondition,
  model_not_allowed: Code.PermissionDenied,
  network_not_allowed: Code.PermissionDenied,
  model_not_found: Code.NotFound,
  not_found: Code.NotFound,
  method_not_allowed: Code.Unimplemented,
  payload_too_large: Code.ResourceExhausted,
  unsupported_media_type: Code.InvalidArgument,
  request_timeout: Code.DeadlineExceeded,
  rate_limit: Code.ResourceExhausted,
  token_limit_exceeded: Code.ResourceExhausted,
  upstream_busy: Code.Unavailable,
  external_id_conflict: Code.AlreadyExists,
  already_running: Code.Aborted,
  already_answered: Code.AlreadyExists,
  idempotency_conflict: Code.AlreadyExists,
  amount_precision: Code.InvalidArgument,
  address_invalid: Code.InvalidArgument,
  currency_unsupported: Code.InvalidArgument,
  limit_exceeded: Code.FailedPrecondition,
  internal_error: Code.Internal,
} as const satisfies Record<ErrorCode, Code>;

/** Seconds that an error asks its caller to wait, 1 to 60; 0 where it asks for none. */
export function retryAfterSecondsOf(error: DomainError): number {
  const mayWait =
    error instanceof RateLimited ||
    error instanceof TokenLimitExceeded ||
    error instanceof TooManyRequests ||
    error instanceof TooManyAtOnce ||
    error instanceof TooManyTries ||
    error instanceof UpstreamBusy ||
    error instanceof AlreadyRunning;
  if (!mayWait) return 0;
  // A request that needs more tokens than its key has in a minute is never admitted.
  if (error instanceof TokenLimitExceeded && error.retryAfterSeconds === 0) return 0;
  return Math.min(60, Math.max(1, Math.ceil(error.retryAfterSeconds)));
}

/** The headers of an error: when to try again, and the state of a full window. */
export function errorHeaders(error: DomainError): Record<string, string> {
  // Official client libraries retry each 409 unless this header forbids it.
  if (error instanceof IdempotencyConflict) return { "x-should-retry": "false" };
  if (error instanceof AlreadyAnswered) {
    return {
      "x-should-retry": "false",
      "x-saldo-answered-request": error.requestId,
      "x-saldo-cost-idr": formatMoney(error.cost),
    };
  }
  const seconds = retryAfterSecondsOf(error);
  if (error instanceof TokenLimitExceeded) {
    const { limit, left } = error;
    // Without the header client libraries send each 429 again.
    const again = seconds === 0 ? { "x-should-retry": "false" } : { "retry-after": String(seconds) };
    return { ...again, ...tokenHeaders({ limit, remaining: left }) };
  }
  if (seconds === 0) return {};
  const rate = error instanceof RateLimited ? { limit: error.limit, remaining: 0, resetSeconds: seconds } : null;
  return { "retry-after": String(seconds), ...(rate === null ? {} : rateHeaders(rate)) };
}

/** The thrown value as one of our classes. A value that is neither ours nor Connect's becomes an internal error with that cause. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  if (isDatabaseAway(thrown)) return new ServiceBusy(undefined, { cause: thrown });
  if (!(thrown instanceof ConnectError)) return new InternalError({ cause: thrown });
  if (thrown.cause instanceof DomainError) return thrown.cause;
  return ofConnect(thrown);
}

/** The thrown value as the Connect error that a client gets, with the facts. The DomainError is its cause. */
export function toConnectError(thrown: unknown, requestId: string): ConnectError {
  const error = toDomainError(thrown);
  // A refusal by Connect itself keeps its own code and message: a deadline stays a deadline.
  const own = thrown instanceof ConnectError && !(error instanceof InternalError) ? thrown : null;
  return new ConnectError(
    own?.rawMessage ?? error.message,
    own?.code ?? rpcCode[error.code],
    errorHeaders(error),
    [{ desc: ErrorFactsSchema, value: factsOf(error, requestId) }],
    error,
  );
}

// The caller's deadline, its lost connection, or our shutdown: the request is not wrong and may be sent again.
const MAY_BE_REPEATED: ReadonlySet<Code> = new Set([
  Code.Unavailable,
  Code.DeadlineExceeded,
  Code.Canceled,
  Code.Aborted,
]);

/** Our code for a refusal by Connect itself; a code that is missing here is an internal error. */
function ofConnect(error: ConnectError): DomainError {
  const { code, rawMessage } = error;
  if (MAY_BE_REPEATED.has(code)) return new ServiceBusy(undefined, { cause: error });
  if (code === Code.InvalidArgument) return new ValidationError([{ field: "", rule: "protocol", message: rawMessage }]);
  if (code === Code.NotFound || code === Code.Unimplemented) return new NotFound("This method is not available yet.");
  if (code === Code.ResourceExhausted) return new PayloadTooLarge(READ_MAX_BYTES);
  return new InternalError({ cause: error });
}

function factsOf(error: DomainError, requestId: string) {
  const overBudget = error instanceof BudgetExceeded ? error : null;
  return create(ErrorFactsSchema, {
    code: error.code,
    reason: error instanceof ValidationError ? (error.reason ?? "") : "",
    requestId,
    retryAfterSeconds: retryAfterSecondsOf(error),
    details: error instanceof ValidationError ? error.details.map((problem) => ({ ...problem })) : [],
    availableIdr: error instanceof InsufficientBalance ? formatMoney(error.available) : "",
    owedIdr: error instanceof InsufficientBalance && error.owed !== null ? formatMoney(error.owed) : "",
    neededIdr: isOutOfMoney(error) ? formatMoney(error.needed) : "",
    requestLimit: error instanceof RateLimited ? error.limit : 0,
    ...(error instanceof TokenLimitExceeded
      ? { tokenLimit: error.limit, tokensLeft: error.left, tokensNeeded: error.needed }
      : {}),
    budgetLeftIdr: overBudget === null ? "" : formatMoney(overBudget.left),
    ...(overBudget?.resetsAt ? { budgetResetsAt: timestampFromDate(overBudget.resetsAt) } : {}),
    answeredRequestId: error instanceof AlreadyAnswered ? error.requestId : "",
    differingFields: error instanceof ExternalIdConflict ? [...error.differingFields] : [],
    answeredCostIdr: error instanceof AlreadyAnswered ? formatMoney(error.cost) : "",
  });
}
