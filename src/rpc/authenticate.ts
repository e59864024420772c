// Who is calling, from the credentials alone. Which credentials a method takes is authorise.ts's business.

import { Caller } from "#gen/saldo/options/v1/options_pb.ts";
import type { SignedInPerson } from "../accounts/people.ts";
import type { Environment, MerchantPrincipal, Principal } from "../accounts/principal.ts";
import type { VerifyServiceToken } from "../accounts/service-tokens.ts";
import { NotFound } from "../kernel/errors.ts";
import type { VerifiedKey } from "../keys/keys.ts";
import type { Credentials } from "./call.ts";

/** What authentication needs of the rooms that own credentials. */
export type Verifiers = {
  verifyKey(secret: string): Promise<VerifiedKey | null>;
  verifyMerchant(pair: { apiKey: string; secretKey: string }): Promise<MerchantPrincipal | null>;
  readonly verifyServiceToken: VerifyServiceToken;
  /** Who is signed in by the cookies of a request; null when nobody is. */
  verifySession(cookies: string): Promise<SignedInPerson | null>;
  /** Whether there is an account of this id; any text may be asked about. */
  accountExists(accountId: string): Promise<boolean>;
};

/** What a method asks for: the environment its path names, if it names one, and the kinds of caller it takes. */
export type Wanted = { readonly environment: Environment | null; readonly callers: ReadonlySet<Caller> };

const PUBLIC: Principal = { kind: "public" };
const MAX_CREDENTIALS_LENGTH = 1024;
const SCHEME = /^([A-Za-z]+) +([\x21-\x7e]+)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const SERVICE_TOKEN_PREFIX = "st_";

/**
 * Makes the principal of a call. The scheme alone decides what is looked up: keys and service tokens are taken as Bearer
 * only, a merchant pair as Basic only, and cookies only where there is no Authorization header. Missing, malformed, unknown
 * and other-environment credentials all give the public. Errors: NotFound when a caller who may not act for it, or nobody,
 * has the account that the call names.
 */
export async function authenticate(verifiers: Verifiers, credentials: Credentials, wanted: Wanted): Promise<Principal> {
  const { authorization } = credentials;
  if (authorization === null) return ofCookies(verifiers, credentials, wanted);
  if (authorization.length > MAX_CREDENTIALS_LENGTH) return PUBLIC;
  const [, scheme = "", secret = ""] = SCHEME.exec(authorization) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer": {
      if (secret.startsWith(SERVICE_TOKEN_PREFIX)) return ofService(verifiers, secret, credentials.account);
      const key = await verifiers.verifyKey(secret);
      return key === null
        ? PUBLIC
        : { kind: "api_key", keyId: key.keyId, accountId: key.accountId, rateLimit: key.rateLimit };
    }
    case "basic": {
      const pair = readPair(secret);
      const merchant = pair === null ? null : await verifiers.verifyMerchant(pair);
      const { environment } = wanted;
      return merchant === null || (environment !== null && merchant.environment !== environment) ? PUBLIC : merchant;
    }
    default:
      return PUBLIC;
  }
}

async function ofService(verifiers: Verifiers, secret: string, account: string | null): Promise<Principal> {
  const token = await verifiers.verifyServiceToken(secret);
  if (token === null) return PUBLIC;
  const { tokenId, accountId } = token;
  if (account === null) return { kind: "service", tokenId, accountId: accountId ?? "" };
  const mayAct = accountId === null ? await verifiers.accountExists(account) : accountId === account;
  if (!mayAct) throw noAccount();
  return { kind: "service", tokenId, accountId: account };
}

async function ofCookies(verifiers: Verifiers, { cookies, account }: Credentials, wanted: Wanted): Promise<Principal> {
  if (cookies === null) return PUBLIC;
  const person = await verifiers.verifySession(cookies);
  if (person === null) return PUBLIC;
  const { sessionId, personId, email } = person;
  // Operators have an account of their own like anybody. They act as operators where people may not call at all, or where
  // they name the account they mean.
  const takesPeople = wanted.callers.has(Caller.SESSION);
  if (person.isOperator && wanted.callers.has(Caller.OPERATOR) && !(takesPeople && account === null)) {
    if (account !== null && !(await verifiers.accountExists(account))) throw noAccount();
    return { kind: "operator", sessionId, personId, email, accountId: account ?? "" };
  }
  if (account !== null && account !== person.accountId) throw noAccount();
  return { kind: "session", sessionId, personId, accountId: person.accountId };
}

function noAccount(): NotFound {
  return new NotFound("There is no such account.");
}

function readPair(credentials: string): { apiKey: string; secretKey: string } | null {
  if (!BASE64.test(credentials)) return null;
  const text = Buffer.from(credentials, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { apiKey: text.slice(0, colon), secretKey: text.slice(colon + 1) };
}
