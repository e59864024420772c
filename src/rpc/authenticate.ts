// Who is calling, from the credentials alone. Which credentials a method takes is authorise.ts's business.

import type { Environment, MerchantPrincipal, Principal } from "../accounts/principal.ts";
import type { VerifiedKey } from "../keys/keys.ts";
import type { Authorization } from "./call.ts";

/** What authentication needs of the rooms that own credentials. */
export type Verifiers = {
  verifyKey(secret: string): Promise<VerifiedKey | null>;
  verifyMerchant(pair: { apiKey: string; secretKey: string }): Promise<MerchantPrincipal | null>;
};

const PUBLIC: Principal = { kind: "public" };
const MAX_CREDENTIALS_LENGTH = 1024;
const SCHEME = /^([A-Za-z]+) +([\x21-\x7e]+)$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Makes the principal of a call. The scheme alone decides what is looked up: a gateway key is taken as Bearer only and a
 * merchant pair as Basic only. Missing, malformed, unknown and other-environment credentials all give the public.
 */
export async function authenticate(
  verifiers: Verifiers,
  authorization: Authorization,
  environment: Environment | null,
): Promise<Principal> {
  if (authorization === null || authorization.length > MAX_CREDENTIALS_LENGTH) return PUBLIC;
  const [, scheme = "", credentials = ""] = SCHEME.exec(authorization) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer": {
      const key = await verifiers.verifyKey(credentials);
      return key === null
        ? PUBLIC
        : { kind: "api_key", keyId: key.keyId, accountId: key.accountId, rateLimit: key.rateLimit };
    }
    case "basic": {
      const pair = readPair(credentials);
      const merchant = pair === null ? null : await verifiers.verifyMerchant(pair);
      return merchant === null || (environment !== null && merchant.environment !== environment) ? PUBLIC : merchant;
    }
    default:
      return PUBLIC;
  }
}

function readPair(credentials: string): { apiKey: string; secretKey: string } | null {
  if (!BASE64.test(credentials)) return null;
  const text = Buffer.from(credentials, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { apiKey: text.slice(0, colon), secretKey: text.slice(colon + 1) };
}
