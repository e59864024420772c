// People and their sessions in SQL, as calls and this room's own use cases need them. What better-auth does with the same
// tables goes through auth-tables.ts.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../kernel/ids.ts";
import type { Language } from "../kernel/preferred-language.ts";
import type { AccountRole, SessionProof } from "./principal.ts";
import { OPERATOR_IDLE_MINUTES, OPERATOR_SESSION_HOURS, proofColumns, type ProofSettings } from "./session-proof.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** A session ends after this even while it is used: then the password is asked for again. */
export const SESSION_LIVES_DAYS = 30;

export type SessionRow = {
  readonly sessionId: string;
  readonly personId: string;
  readonly email: string;
  readonly isOperator: boolean;
  /** The person's own account. Null: it is not created yet. */
  readonly ownAccountId: string | null;
  /** The account that the session acts for. Null: the own one, which is not created yet. */
  readonly accountId: string | null;
  /** The role in that account. Null: none any more. */
  readonly role: AccountRole | null;
  readonly proof: SessionProof;
};

type StoredSession = Omit<SessionRow, "proof"> & SessionProof & { readonly isLongUnseen: boolean };

export type PersonRow = {
  readonly personId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  readonly isOperator: boolean;
  readonly accountId: string | null;
};

/** A session as its person sees it. */
export type SessionSummary = {
  readonly sessionId: string;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string;
};

// An operator's session is worth more to a thief, so it ends after hours.
const IS_ALIVE = `s.expires_at > clock_timestamp() AND s.created_at > clock_timestamp() - interval '${SESSION_LIVES_DAYS} days'
  AND (NOT p.is_operator OR (s.created_at > clock_timestamp() - interval '${OPERATOR_SESSION_HOURS} hours'
    AND coalesce(s.seen_at, s.created_at) > clock_timestamp() - interval '${OPERATOR_IDLE_MINUTES} minutes'))`;
const SESSION_OF_TOKEN = `
SELECT s.id AS "sessionId", p.id AS "personId", p.email, p.is_operator AS "isOperator", p.account_id AS "ownAccountId",
  coalesce(s.acts_for, p.account_id) AS "accountId",
  CASE WHEN s.acts_for IS NULL OR s.acts_for = p.account_id THEN 'owner' ELSE own.role END AS role,
  ${proofColumns("$2::boolean", "$3::boolean")},
  coalesce(s.seen_at, s.created_at) < clock_timestamp() - interval '1 minute' AS "isLongUnseen"
FROM auth.session s JOIN auth.person p ON p.id = s.user_id
LEFT JOIN account_member own ON own.account_id = s.acts_for AND own.person_id = p.id
WHERE s.token_digest = $1::bytea AND ${IS_ALIVE} AND p.email_verified`;
const PERSON = `
SELECT id AS "personId", email, email_verified AS "emailVerified", name, is_operator AS "isOperator", account_id AS "accountId"
FROM auth.person`;
const PERSON_OF_EMAIL = `SELECT id FROM auth.person WHERE email = lower($1)`;
const SET_ACCOUNT = `UPDATE auth.person SET account_id = $2::uuid WHERE id = $1::uuid`;
const HAS_OWNER = `SELECT FROM auth.person WHERE account_id = $1::uuid`;
const ACCOUNT_EXISTS = `SELECT FROM account WHERE id = $1::uuid`;
const SESSIONS = `
SELECT s.id AS "sessionId", s.created_at AS "createdAt", coalesce(s.seen_at, s.updated_at) AS "lastSeenAt", s.expires_at AS "expiresAt",
       coalesce(s.ip_address, '') AS address, coalesce(s.user_agent, '') AS "userAgent"
FROM auth.session s JOIN auth.person p ON p.id = s.user_id
WHERE s.user_id = $1::uuid AND ${IS_ALIVE} ORDER BY s.id DESC LIMIT $2`;
const SET_PASSWORD = `
INSERT INTO auth.credential (id, user_id, account_id, provider_id, password, created_at, updated_at)
VALUES ($1::uuid, $2::uuid, $3, 'credential', $4, clock_timestamp(), clock_timestamp())
ON CONFLICT (user_id, provider_id) DO UPDATE SET password = excluded.password, updated_at = excluded.updated_at`;
// Kept until the account exists. The row is deleted at its end if its person never comes.
const KEEP_LANGUAGE = `
INSERT INTO auth.verification (id, identifier, value, expires_at, created_at, updated_at)
SELECT $1::uuid, $3, $4, clock_timestamp() + interval '30 days', clock_timestamp(), clock_timestamp()
FROM auth.person WHERE id = $2::uuid AND account_id IS NULL`;
const TAKE_LANGUAGE = `DELETE FROM auth.verification WHERE identifier = $1 RETURNING value, created_at AS "keptAt"`;
const SET_LANGUAGE = `UPDATE customer SET language = $2 WHERE account_id = $1::uuid`;
const DELETE_SESSION = `DELETE FROM auth.session WHERE id = $1::uuid AND user_id = $2::uuid`;

