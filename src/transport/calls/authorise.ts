// The callers that a method takes: read from the options `callers` and `rest_callers` of the contract alone.

import { getOption, type DescMethod } from "@bufbuild/protobuf";
import {
  AccountRole as ProtoAccountRole,
  Caller,
  callers,
  rest_callers,
  roles,
  TokenScope as ProtoTokenScope,
  token_scope,
} from "#gen/saldo/options/v1/options_pb.ts";
import type { AccountRole, Principal, TokenScope } from "../../identity/principal.ts";
import { requireProof } from "./require-proof.ts";
import { InvalidApiKey, InvalidCredentials, PermissionDenied, RoleMissing, ScopeMissing } from "../../kernel/errors.ts";

const callerOf = {
  public: Caller.PUBLIC,
  api_key: Caller.API_KEY,
  session: Caller.SESSION,
  merchant: Caller.MERCHANT,
  service: Caller.SERVICE,
  operator: Caller.OPERATOR,
} as const satisfies Record<Principal["kind"], Caller>;

const rules = new Map<DescMethod, ReadonlySet<Caller>>();
const restRules = new Map<DescMethod, ReadonlySet<Caller>>();

/** The kinds of caller a method takes. */
export function callersOf(method: DescMethod): ReadonlySet<Caller> {
  const known = rules.get(method);
  if (known !== undefined) return known;
  const read = new Set(getOption(method, callers));
  rules.set(method, read);
  return read;
}

/** The kinds of caller a method takes in REST: those of `callers` that its service admits there. */
export function restCallersOf(method: DescMethod): ReadonlySet<Caller> {
  const known = restRules.get(method);
  if (known !== undefined) return known;
  const admitted = getOption(method.parent, rest_callers);
  const isAdmitted = (caller: Caller): boolean => admitted.length === 0 || admitted.includes(caller);
  const read = new Set([...callersOf(method)].filter(isAdmitted));
  restRules.set(method, read);
  return read;
}

/** Whether the REST paths of a method are for merchants alone. Such paths are served under /sandbox too. */
export function isForMerchants(method: DescMethod): boolean {
  const allowed = restCallersOf(method);
  return allowed.size === 1 && allowed.has(Caller.MERCHANT);
}

const scopeNames: Readonly<Record<ProtoTokenScope, TokenScope | null>> = {
  [ProtoTokenScope.UNSPECIFIED]: null,
  [ProtoTokenScope.READ]: "read",
  [ProtoTokenScope.KEYS]: "keys",
  [ProtoTokenScope.TOP_UPS]: "top_ups",
  [ProtoTokenScope.SETTINGS]: "settings",
  [ProtoTokenScope.MERCHANTS]: "merchants",
  [ProtoTokenScope.TRANSFERS]: "transfers",
};

/** The scope that a service token needs to call a method. Null: no service may call it. */
export function tokenScopeOf(method: DescMethod): TokenScope | null {
  return scopeNames[getOption(method, token_scope)] ?? null;
}

const roleNames: Readonly<Record<ProtoAccountRole, AccountRole | "person" | null>> = {
  [ProtoAccountRole.UNSPECIFIED]: null,
  [ProtoAccountRole.OWNER]: "owner",
  [ProtoAccountRole.ADMIN]: "admin",
  [ProtoAccountRole.DEVELOPER]: "developer",
  [ProtoAccountRole.BILLING]: "billing",
  [ProtoAccountRole.VIEWER]: "viewer",
  [ProtoAccountRole.PERSON]: "person",
};

const roleRules = new Map<DescMethod, ReadonlySet<AccountRole | "person">>();

/** The roles of people who may call a method; "person": everyone who is signed in. None: no person may call it. */
export function rolesOf(method: DescMethod): ReadonlySet<AccountRole | "person"> {
  const known = roleRules.get(method);
  if (known !== undefined) return known;
  const read = new Set(getOption(method, roles).flatMap((role) => roleNames[role] ?? []));
  roleRules.set(method, read);
  return read;
}

/** Refuses a person whose role in the account does not include the method. Errors: RoleMissing. */
function requireRole(method: DescMethod, role: AccountRole | null): void {
  const allowed = rolesOf(method);
  if (!allowed.has("person") && (role === null || !allowed.has(role))) throw new RoleMissing(role !== null);
}

/**
 * Checks that the caller may call the method; `allowed` are the callers that it takes here. Errors: InvalidApiKey,
 * InvalidCredentials, PermissionDenied, RoleMissing, SecondFactorRequired, FreshAuthenticationRequired, ScopeMissing.
 */
export function authorise(method: DescMethod, principal: Principal, allowed = callersOf(method)): void {
  if (allowed.has(Caller.PUBLIC)) return;
  if (allowed.has(callerOf[principal.kind])) {
    if (principal.kind === "session") requireRole(method, principal.role);
    if (principal.kind === "session" || principal.kind === "operator") requireProof(method, principal);
    if (principal.kind === "service") requireScope(method, principal.scopes);
    return;
  }
  // Credentials of the other area are wrong ones, like any other: the error does not show that they are valid elsewhere.
  if (allowed.has(Caller.MERCHANT)) throw new InvalidCredentials();
  if (principal.kind === "public" || principal.kind === "merchant") throw new InvalidApiKey();
  throw new PermissionDenied();
}

function requireScope(method: DescMethod, scopes: readonly TokenScope[]): void {
  const scope = tokenScopeOf(method);
  if (scope === null || !scopes.includes(scope)) throw new ScopeMissing(scope ?? "none");
}
