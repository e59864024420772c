// Who is calling. rpc/ makes a Principal from the credentials of a call, once; everything behind it only reads it.

/** The two worlds of area B. A pair works in one of them only. */
export type Environment = "sandbox" | "production";

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

/** A caller that acts for an account without a gateway key. Sign-in and service tokens make these. */
export type AccountPrincipal = {
  readonly kind: "session" | "service" | "operator";
  readonly accountId: string;
};

export type Principal = { readonly kind: "public" } | ApiKeyPrincipal | MerchantPrincipal | AccountPrincipal;
