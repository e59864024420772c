// Who is calling. transport/calls/ makes a Principal from the credentials of a call, once; everything behind it only reads it.

/** The two environments of merchants. A key pair works in one of them only. */
export const ENVIRONMENTS = ["sandbox", "production"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

export type ApiKeyPrincipal = {
  readonly kind: "api_key";
  readonly accountId: string;
  readonly keyId: string;
  /** Requests in any 60 seconds; 0: no limit. */
  readonly rateLimit: number;
  /** The models that the key may ask: ids, or beginnings with an asterisk behind them. Absent: all. */
  readonly allowedModels?: readonly string[];
  /** The person who made the key. Absent: not a person, or not known. */
  readonly personId?: string;
  /** The networks whose clients may use the key. Absent: all. */
  readonly allowedNetworks?: readonly string[];
};

export type MerchantPrincipal = {
  readonly kind: "merchant";
  readonly merchantId: string;
  /** The pair it calls with. */
  readonly pairId: string;
  readonly environment: Environment;
};

/** How well a session has shown who its person is. Times are compared by the database's clock, when the session is read. */
export type SessionProof = {
  /** The person is an operator or owns a production merchant, so a second factor is required. */
  readonly mustHaveFactor: boolean;
  /** The person has an authenticator app or a passkey. */
  readonly hasFactor: boolean;
  /** This session was opened or confirmed with a second factor. */
  readonly isFactorProved: boolean;
  /** The last proof of this session is at most five minutes old. */
  readonly isRecent: boolean;
};

/** What a person may do in an account. `members/README.md` has the table. */
export const ACCOUNT_ROLES = ["owner", "admin", "developer", "billing", "viewer"] as const;
export type AccountRole = (typeof ACCOUNT_ROLES)[number];

/** A person who is signed in and acts for an account: the own one, or one that the person is a member of. */
export type SessionPrincipal = {
  readonly kind: "session";
  readonly sessionId: string;
  readonly personId: string;
  readonly email: string;
  /** The account that the session acts for. */
  readonly accountId: string;
  /** The person's own account. */
  readonly ownAccountId: string;
  /** The role in the account that the session acts for. Null: the person is not a member of it any more. */
  readonly role: AccountRole | null;
  readonly proof: SessionProof;
};

/** A signed-in person with the operator role, in a call that takes operators. */
export type OperatorPrincipal = {
  readonly kind: "operator";
  readonly sessionId: string;
  readonly personId: string;
  readonly email: string;
  /** The account the call names. Empty: it names none. */
  readonly accountId: string;
  readonly proof: SessionProof;
};

/** The scopes of service tokens; each method of the contracts names the one it needs. */
export const TOKEN_SCOPES = ["read", "keys", "top_ups", "settings", "merchants", "transfers"] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** An internal service. */
export type ServicePrincipal = {
  readonly kind: "service";
  readonly tokenId: string;
  readonly scopes: readonly TokenScope[];
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
