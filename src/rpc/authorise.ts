// Who may call a method: read from the `callers` option of the contract, and from nowhere else.

import { getOption, type DescMethod } from "@bufbuild/protobuf";
import { Caller, callers } from "#gen/saldo/options/v1/options_pb.ts";
import type { Principal } from "../accounts/principal.ts";
import { InvalidApiKey, InvalidCredentials, PermissionDenied } from "../kernel/errors.ts";

const callerOf = {
  public: Caller.PUBLIC,
  api_key: Caller.API_KEY,
  session: Caller.SESSION,
  merchant: Caller.MERCHANT,
  service: Caller.SERVICE,
  operator: Caller.OPERATOR,
} as const satisfies Record<Principal["kind"], Caller>;

const rules = new Map<DescMethod, ReadonlySet<Caller>>();

/** The kinds of caller a method takes. */
export function callersOf(method: DescMethod): ReadonlySet<Caller> {
  const known = rules.get(method);
  if (known !== undefined) return known;
  const read = new Set(getOption(method, callers));
  rules.set(method, read);
  return read;
}

/** Whether a method is for merchants and nobody else. Such methods stand under /sandbox as well. */
export function isForMerchants(method: DescMethod): boolean {
  const allowed = callersOf(method);
  return allowed.size === 1 && allowed.has(Caller.MERCHANT);
}

/** Lets the caller through or not. Errors: InvalidApiKey, InvalidCredentials, PermissionDenied. */
export function authorise(method: DescMethod, principal: Principal): void {
  const allowed = callersOf(method);
  if (allowed.has(callerOf[principal.kind]) || allowed.has(Caller.PUBLIC)) return;
  // Credentials of the other area are wrong ones, like any other: nobody is told that they would be good elsewhere.
  if (isForMerchants(method)) throw new InvalidCredentials();
  if (principal.kind === "public" || principal.kind === "merchant") throw new InvalidApiKey();
  throw new PermissionDenied();
}