// At most once a minute and session: each time is a write.
const NOTE_SEEN = `
UPDATE auth.session SET seen_at = clock_timestamp()
WHERE id = $1::uuid AND coalesce(seen_at, created_at) < clock_timestamp() - interval '1 minute'`;

/** The person of a session's token, and the proofs of the session. Null: the session does not exist or has ended. */
export async function readSession(
  client: Queryable,
  { tokenDigest, isDemo, factorForAll = false }: { tokenDigest: Buffer } & ProofSettings,
): Promise<SessionRow | null> {
  const { rows } = await client.query<StoredSession>(SESSION_OF_TOKEN, [tokenDigest, isDemo, factorForAll]);
  if (rows[0] === undefined) return null;
  const { mustHaveFactor, hasFactor, isFactorProved, isRecent, isLongUnseen, ...session } = rows[0];
  if (isLongUnseen) await client.query(NOTE_SEEN, [session.sessionId]);
  return { ...session, proof: { mustHaveFactor, hasFactor, isFactorProved, isRecent } };
}

/** A person; locked until the transaction ends. */
export async function lockPerson(client: PoolClient, personId: string): Promise<PersonRow | null> {
  return (await client.query<PersonRow>(`${PERSON} WHERE id = $1::uuid FOR NO KEY UPDATE`, [personId])).rows[0] ?? null;
}

export async function readPerson(client: Queryable, personId: string): Promise<PersonRow | null> {
  return (await client.query<PersonRow>(`${PERSON} WHERE id = $1::uuid`, [personId])).rows[0] ?? null;
}

/** The id of the person of an e-mail address, whatever its case. Null: there is none. */
export async function personOfEmail(client: Queryable, email: string): Promise<string | null> {
  return (await client.query<{ id: string }>(PERSON_OF_EMAIL, [email])).rows[0]?.id ?? null;
}

export async function writeAccountOfPerson(
  client: PoolClient,
  { personId, accountId }: { personId: string; accountId: string },
): Promise<void> {
  await client.query(SET_ACCOUNT, [personId, accountId]);
}

/** Sets a person's password, in place of an earlier one. */
export async function writePassword(
  client: Queryable,
  { personId, hash }: { personId: string; hash: string },
): Promise<void> {
  await client.query(SET_PASSWORD, [uuidv7(), personId, personId, hash]);
}

/** Keeps the language in which a person has signed up, until the account exists. A person with an account keeps that of the account. */
export async function keepSignUpLanguage(
  client: Queryable,
  { personId, language }: { personId: string; language: Language },
): Promise<void> {
  await client.query(KEEP_LANGUAGE, [uuidv7(), personId, languageOf(personId), language]);
}

/** Makes the last kept language of a sign-up that of the person's new account. */
export async function applySignUpLanguage(
  client: PoolClient,
  { personId, accountId }: { personId: string; accountId: string },
): Promise<void> {
  const { rows } = await client.query<{ value: Language; keptAt: Date }>(TAKE_LANGUAGE, [languageOf(personId)]);
  const last = rows.toSorted((one, other) => Number(one.keptAt) - Number(other.keptAt)).at(-1);
  if (last !== undefined) await client.query(SET_LANGUAGE, [accountId, last.value]);
}

function languageOf(personId: string): string {
  return `sign-up-language:${personId}`;
}

/** Whether an account has a person already. */
export async function hasOwner(client: PoolClient, accountId: string): Promise<boolean> {
  return (await client.query(HAS_OWNER, [accountId])).rowCount !== 0;
}

export async function readAccountExists(client: Queryable, accountId: string): Promise<boolean> {
  return (await client.query(ACCOUNT_EXISTS, [accountId])).rowCount === 1;
}

/** The living sessions of a person, newest first. */
export async function readSessions(client: Queryable, personId: string, limit: number): Promise<SessionSummary[]> {
  return (await client.query<SessionSummary>(SESSIONS, [personId, limit])).rows;
}

/** Ends a session of a person. False: there is none. */
export async function deleteSession(
  client: Queryable,
  { sessionId, personId }: { sessionId: string; personId: string },
): Promise<boolean> {
  return (await client.query(DELETE_SESSION, [sessionId, personId])).rowCount === 1;
}
