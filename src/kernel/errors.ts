// A DomainError is a normal outcome its caller can act on. It depends on neither HTTP nor RPC, and its message is safe to
// show. The other kind of failure, a bug of ours, is in invariant.ts.

import type { Money } from "./money.ts";
import { rupiahText } from "./rupiah-text.ts";

/** Every error a caller can get. REST and RPC translate exactly these. */
export type ErrorCode =
  | "validation_error"
  | "invalid_api_key"
  | "invalid_credentials"
  | "permission_denied"
  | "second_factor_required"
  | "fresh_authentication_required"
  | "insufficient_balance"
  | "key_budget_exceeded"
  | "member_budget_exceeded"
  | "model_not_allowed"
  | "network_not_allowed"
  | "model_not_found"
  | "not_found"
  | "method_not_allowed"
  | "payload_too_large"
  | "unsupported_media_type"
  | "request_timeout"
  | "rate_limit"
  | "token_limit_exceeded"
  | "upstream_busy"
  | "external_id_conflict"
  | "already_running"
  | "already_answered"
  | "idempotency_conflict"
  | "amount_precision"
  | "address_invalid"
  | "currency_unsupported"
  | "limit_exceeded"
  | "internal_error";

/** One wrong field: its path, the broken rule, and a message. `field` is empty for the body as a whole. */
export type FieldProblem = { readonly field: string; readonly rule: string; readonly message: string };

/** What records, log lines and metrics keep of an error: its code, or `service_busy` for `upstream_busy` without a busy upstream. */
export type RecordedCode = ErrorCode | "service_busy";

export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode;
  get recordedCode(): RecordedCode {
    return this.code;
  }
}

/** The reason of an invalid request that a client can act on: shorten the conversation, or change its content. */
export type ValidationReason = (typeof VALIDATION_REASONS)[number];
export const VALIDATION_REASONS = ["context_length_exceeded", "content_policy_violation"] as const;

/** The request itself is wrong; the same request will always be wrong. */
export class ValidationError extends DomainError {
  readonly code = "validation_error";
  readonly details: readonly FieldProblem[];
  /** Null: no reason that a program could act on. */
  readonly reason: ValidationReason | null;
  constructor(details: readonly FieldProblem[], options?: ErrorOptions & { readonly reason?: ValidationReason }) {
    const first = details[0];
    const where = first === undefined || first.field === "" ? "" : `${first.field} `;
    super(
      first === undefined ? "The request is not valid." : `The request is not valid. ${where}${first.message}.`,
      options,
    );
    this.details = details;
    this.reason = options?.reason ?? null;
  }
}

/** The key is missing, malformed, unknown or revoked. The answer does not show which. */
export class InvalidApiKey extends DomainError {
  readonly code = "invalid_api_key";
  constructor() {
    super("The API key is missing, wrong, revoked or expired. Send it as a Bearer token in the Authorization header.");
  }
}

/** The merchant pair is missing, malformed, unknown, revoked or of the other environment. The answer does not show which. */
export class InvalidCredentials extends DomainError {
  readonly code = "invalid_credentials";
  constructor() {
    super("The credentials are missing or wrong for this environment.");
  }
}

/** The caller is known and may not do this. */
export class PermissionDenied extends DomainError {
  readonly code = "permission_denied";
  constructor() {
    super("This caller may not use this method.");
  }
}

/** The service token may not do what the method does. */
export class ScopeMissing extends DomainError {
  readonly code = "permission_denied";
  constructor(scope: string) {
    super(`This token does not have the scope that the method needs: ${scope}.`);
  }
}

/** The role of the signed-in person in the account does not include the method, or the person is not a member any more. */
export class RoleMissing extends DomainError {
  readonly code = "permission_denied";
  constructor(isMember: boolean) {
    super(
      isMember
        ? "Your role in this account does not include this. An owner of the account can change your role."
        : "You are not a member of this account any more. Switch to another account.",
    );
  }
}

/** The person must have a second factor, and has none yet. */
export class SecondFactorRequired extends DomainError {
  readonly code = "second_factor_required";
  constructor(message = "Set up a second factor first: an authenticator app or a passkey.") {
    super(message);
  }
}

/** The person must prove their identity again: the last proof is older than five minutes, or was no second factor. */
export class FreshAuthenticationRequired extends DomainError {
  readonly code = "fresh_authentication_required";
  constructor() {
    super("Confirm that it is you, then try again. This needs a proof of the last five minutes.");
  }
}

/** The customer's available balance does not cover the hold this request needs. */
export class InsufficientBalance extends DomainError {
  readonly code = "insufficient_balance";
  readonly available: Money;
  readonly needed: Money;
  /** What the account owes for payments that were taken back; a top-up pays it first. Null: nothing. */
  readonly owed: Money | null;
  constructor(
    facts: { available: Money; needed: Money; owed?: Money | undefined; topUpUrl?: string },
    options?: ErrorOptions,
  ) {
    const { owed = null } = facts;
    const debt =
      owed === null
        ? ""
        : `The account owes ${rupiahText(owed)} for a payment that was reversed; the next top-up pays that first. `;
    const where = facts.topUpUrl === undefined ? "Top up and try again." : `Top up at ${facts.topUpUrl} and try again.`;
    super(
      `The balance is too low for this request. Available is ${rupiahText(facts.available)}, needed is ${rupiahText(facts.needed)}. ${debt}${where}`,
      options,
    );
    this.available = facts.available;
    this.needed = facts.needed;
    this.owed = owed;
  }
}

