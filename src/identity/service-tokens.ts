// Tokens of internal services. One acts for a single account, or for each account that a call names; only an operator at the
// machine makes one, and it is shown once.

import type { Database } from "../database/database.ts";
import { type Clock } from "../kernel/clock.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { createSecretLookup, type SecretLookup } from "../kernel/credential-cache.ts";
import { digestSecretToken, newSecretToken } from "../kernel/secret-token.ts";
import type { TokenScope } from "./principal.ts";
import type { AccountChange } from "../operator/audit-log/account-changes.ts";
import { type CommandLine, withAuditLog, type OperatorContext } from "../operator/audit-log/operator-actions.ts";
import {
  insertServiceToken,
  markServiceTokenRevoked,
  type Queryable,
  readServiceTokens,
  readWorkingServiceToken,
  type ServiceToken,
  type WorkingServiceToken,
} from "./service-token-store.ts";

const PREFIX = "st_";
// `st_` and four characters, as with keys.
const SHOWN_PREFIX_LENGTH = 7;
const SHOWN_END_LENGTH = 4;
const MAX_NAME_LENGTH = 100;
/** How long a token works by default, and the longest it may. */
export const TOKEN_DAYS = 90;
export const MAX_TOKEN_DAYS = 366;

/** What a token is to be. `accountId` null: for each account that a call names. */
export type ServiceTokenRequest = {
  readonly accountId: string | null;
  readonly name: string;
  /** What it may do. Left out or empty: read. */
  readonly scopes?: readonly TokenScope[];
  /** How long it works. Left out: TOKEN_DAYS. */
  readonly days?: number;
};

/** A token as it was just made; the secret is here and nowhere else. */
export type IssuedServiceToken = { readonly token: ServiceToken; readonly secret: string };

/** Issues a token. Errors: NotFound when there is no such account, ValidationError. */
export async function issueServiceToken(
  client: Queryable,
  { accountId, name, scopes = [], days = TOKEN_DAYS }: ServiceTokenRequest,
): Promise<IssuedServiceToken> {
  if (name.trim() === "" || name.length > MAX_NAME_LENGTH) {
    throw problem("name", "name.length", `must be 1 to ${MAX_NAME_LENGTH} characters and not only spaces`);
  }
  if (new Set(scopes).size !== scopes.length) throw problem("scopes", "scopes.unique", "must name each scope once");
  if (!Number.isInteger(days) || days < 1 || days > MAX_TOKEN_DAYS) {
    throw problem("expires_in_days", "days.range", `must be 1 to ${MAX_TOKEN_DAYS}`);
  }
  const secret = newSecretToken(PREFIX);
  const token = await insertServiceToken(client, {
    tokenId: uuidv7(),
    accountId,
    name,
    digest: digestSecretToken(secret),
    prefix: secret.slice(0, SHOWN_PREFIX_LENGTH),
    lastFour: secret.slice(-SHOWN_END_LENGTH),
    scopes: scopes.length === 0 ? ["read"] : scopes,
    days,
  });
  if (token === null) throw new NotFound("There is no such account.");
  return { token, secret };
}

function problem(field: string, rule: string, message: string): ValidationError {
  return new ValidationError([{ field, rule, message }]);
}

/** The line of a new token in the operators' log. */
export function lineOfNewToken({ token }: IssuedServiceToken): CommandLine {
  const { tokenId, name, accountId, scopes, expiresAt } = token;
  const facts = { name, account: accountId, scopes: scopes.join(" "), expires: expiresAt.toISOString() };
  const shown = { name, scopes: scopes.join(" "), expires: expiresAt.toISOString() };
  const inAccount = ofAccount(token, { action: "service_token.created", facts: shown });
  return { action: "service-token create", subject: tokenId, reason: null, facts, inAccount };
}

/** Every token, newest first, revoked ones included. */
export function listServiceTokens({ pool }: Pick<Database, "pool">): Promise<ServiceToken[]> {
  return readServiceTokens(pool);
}

/** Revokes a token; no process takes a call of it afterwards. A repetition changes nothing. Errors: NotFound. */
export async function withdrawServiceToken(
  client: Queryable,
  tokenId: string,
): Promise<{ token: ServiceToken; isNew: boolean }> {
  const revoked = await markServiceTokenRevoked(client, tokenId);
  if (revoked === null) throw new NotFound("There is no such service token.");
  return revoked;
}

/** The same as an operator's command, with its line where it changes something. Errors: NotFound. */
export async function revokeServiceToken(by: OperatorContext, tokenId: string): Promise<ServiceToken> {
  const { token } = await withAuditLog(
    by,
    (client) => withdrawServiceToken(client, tokenId),
    ({ token: revoked, isNew }) => {
      if (!isNew) return null;
      const inAccount = ofAccount(revoked, { action: "service_token.revoked", facts: { name: revoked.name } });
      return { action: "service-token revoke", subject: tokenId, reason: null, inAccount };
    },
  );
  return token;
}

/** A change of a token in its account. Null: the token is of all accounts. */
function ofAccount(
  { tokenId, accountId }: ServiceToken,
  change: Pick<AccountChange, "action" | "facts">,
): AccountChange | null {
  return accountId === null ? null : { accountId, subject: tokenId, ...change };
}

/** The working token of a secret; null: there is none. */
export type VerifyServiceToken = (secret: string) => Promise<WorkingServiceToken | null>;

/** Makes the check of service tokens; what it remembers is at most five seconds old. */
export function createServiceTokenVerifier(
  { pool }: Pick<Database, "pool">,
  clock: Clock = { now: () => performance.now() },
): SecretLookup<WorkingServiceToken> {
  return createSecretLookup({ prefix: PREFIX, read: (digest) => readWorkingServiceToken(pool, digest), clock });
}
