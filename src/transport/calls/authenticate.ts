// Finds the caller from the credentials alone. authorise.ts decides which callers a method takes.

import { Caller } from "#gen/saldo/options/v1/options_pb.ts";
import type { SignedInPerson } from "../../identity/people.ts";
import type { Environment, MerchantPrincipal, Principal } from "../../identity/principal.ts";
import type { VerifyServiceToken } from "../../identity/service-tokens.ts";
import { NotFound } from "../../kernel/errors.ts";
import type { VerifiedKey } from "../../keys/verified-key.ts";
import { requireAllowedNetwork } from "./allowed-network.ts";
import type { Credentials } from "./call.ts";
import type { CredentialKind, RefusedCredentials } from "./refused-credentials.ts";

/** The functions of the rooms that own credentials. */
export type Verifiers = {
  verifyKey(secret: string): Promise<VerifiedKey | null>;
  verifyMerchant(pair: { apiKey: string; secretKey: string }): Promise<MerchantPrincipal | null>;
  readonly verifyServiceToken: VerifyServiceToken;
  /** The person who is signed in by the cookies of a request; null: none. */
  verifySession(cookies: string): Promise<SignedInPerson | null>;
  /** Whether there is an account of this id, which may be any text. */
  accountExists(accountId: string): Promise<boolean>;
  /** How many of our proxies are before the HTTP port. Absent: none. */
  readonly trustedProxies?: number;
  /** Counts unknown credentials, and refuses networks that send many. Absent: they are not counted. */
  readonly refusedCredentials?: RefusedCredentials;
};

/** The facts of a method: the environment that its path names, if it names one, and the kinds of caller it takes. */
export type Wanted = { readonly environment: Environment | null; readonly callers: ReadonlySet<Caller> };

const PUBLIC: Principal = { kind: "public" };
const MAX_CREDENTIALS_LENGTH = 1024;
const SCHEME = /^([A-Za-z]+) +([\x21-\x7e]+)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const SERVICE_TOKEN_PREFIX = "st_";

/**
 * Makes the principal of a call. The scheme alone decides on the look-up: keys and service tokens are taken as Bearer only, a
 * merchant's key pair as Basic only, and cookies only without an Authorization header. Missing, malformed, unknown and
 * other-environment credentials all give the public. A key in a header of its own that may be read is tried after the Authorization header.
 * Errors: NetworkNotAllowed when a key may not be used from the caller's network; NotFound when the named account does not exist or the caller may not act for it; TooManyRequests when the caller's
 * network has sent too many unknown credentials.
 */
export async function authenticate(verifiers: Verifiers, credentials: Credentials, wanted: Wanted): Promise<Principal> {
  const { authorization, apiKey } = credentials;
  if (apiKey === undefined) return byAuthorization(verifiers, credentials, wanted);
  if (authorization !== null) {
    // Claude Code sends both where both are set, and one of them may not be ours. Both count once: a network that is refused gets no
    // look-up by the one that is not counted.
    const { refusedCredentials, ...uncounted } = verifiers;
    refusedCredentials?.refuseUnknown(credentials.source, "key", apiKey);
    const principal = await byAuthorization(uncounted, credentials, wanted);
    if (principal.kind !== "public") return principal;
  }
  return byAuthorization(verifiers, { ...credentials, authorization: `Bearer ${apiKey}` }, wanted);
}

async function byAuthorization(verifiers: Verifiers, credentials: Credentials, wanted: Wanted): Promise<Principal> {
  const { authorization } = credentials;
  if (authorization === null) return ofCookies(verifiers, credentials, wanted);
  if (authorization.length > MAX_CREDENTIALS_LENGTH) return unknownCaller(verifiers, credentials, "key", "");
  const [, scheme = "", secret = ""] = SCHEME.exec(authorization) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer": {
      if (secret.startsWith(SERVICE_TOKEN_PREFIX)) return ofService(verifiers, secret, credentials);
      verifiers.refusedCredentials?.refuseUnknown(credentials.source, "key", secret);
      const key = await verifiers.verifyKey(secret);
      if (key === null) return unknownCaller(verifiers, credentials, "key", secret);
      requireAllowedNetwork(key, credentials.source, verifiers.trustedProxies);
      return { kind: "api_key", ...key };
    }
    case "basic": {
      const pair = readPair(secret);
      if (pair === null) return unknownCaller(verifiers, credentials, "pair", "");
      verifiers.refusedCredentials?.refuseUnknown(credentials.source, "pair", pairText(pair));
      const merchant = await verifiers.verifyMerchant(pair);
      const { environment } = wanted;
      const isHere = merchant !== null && (environment === null || merchant.environment === environment);
      return isHere ? merchant : unknownCaller(verifiers, credentials, "pair", pair.apiKey);
    }
    default:
      return PUBLIC;
  }
}

async function ofService(verifiers: Verifiers, secret: string, credentials: Credentials): Promise<Principal> {
  const { account, source } = credentials;
  verifiers.refusedCredentials?.refuseUnknown(source, "token", secret);
  const token = await verifiers.verifyServiceToken(secret);
  if (token === null) return unknownCaller(verifiers, credentials, "token", secret);
  const { tokenId, accountId, scopes } = token;
  if (account === null) return { kind: "service", tokenId, scopes, accountId: accountId ?? "" };
  const mayAct = accountId === null ? await verifiers.accountExists(account) : accountId === account;
  if (!mayAct) throw noAccount();
  return { kind: "service", tokenId, scopes, accountId: account };
}

async function ofCookies(verifiers: Verifiers, credentials: Credentials, wanted: Wanted): Promise<Principal> {
  const { cookies, account, source } = credentials;
  if (cookies === null) return PUBLIC;
  verifiers.refusedCredentials?.refuseUnknown(source, "session", cookies);
  const person = await verifiers.verifySession(cookies);
  if (person === null) return unknownCaller(verifiers, credentials, "session", cookies);
  const { sessionId, personId, email, ownAccountId, accountId, role, proof } = person;
  // Operators have an account of their own, like every person. They act as operators where people may not call at all, or
  // where they name an account.
  const takesPeople = wanted.callers.has(Caller.SESSION);
  if (person.isOperator && wanted.callers.has(Caller.OPERATOR) && !(takesPeople && account === null)) {
    if (account !== null && !(await verifiers.accountExists(account))) throw noAccount();
    return { kind: "operator", sessionId, personId, email, accountId: account ?? "", proof };
  }
  if (account !== null && account !== accountId) throw noAccount();
  return { kind: "session", sessionId, personId, email, accountId, ownAccountId, role, proof };
}

/** Unknown credentials give the public, like none. */
function unknownCaller(
  { refusedCredentials }: Verifiers,
  { source }: Credentials,
  kind: CredentialKind,
  secret: string,
) {
  refusedCredentials?.count(source, kind, secret);
  return PUBLIC;
}

function noAccount(): NotFound {
  return new NotFound("There is no such account.");
}

/** A key pair as one text. */
function pairText({ apiKey, secretKey }: { apiKey: string; secretKey: string }): string {
  return `${apiKey}:${secretKey}`;
}

function readPair(credentials: string): { apiKey: string; secretKey: string } | null {
  if (!BASE64.test(credentials)) return null;
  const text = Buffer.from(credentials, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { apiKey: text.slice(0, colon), secretKey: text.slice(colon + 1) };
}