const MAX_SHOWN_ID_LENGTH = 100;

/** No model of this id is in the catalog. `nearest` is the id that was probably meant, null where none is close. */
export class ModelNotFound extends DomainError {
  readonly code = "model_not_found";
  readonly modelId: string;
  constructor(modelId: string, nearest: string | null = null) {
    // What the caller sent is shown in quotes and escaped, so that no line break or other control character gets out.
    const shown = JSON.stringify(modelId.slice(0, MAX_SHOWN_ID_LENGTH));
    const hint = nearest === null ? "" : ` Did you mean ${JSON.stringify(nearest)}?`;
    super(`The model ${shown} is not in the catalog.${hint} GET /v1/models lists all models.`);
    this.modelId = modelId;
  }
}

/** What was asked for does not exist, or belongs to another account. */
export class NotFound extends DomainError {
  readonly code = "not_found";
  constructor(message = "There is nothing here.") {
    super(message);
  }
}

/** The path exists, with another method. */
export class MethodNotAllowed extends DomainError {
  readonly code = "method_not_allowed";
  readonly allowed: readonly string[];
  constructor(allowed: readonly string[]) {
    super(`This path takes ${allowed.join(" or ")}.`);
    this.allowed = allowed;
  }
}

/** The body is larger than the path takes. */
export class PayloadTooLarge extends DomainError {
  readonly code = "payload_too_large";
  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`);
  }
}

/** The body is not JSON by its content type. */
export class UnsupportedMediaType extends DomainError {
  readonly code = "unsupported_media_type";
  constructor() {
    super("The body must be sent as application/json.");
  }
}

/** More requests in 60 seconds than the key allows. */
export class RateLimited extends DomainError {
  readonly code = "rate_limit";
  readonly retryAfterSeconds: number;
  readonly limit: number;
  constructor(facts: { retryAfterSeconds: number; limit: number }) {
    super(`This key allows ${facts.limit} requests a minute. Try again in ${facts.retryAfterSeconds} seconds.`);
    this.retryAfterSeconds = facts.retryAfterSeconds;
    this.limit = facts.limit;
  }
}

/** The account has as many requests running as it may. */
export class TooManyAtOnce extends DomainError {
  readonly code = "rate_limit";
  /** When the next of them ends is not known. */
  readonly retryAfterSeconds = 1;
  constructor(message = "This account has as many requests running as it may. Try again when one of them has ended.") {
    super(message);
  }
}

/** More requests in 60 seconds than this caller, or the network it calls from, may make. */
export class TooManyRequests extends DomainError {
  readonly code = "rate_limit";
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number, reason = "Too many requests.") {
    super(`${reason} Try again in ${retryAfterSeconds} seconds.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A caller, or another one at the same address, has tried too often. */
export class TooManyTries extends DomainError {
  readonly code = "rate_limit";
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds: number) {
    super(`Too many tries. Try again in ${retryAfterSeconds} seconds.`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** E-mail address and password do not belong together. The answer does not show which of the two is wrong. */
export class WrongPassword extends DomainError {
  readonly code = "invalid_credentials";
  constructor() {
    super("The e-mail address or the password is wrong.");
  }
}

/** A code of an authenticator app, a recovery code, a password or a passkey is not the person's, or was used already. */
export class WrongProof extends DomainError {
  readonly code = "invalid_credentials";
  constructor() {
    super("This is wrong, too old, or was used already. Try again.");
  }
}

/** The caller is not signed in, or not any more. */
export class NotSignedIn extends DomainError {
  readonly code = "invalid_credentials";
  constructor() {
    super("You are not signed in. Sign in and try again.");
  }
}

/** A browser sends this from a page that is not ours. */
export class ForeignPage extends DomainError {
  readonly code = "permission_denied";
  constructor() {
    super("This request does not come from a page of this service.");
  }
}

/** The operator has frozen the account: it is readable, and nothing is spent. */
export class AccountFrozen extends DomainError {
  readonly code = "permission_denied";
  constructor() {
    super("This account is frozen. Its operator knows why.");
  }
}

/** What the answer depends on cannot answer now: the model's upstream, a provider, a chain. Nothing was charged that was not delivered. */
export class UpstreamBusy extends DomainError {
  readonly code = "upstream_busy";
  readonly retryAfterSeconds: number;
  constructor(retryAfterSeconds = 5, options?: ErrorOptions) {
    super(`The service is busy. Try again in ${retryAfterSeconds} seconds.`, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The same to a caller, where no upstream is the cause: this service or its database cannot go on. */
export class ServiceBusy extends UpstreamBusy {
  override get recordedCode(): RecordedCode {
    return "service_busy";
  }
}

/** An amount or a count is over a limit of the service. */
export class LimitExceeded extends DomainError {
  readonly code = "limit_exceeded";
}

/** A fault of ours. The cause is logged and never shown. */
export class InternalError extends DomainError {
  readonly code = "internal_error";
  constructor(options?: ErrorOptions) {
    super("Something went wrong on our side. The request id helps us find it.", options);
  }
}
