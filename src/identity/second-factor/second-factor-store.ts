// Authenticator apps, recovery codes and passkeys in SQL. better-auth reads the same rows through auth-tables.ts.

import type { Pool, PoolClient } from "pg";
import { sealPlain, type SecretColumns } from "../../database/secrets/secret-columns.ts";
import { readSecretForm } from "../../database/secrets/secret-state.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { openText } from "../../kernel/sealed-text.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** The secrets of apps. Inside they are encrypted under SALDO_AUTH_SECRET as well. */
export const APP_SECRETS: SecretColumns = {
  table: "auth.two_factor",
  id: "user_id",
  idType: "uuid",
  columns: ["secret"],
  nameOf: (_column, personId) => nameOfApp(personId),
  formerIs: "plain",
};

/** The name of an app's secret in its encryption. */
export function nameOfApp(personId: string): string {
  return `auth.two_factor.secret/${personId}`;
}

/** The app and the recovery codes of a person: the app's secret encrypted under SALDO_AUTH_SECRET, the codes hashed. */
export type StoredFactor = {
  readonly personId: string;
  readonly secret: string;
  /** The secret as its row has it. */
  readonly sealedSecret: string;
  readonly backupCodes: string;
  readonly isVerified: boolean;
};

export type StoredPasskey = {
  readonly passkeyId: string;
  readonly name: string | null;
  readonly aaguid: string | null;
  readonly createdAt: Date;
};

const FACTORS = `
SELECT user_id AS "personId", secret AS "sealedSecret", backup_codes AS "backupCodes", verified AS "isVerified" FROM auth.two_factor`;
const FACTOR = `${FACTORS} WHERE user_id = $1::uuid`;
// What an encrypted secret begins with inside is seen only once it is opened.
const OUTDATED = `
${FACTORS} WHERE NOT (starts_with(secret, $1) AND starts_with(backup_codes, '[')) AND ($2::uuid IS NULL OR user_id > $2::uuid)
ORDER BY user_id LIMIT $3`;
// A factor that was changed meanwhile was stored in the current form.
const REPLACE = `
UPDATE auth.two_factor SET secret = $4, backup_codes = $5 WHERE user_id = $1::uuid AND secret = $2 AND backup_codes = $3`;
const PASSKEYS = `
SELECT id AS "passkeyId", name, aaguid, created_at AS "createdAt" FROM auth.passkey
WHERE user_id = $1::uuid ORDER BY created_at, id LIMIT $2`;
const PASSKEY_OF = `SELECT FROM auth.passkey WHERE credential_id = $1 AND user_id = $2::uuid`;
// A working app is never replaced by one without a confirmed code.
const WRITE_APP = `
INSERT INTO auth.two_factor AS f (id, user_id, secret, backup_codes) VALUES ($1::uuid, $2::uuid, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret WHERE NOT f.verified`;
const WRITE_CODES = `
INSERT INTO auth.two_factor AS f (id, user_id, secret, backup_codes) VALUES ($1::uuid, $2::uuid, $3, $4)
ON CONFLICT (user_id) DO UPDATE SET backup_codes = excluded.backup_codes`;
const UNVERIFY_APP = `UPDATE auth.two_factor SET verified = false, secret = $2 WHERE user_id = $1::uuid AND verified`;
const DELETE_PASSKEY = `DELETE FROM auth.passkey WHERE id = $1::uuid AND user_id = $2::uuid`;
const DELETE_ALL_PASSKEYS = `DELETE FROM auth.passkey WHERE user_id = $1::uuid`;
const DELETE_FACTOR = `DELETE FROM auth.two_factor WHERE user_id = $1::uuid`;
const REFRESH = `
UPDATE auth.person p SET two_factor_enabled =
  EXISTS (SELECT FROM auth.two_factor f WHERE f.user_id = p.id AND f.verified)
  OR EXISTS (SELECT FROM auth.passkey k WHERE k.user_id = p.id)
WHERE id = $1::uuid RETURNING two_factor_enabled AS "isEnabled"`;
const LOCK_PERSON = `SELECT FROM auth.person WHERE id = $1::uuid FOR UPDATE`;
const PASSWORD = `SELECT password FROM auth.credential WHERE user_id = $1::uuid AND provider_id = 'credential'`;
const END_UNPROVED = `DELETE FROM auth.session WHERE user_id = $1::uuid AND NOT factor_proved`;
// Calls that are on their way with the old cookie still find their session.
const END_SOON = `
UPDATE auth.session SET expires_at = least(expires_at, clock_timestamp() + interval '1 minute') WHERE id = $1::uuid`;
const END_ALL = `DELETE FROM auth.session WHERE user_id = $1::uuid`;

