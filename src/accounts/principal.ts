// Who is calling. rpc/ makes a Principal from the credentials of a call, once; everything behind it only reads it.

/** The two worlds of area B. A pair works in one of them only. */
export const ENVIRONMENTS = ["sandbox", "production"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export type ApiKeyPrincipal = {
  readonly kind: "api_key";
  readonly accountId: string;
  readonly keyId: string;
  /** Requests in any 60 seconds; 0: no limit. */
  readonly rateLimit: number;
};

export type MerchantPrincipal = {
  readonly kind: "merchant";
  readonly merchantId: string;
  readonly environment: Environment;
};

/** A person who is signed in and acts for the own account. */
export type SessionPrincipal = {
  readonly kind: "session";
  readonly sessionId: string;
  readonly personId: string;
  readonly accountId: string;
};

/** A signed-in person with the operator role, in a call that takes operators. */
export type OperatorPrincipal = {
  readonly kind: "operator";
  readonly sessionId: string;
  readonly personId: string;
  readonly email: string;
  /** The account the call names. Empty: it names none. */
  readonly accountId: string;
};

/** An internal service. */
export type ServicePrincipal = {
  readonly kind: "service";
  readonly tokenId: string;
  /** The account the call acts for. Empty: the token may act for any, and the call names none. */
  readonly accountId: string;
};

export type Principal =
  | { readonly kind: "public" }
  | ApiKeyPrincipal
  | MerchantPrincipal
  | SessionPrincipal
  | OperatorPrincipal
  | ServicePrincipal;
