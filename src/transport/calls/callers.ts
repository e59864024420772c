// The account or person that a service acts for, read from the principal of a call. The authorising interceptor has refused all
// kinds of caller that the method does not name; one that does not fit here is our fault in the contracts.

import type { TraceSpan } from "../../kernel/tracing.ts";
import { spanOf } from "./call.ts";
import type { HandlerContext } from "@connectrpc/connect";
import type { AccountRole, MerchantPrincipal, SessionPrincipal, SessionProof } from "../../identity/principal.ts";
import type { CallingMember } from "../../keys/calling-member.ts";
import { RoleMissing, ValidationError } from "../../kernel/errors.ts";
import { invariant } from "../../kernel/invariant.ts";
import type { VerifiedKey } from "../../keys/verified-key.ts";
import { IDEMPOTENCY_HEADER, readIdempotencyKey } from "./idempotency-header.ts";
import { ACCOUNT_HEADER, principalOf, receivedAtMsOf, requestIdOf } from "./call.ts";

/** The account a call acts for. Errors: ValidationError when a service or an operator has named none. */
export function accountOf(context: HandlerContext): string {
  const principal = principalOf(context);
  invariant("accountId" in principal, "a method of an account is called for an account");
  // Methods about the person are open to one who is no member any more, and read no account.
  if (principal.kind === "session" && principal.role === null) throw new RoleMissing(false);
  if (principal.accountId !== "") return principal.accountId;
  const message = "must name the account the call is for";
  throw new ValidationError([{ field: ACCOUNT_HEADER, rule: "required", message }]);
}

/** The signed-in person who calls, and for which account. */
export function sessionOf(context: HandlerContext): SessionPrincipal {
  const principal = principalOf(context);
  invariant(principal.kind === "session", "a method of people is called by a signed-in person");
  return principal;
}

/** The signed-in person's own account, whatever the session acts for. */
export function ownAccountOf(context: HandlerContext): string {
  return sessionOf(context).ownAccountId;
}

/** The member who calls, in the account that the call acts for. Null: a service, an operator or a key calls. */
export function memberOf(context: HandlerContext): CallingMember | null {
  const principal = principalOf(context);
  if (principal.kind !== "session") return null;
  if (principal.role === null) throw new RoleMissing(false);
  const { personId, email, accountId, ownAccountId, role } = principal;
  return { personId, email, accountId, role, isHolder: accountId === ownAccountId };
}

/** Reads the role of a person in an account; null: none. */
type RoleOf = (member: { accountId: string; personId: string }) => Promise<AccountRole | null>;

/**
 * Finds whose keys and usage a call may see: a person's id, where the caller is a developer or calls with the key of one. Null: all of
 * the account.
 */
export function createOwnRowsOf(roleOf: RoleOf): (context: HandlerContext) => Promise<string | null> {
  return async (context) => {
    const principal = principalOf(context);
    if (principal.kind === "session") return mayReadAll(principal.role) ? null : principal.personId;
    // A key shows no more than its maker may read. Keys that no person made show the account.
    if (principal.kind !== "api_key" || principal.personId === undefined) return null;
    const { accountId, personId } = principal;
    return mayReadAll(await roleOf({ accountId, personId })) ? null : personId;
  };
}

const READ_ALL: readonly (AccountRole | null)[] = ["owner", "admin", "viewer"];

function mayReadAll(role: AccountRole | null): boolean {
  return READ_ALL.includes(role);
}

/** Whether an operator calls for another account. */
export function isOperator(context: HandlerContext): boolean {
  return principalOf(context).kind === "operator";
}

/** The calling operator. */
export function operatorOf(context: HandlerContext): { personId: string; email: string } {
  const principal = principalOf(context);
  invariant(principal.kind === "operator", "a method of operators is called by an operator");
  return { personId: principal.personId, email: principal.email };
}

/** The signed-in person, and the session. */
export function personOf(context: HandlerContext): { personId: string; sessionId: string; proof: SessionProof } {
  const principal = principalOf(context);
  invariant("sessionId" in principal, "a method of people is called by a signed-in person");
  return { personId: principal.personId, sessionId: principal.sessionId, proof: principal.proof };
}

/** The merchant that calls, or the account that the call acts for. Errors: those of accountOf. */
export function merchantOrAccountOf(
  context: HandlerContext,
): MerchantPrincipal | { readonly kind: "account"; readonly accountId: string } {
  const principal = principalOf(context);
  return principal.kind === "merchant" ? principal : { kind: "account", accountId: accountOf(context) };
}

/** The key that was sent. */
export function keyOf(context: HandlerContext): VerifiedKey {
  const principal = principalOf(context);
  invariant(principal.kind === "api_key", "a method of keys is called with a key");
  return principal;
}

/** The models that the caller may ask: ids, or beginnings with an asterisk behind them. Null: all. */
export function allowedModelsOf(context: HandlerContext): readonly string[] | null {
  const principal = principalOf(context);
  return principal.kind === "api_key" ? (principal.allowedModels ?? null) : null;
}

/** The key of a chat call, with the facts that the transport has about the call. */
export type KeyCall = {
  readonly key: VerifiedKey;
  readonly requestId: string;
  readonly receivedAtMs: number;
  readonly idempotencyKey: string | null;
  readonly span: TraceSpan | null;
};

/**
 * Finds the key of a chat call: the one that was sent, or that of the account's playground where a signed-in person calls.
 */
export function createKeyCallOf(
  playgroundKeyOf: (member: CallingMember) => Promise<VerifiedKey>,
): (context: HandlerContext) => Promise<KeyCall> {
  return async (context) => {
    const principal = principalOf(context);
    const idempotencyKey = readIdempotencyKey(context.requestHeader.get(IDEMPOTENCY_HEADER));
    const facts = {
      requestId: requestIdOf(context),
      receivedAtMs: receivedAtMsOf(context),
      idempotencyKey,
      span: spanOf(context),
    };
    if (principal.kind === "api_key") return { key: principal, ...facts };
    const member = memberOf(context);
    invariant(member !== null, "a chat method is called with a key or by a person");
    return { key: await playgroundKeyOf(member), ...facts };
  };
}