export async function readFactor(client: Queryable, personId: string): Promise<StoredFactor | null> {
  const row = (await client.query<FactorRow>(FACTOR, [personId])).rows[0];
  return row === undefined ? null : openFactor(row);
}

/** A factor whose secret was not opened yet. */
export type FactorRow = Omit<StoredFactor, "secret">;

/** Errors: SecretUnreadable. */
export function openFactor(row: FactorRow): StoredFactor {
  return { ...row, secret: openText(nameOfApp(row.personId), row.sealedSecret) };
}

async function sealed(client: Queryable, personId: string, secret: string): Promise<string> {
  return sealPlain(nameOfApp(personId), secret, await readSecretForm(client));
}

/** Factors that may not be in the current form, by person. `current`: the beginning of a current secret. */
export async function readOutdatedFactors(
  client: Queryable,
  { current, after, limit }: { current: string; after: string | null; limit: number },
): Promise<FactorRow[]> {
  return (await client.query<FactorRow>(OUTDATED, [current, after, limit])).rows;
}

/** Stores the same factor in another form. False: it was changed meanwhile, and stays as it is. */
export async function replaceFactorSecrets(client: Queryable, was: StoredFactor, now: StoredFactor): Promise<boolean> {
  const secret = await sealed(client, was.personId, now.secret);
  const values = [was.personId, was.sealedSecret, was.backupCodes, secret, now.backupCodes];
  return (await client.query(REPLACE, values)).rowCount === 1;
}

/** The passkeys of a person, oldest first. */
export async function readPasskeys(client: Queryable, personId: string, limit: number): Promise<StoredPasskey[]> {
  return (await client.query<StoredPasskey>(PASSKEYS, [personId, limit])).rows;
}

/** Whether a browser's credential is a passkey of the person. */
export async function isPasskeyOf(client: Queryable, credentialId: string, personId: string): Promise<boolean> {
  return (await client.query(PASSKEY_OF, [credentialId, personId])).rowCount === 1;
}

/** Stores the secret of an app that is being set up. False: the person has an app that works. */
export async function writeApp(
  client: Queryable,
  { personId, secret, backupCodes }: { personId: string; secret: string; backupCodes: string },
): Promise<boolean> {
  const values = [uuidv7(), personId, await sealed(client, personId, secret), backupCodes];
  return (await client.query(WRITE_APP, values)).rowCount === 1;
}

/** Replaces the recovery codes; `secret` is for a person without an app. */
export async function writeRecoveryCodes(
  client: Queryable,
  { personId, secret, backupCodes }: { personId: string; secret: string; backupCodes: string },
): Promise<void> {
  await client.query(WRITE_CODES, [uuidv7(), personId, await sealed(client, personId, secret), backupCodes]);
}

/** Removes the app and leaves the recovery codes; `secret` replaces the app's. False: there was no app. */
export async function unverifyApp(client: Queryable, personId: string, secret: string): Promise<boolean> {
  return (await client.query(UNVERIFY_APP, [personId, await sealed(client, personId, secret)])).rowCount === 1;
}

export async function deletePasskey(client: Queryable, passkeyId: string, personId: string): Promise<boolean> {
  return (await client.query(DELETE_PASSKEY, [passkeyId, personId])).rowCount === 1;
}

/** Removes the app, the recovery codes and every passkey. False: there was nothing. */
export async function deleteFactors(client: PoolClient, personId: string): Promise<boolean> {
  const passkeys = (await client.query(DELETE_ALL_PASSKEYS, [personId])).rowCount ?? 0;
  const factors = (await client.query(DELETE_FACTOR, [personId])).rowCount ?? 0;
  await refreshHasFactor(client, personId);
  return passkeys + factors > 0;
}

/** Makes the person's mark agree with the stored factors. Returns whether the person has a second factor. */
export async function refreshHasFactor(client: Queryable, personId: string): Promise<boolean> {
  return (await client.query<{ isEnabled: boolean }>(REFRESH, [personId])).rows[0]?.isEnabled ?? false;
}

/** Locks a person's factors, so that one change happens at a time. */
export async function lockFactors(client: PoolClient, personId: string): Promise<void> {
  await client.query(LOCK_PERSON, [personId]);
}

export async function readPasswordHash(client: Queryable, personId: string): Promise<string | null> {
  return (await client.query<{ password: string | null }>(PASSWORD, [personId])).rows[0]?.password ?? null;
}

/** Ends the sessions of a person that have shown no second factor. */
export async function endUnprovedSessions(client: Queryable, personId: string): Promise<void> {
  await client.query(END_UNPROVED, [personId]);
}

/** Ends a session that another one has replaced. */
export async function endSessionSoon(client: Queryable, sessionId: string): Promise<void> {
  await client.query(END_SOON, [sessionId]);
}

export async function endAllSessions(client: Queryable, personId: string): Promise<void> {
  await client.query(END_ALL, [personId]);
}
