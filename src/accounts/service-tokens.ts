// Tokens of internal services. One acts for a single account, or for whichever account a call names; only an operator at the
// machine makes one, and it is shown once.

import type { Database } from "../database/database.ts";
import { type Clock } from "../kernel/clock.ts";
import { NotFound, ValidationError } from "../kernel/errors.ts";
import { uuidv7 } from "../kernel/ids.ts";
import { createSecretLookup } from "../kernel/secret-lookup.ts";
import { digestSecretToken, newSecretToken } from "../kernel/secret-token.ts";
import { doAndRecord, type OrderedBy } from "./operator-actions.ts";
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

/** A token as it was just made; the secret is here and nowhere else. */
export type IssuedServiceToken = { readonly token: ServiceToken; readonly secret: string };

/** Issues a token for one account, or for all where `accountId` is null. Errors: NotFound, ValidationError. */
export async function issueServiceToken(
  client: Queryable,
  { accountId, name }: { accountId: string | null; name: string },
): Promise<IssuedServiceToken> {
  if (name.trim() === "" || name.length > MAX_NAME_LENGTH) {
    const message = `must be 1 to ${MAX_NAME_LENGTH} characters and not only spaces`;
    throw new ValidationError([{ field: "name", rule: "name.length", message }]);
  }
  const secret = newSecretToken(PREFIX);
  const token = await insertServiceToken(client, {
    tokenId: uuidv7(),
    accountId,
    name,
    digest: digestSecretToken(secret),
    prefix: secret.slice(0, SHOWN_PREFIX_LENGTH),
    lastFour: secret.slice(-SHOWN_END_LENGTH),
  });
  if (token === null) throw new NotFound("There is no such account.");
  return { token, secret };
}

/** Every token, newest first, revoked ones included. */
export function listServiceTokens({ pool }: Pick<Database, "pool">): Promise<ServiceToken[]> {
  return readServiceTokens(pool);
}

/** Revokes a token; every process refuses it within five seconds. Again changes nothing. Errors: NotFound. */
export async function revokeServiceToken(
  client: Queryable,
  tokenId: string,
): Promise<{ token: ServiceToken; isNew: boolean }> {
  const revoked = await markServiceTokenRevoked(client, tokenId);
  if (revoked === null) throw new NotFound("There is no such service token.");
  return revoked;
}

/** The same as an operator's order, with its line where it changes something. Errors: NotFound. */
export async function orderTokenRevocation(by: OrderedBy, tokenId: string): Promise<ServiceToken> {
  const { token } = await doAndRecord(
    by,
    (client) => revokeServiceToken(client, tokenId),
    ({ isNew }) => (isNew ? { action: "service-token revoke", subject: tokenId, reason: null } : null),
  );
  return token;
}

/** Tells which token a secret is; null when it is none that works. */
export type VerifyServiceToken = (secret: string) => Promise<WorkingServiceToken | null>;

/** Makes the check of service tokens; what it remembers is at most five seconds old. */
export function createServiceTokenVerifier(
  { pool }: Pick<Database, "pool">,
  clock: Clock = { now: () => performance.now() },
): VerifyServiceToken {
  return createSecretLookup({ prefix: PREFIX, read: (digest) => readWorkingServiceToken(pool, digest), clock });
}
