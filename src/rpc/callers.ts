// Who a service acts for, read from the principal of a call. The authorising interceptor has let only the kinds of caller
// through that the method names; what does not fit here is a fault of ours in the contracts.

import type { HandlerContext } from "@connectrpc/connect";
import type { MerchantPrincipal } from "../accounts/principal.ts";
import { invariant } from "../kernel/invariant.ts";
import type { VerifiedKey } from "../keys/keys.ts";
import { principalOf, receivedAtMsOf, requestIdOf } from "./call.ts";

/** The account a call acts for. */
export function accountOf(context: HandlerContext): string {
  const principal = principalOf(context);
  invariant("accountId" in principal, "a method of an account is called for an account");
  return principal.accountId;
}

/** The merchant that calls. */
export function merchantOf(context: HandlerContext): MerchantPrincipal {
  const principal = principalOf(context);
  invariant(principal.kind === "merchant", "a method of merchants is called by a merchant");
  return principal;
}

/** The key that calls, with what the door knows of the call. */
export function keyCallOf(context: HandlerContext): { key: VerifiedKey; requestId: string; receivedAtMs: number } {
  const principal = principalOf(context);
  invariant(principal.kind === "api_key", "a chat method is called with a key");
  return { key: principal, requestId: requestIdOf(context), receivedAtMs: receivedAtMsOf(context) };
}
