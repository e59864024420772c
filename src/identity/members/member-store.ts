// Members of accounts in SQL. The person whose account it is (`auth.person.account_id`, the holder) is an owner without a row.

import type { Pool, PoolClient } from "pg";
import type { AccountRole } from "../principal.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** A person in an account. */
export type MemberId = { readonly accountId: string; readonly personId: string };

/** An account that a person may act for. */
export type Membership = {
  readonly accountId: string;
  readonly accountName: string;
  readonly role: AccountRole;
  readonly isOwn: boolean;
};

/** A member of an account. */
export type Member = {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly role: AccountRole;
  readonly isHolder: boolean;
  /** Null: since the account exists. */
  readonly joinedAt: Date | null;
};

const ROLE = `
SELECT CASE WHEN p.account_id = $1::uuid THEN 'owner' ELSE m.role END AS role
FROM auth.person p LEFT JOIN account_member m ON m.account_id = $1::uuid AND m.person_id = p.id
WHERE p.id = $2::uuid`;
const MEMBERS = `
SELECT p.id AS "personId", p.email, p.name, p.account_id IS NOT DISTINCT FROM $1::uuid AS "isHolder", m.created_at AS "joinedAt",
  CASE WHEN p.account_id = $1::uuid THEN 'owner' ELSE m.role END AS role
FROM (SELECT id AS person_id FROM auth.person WHERE account_id = $1::uuid
      UNION SELECT person_id FROM account_member WHERE account_id = $1::uuid) everyone
JOIN auth.person p ON p.id = everyone.person_id
LEFT JOIN account_member m ON m.account_id = $1::uuid AND m.person_id = p.id
ORDER BY 4 DESC, m.created_at, p.id LIMIT $2`;
const MEMBER_OF_EMAIL = `SELECT id AS "personId" FROM auth.person WHERE email = lower($1) AND email_verified`;
const MEMBERSHIPS = `
SELECT a.account_id AS "accountId", coalesce(c.name, c.email, '') AS "accountName", a.role, a.is_own AS "isOwn"
FROM (SELECT account_id, 'owner' AS role, true AS is_own FROM auth.person WHERE id = $1::uuid AND account_id IS NOT NULL
      UNION ALL
      SELECT m.account_id, m.role, false FROM account_member m JOIN auth.person p ON p.id = m.person_id
      WHERE m.person_id = $1::uuid AND m.account_id IS DISTINCT FROM p.account_id) a
LEFT JOIN customer c ON c.account_id = a.account_id
ORDER BY a.is_own DESC, 2, 1 LIMIT $2`;
const ACCOUNT_NAME = `SELECT coalesce(name, email) AS name FROM customer WHERE account_id = $1::uuid`;
const SET_ACCOUNT_NAME = `UPDATE customer SET name = $2 WHERE account_id = $1::uuid RETURNING coalesce(name, email) AS name`;
const INSERT = `
INSERT INTO account_member (account_id, person_id, role) VALUES ($1::uuid, $2::uuid, $3) ON CONFLICT DO NOTHING`;
const SET_ROLE = `UPDATE account_member SET role = $3 WHERE account_id = $1::uuid AND person_id = $2::uuid`;
const DELETE = `DELETE FROM account_member WHERE account_id = $1::uuid AND person_id = $2::uuid`;
const ACT_FOR = `UPDATE auth.session SET acts_for = $3::uuid WHERE id = $1::uuid AND user_id = $2::uuid`;

/** The role of a person in an account. Null: the person is no member. Exact behind the lock of the account. */
export async function readRole(client: Queryable, { accountId, personId }: MemberId): Promise<AccountRole | null> {
  return (await client.query<{ role: AccountRole | null }>(ROLE, [accountId, personId])).rows[0]?.role ?? null;
}

/** The members of an account, the holder first, then by when they joined. */
export async function readMembers(client: Queryable, accountId: string, limit: number): Promise<Member[]> {
  return (await client.query<Member>(MEMBERS, [accountId, limit])).rows;
}

/** The id of the person of a verified address. Null: there is none. */
export async function readPersonOfEmail(client: Queryable, email: string): Promise<string | null> {
  return (await client.query<{ personId: string }>(MEMBER_OF_EMAIL, [email])).rows[0]?.personId ?? null;
}

/** The accounts that a person may act for, the own one first. */
export async function readMemberships(client: Queryable, personId: string, limit: number): Promise<Membership[]> {
  return (await client.query<Membership>(MEMBERSHIPS, [personId, limit])).rows;
}

/** What an account is called: its name, or the address of its customer. */
export async function readAccountName(client: Queryable, accountId: string): Promise<string> {
  return (await client.query<{ name: string }>(ACCOUNT_NAME, [accountId])).rows[0]?.name ?? "";
}

/** Gives an account a name; null: none. Returns what it is called now. */
export async function writeAccountName(
  client: PoolClient,
  { accountId, name }: { accountId: string; name: string | null },
): Promise<string> {
  return (await client.query<{ name: string }>(SET_ACCOUNT_NAME, [accountId, name])).rows[0]?.name ?? "";
}

/** Makes a person a member. False: the person is one. */
export async function insertMember(
  client: PoolClient,
  { accountId, personId, role }: MemberId & { role: AccountRole },
): Promise<boolean> {
  return (await client.query(INSERT, [accountId, personId, role])).rowCount === 1;
}

/** Gives a member another role. */
export async function writeRole(
  client: PoolClient,
  { accountId, personId, role }: MemberId & { role: AccountRole },
): Promise<void> {
  await client.query(SET_ROLE, [accountId, personId, role]);
}

/** Removes a member. */
export async function deleteMember(client: PoolClient, { accountId, personId }: MemberId): Promise<void> {
  await client.query(DELETE, [accountId, personId]);
}

/** Lets a session of a person act for an account; null: for the own one. */
export async function writeActsFor(
  client: Queryable,
  { sessionId, personId, accountId }: { sessionId: string; personId: string; accountId: string | null },
): Promise<void> {
  await client.query(ACT_FOR, [sessionId, personId, accountId]);
}
