// An example of each error of the REST API, written by the code that writes its errors.

import {
  FreshAuthenticationRequired,
  InsufficientBalance,
  InternalError,
  InvalidApiKey,
  InvalidCredentials,
  LimitExceeded,
  MethodNotAllowed,
  ModelNotFound,
  NotFound,
  PayloadTooLarge,
  PermissionDenied,
  RateLimited,
  SecondFactorRequired,
  UnsupportedMediaType,
  UpstreamBusy,
  ValidationError,
  type DomainError,
  type ErrorCode,
} from "../../kernel/errors.ts";
import { RequestTimeout } from "../../kernel/intake-errors.ts";
import {
  KeyBudgetExceeded,
  MemberBudgetExceeded,
  ModelNotAllowed,
  NetworkNotAllowed,
  TokenLimitExceeded,
} from "../../kernel/key-limit-errors.ts";
import { idr, parseMoney } from "../../kernel/money.ts";
import { AlreadyAnswered, AlreadyRunning, IdempotencyConflict } from "../../kernel/retry-errors.ts";
import {
  AddressInvalid,
  AmountPrecision,
  CurrencyUnsupported,
  ExternalIdConflict,
  InsufficientFunds,
} from "../../kernel/transfer-errors.ts";
import { answerError, type ErrorFormat } from "../rest/error-answer.ts";

const requestId = "01a20a18-90e1-71af-abb6-25530962f602";

const errors: Readonly<Record<ErrorCode, DomainError>> = {
  validation_error: new ValidationError([{ field: "amount", rule: "required", message: "must be sent" }]),
  invalid_api_key: new InvalidApiKey(),
  invalid_credentials: new InvalidCredentials(),
  permission_denied: new PermissionDenied(),
  second_factor_required: new SecondFactorRequired(),
  fresh_authentication_required: new FreshAuthenticationRequired(),
  insufficient_balance: new InsufficientBalance({ available: idr(500_000n), needed: idr(1_250_000n) }),
  key_budget_exceeded: new KeyBudgetExceeded({
    left: idr(500_000n),
    needed: idr(1_250_000n),
    resetsAt: new Date("2026-11-26T17:00:00Z"),
  }),
  member_budget_exceeded: new MemberBudgetExceeded({
    left: idr(500_000n),
    needed: idr(1_250_000n),
    resetsAt: new Date("2026-11-30T17:00:00Z"),
  }),
  model_not_allowed: new ModelNotAllowed("acme/large"),
  network_not_allowed: new NetworkNotAllowed(),
  model_not_found: new ModelNotFound("acme/lage", "acme/large"),
  not_found: new NotFound(),
  method_not_allowed: new MethodNotAllowed(["GET"]),
  payload_too_large: new PayloadTooLarge(65_536),
  unsupported_media_type: new UnsupportedMediaType(),
  request_timeout: new RequestTimeout(),
  rate_limit: new RateLimited({ retryAfterSeconds: 17, limit: 60 }),
  token_limit_exceeded: new TokenLimitExceeded({ needed: 1_200, left: 900, limit: 10_000, retryAfterSeconds: 17 }),
  upstream_busy: new UpstreamBusy(),
  external_id_conflict: new ExternalIdConflict(["amount"]),
  already_running: new AlreadyRunning(),
  already_answered: new AlreadyAnswered({ requestId, cost: idr(105_000n) }),
  idempotency_conflict: new IdempotencyConflict(),
  amount_precision: new AmountPrecision({ currencyCode: "TRX", network: "tron", decimals: 6 }),
  address_invalid: new AddressInvalid("The address is not one of the network tron."),
  currency_unsupported: new CurrencyUnsupported(),
  limit_exceeded: new LimitExceeded("A transfer of TRX is at most 1000."),
  internal_error: new InternalError(),
};

const fundsMissing = new InsufficientFunds({
  available: parseMoney("5", "TRX/6"),
  needed: parseMoney("11.1", "TRX/6"),
});

/** The shapes of an area's errors, each with the suffix of the names of its examples. */
const suffixes = {
  plain: "",
  openai: ".openai",
  envelope: ".merchant",
  messages: ".messages",
  responses: ".responses",
  gemini: ".gemini",
} as const satisfies Record<ErrorFormat, string>;

/** The names of the examples of some codes, in the shapes of a route's errors. */
export function exampleNames(codes: readonly ErrorCode[], formats: readonly ErrorFormat[]): string[] {
  return codes.flatMap((code) => formats.map((format) => code + suffixes[format]));
}

/** All examples by name. */
export function errorExamples(): Record<string, { readonly value: unknown }> {
  const codes = Object.keys(errors) as ErrorCode[];
  const formats = Object.keys(suffixes) as ErrorFormat[];
  return Object.fromEntries(
    codes.flatMap((code) => formats.map((format) => [code + suffixes[format], { value: bodyOf(code, format) }])),
  );
}

function bodyOf(code: ErrorCode, format: ErrorFormat): unknown {
  const error = format === "envelope" && code === "insufficient_balance" ? fundsMissing : errors[code];
  return JSON.parse(answerError(error, format, requestId).body);
}
