// Invitations in SQL: an invitation is accepted, revoked or too old once, decided in one statement by the database's clock.

import type { Pool, PoolClient } from "pg";
import type { AccountRole } from "../principal.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** An invitation as it is listed. Its token is in the mail alone. */
export type Invite = {
  readonly inviteId: string;
  readonly email: string;
  readonly role: AccountRole;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** For how long an invitation is open. */
export const INVITE_DAYS = 7;

const IS_OPEN = `accepted_at IS NULL AND revoked_at IS NULL AND expires_at > clock_timestamp()`;
const SHOWN = `id AS "inviteId", email, role, created_at AS "createdAt", expires_at AS "expiresAt"`;
const INSERT = `
INSERT INTO account_invite (id, account_id, digest, email, role, invited_by, expires_at)
VALUES ($1::uuid, $2::uuid, $3::bytea, $4, $5, $6::uuid, clock_timestamp() + interval '${INVITE_DAYS} days')
RETURNING ${SHOWN}`;
const OPEN = `SELECT ${SHOWN} FROM account_invite WHERE account_id = $1::uuid AND ${IS_OPEN} ORDER BY id DESC LIMIT $2`;
const REVOKE = `
UPDATE account_invite SET revoked_at = clock_timestamp()
WHERE account_id = $1::uuid AND ${IS_OPEN} AND ($2::uuid IS NULL OR id = $2) AND ($3::text IS NULL OR email = $3)
  AND ($4::uuid IS NULL OR invited_by = $4)
RETURNING id AS "inviteId", email, role`;
const OPEN_TO = `SELECT role FROM account_invite WHERE account_id = $1::uuid AND email = $2 AND ${IS_OPEN}`;
const IS_THERE = `SELECT role FROM account_invite WHERE account_id = $1::uuid AND id = $2::uuid`;
const IS_NAMED = `(digest = $1::bytea OR id = $3::uuid) AND email = $2`;
const NAMED = `SELECT account_id AS "accountId", role FROM account_invite WHERE ${IS_NAMED} AND ${IS_OPEN}`;
const ACCEPT = `UPDATE account_invite SET accepted_at = clock_timestamp() WHERE ${IS_NAMED} AND ${IS_OPEN} RETURNING role`;
const RECEIVED = `
SELECT i.id AS "inviteId", i.role, i.expires_at AS "expiresAt", coalesce(c.name, c.email) AS "accountName"
FROM account_invite i JOIN customer c ON c.account_id = i.account_id
WHERE i.email = $1 AND ${IS_OPEN} ORDER BY i.id DESC LIMIT $2`;

/** An invitation to be written. */
export type NewInvite = {
  readonly inviteId: string;
  readonly accountId: string;
  readonly digest: Buffer;
  readonly email: string;
  readonly role: AccountRole;
  readonly invitedBy: string;
};

/** Writes an invitation. */
export async function insertInvite(client: PoolClient, invite: NewInvite): Promise<Invite> {
  const { inviteId, accountId, digest, email, role, invitedBy } = invite;
  const { rows } = await client.query<Invite>(INSERT, [inviteId, accountId, digest, email, role, invitedBy]);
  return rows[0] as Invite;
}

/** The open invitations of an account, newest first. */
export async function readOpenInvites(client: Queryable, accountId: string, limit: number): Promise<Invite[]> {
  return (await client.query<Invite>(OPEN, [accountId, limit])).rows;
}

/** The roles of the open invitations of an account to an address. */
export async function readOpenRoles(
  client: PoolClient,
  { accountId, email }: { accountId: string; email: string },
): Promise<AccountRole[]> {
  return (await client.query<{ role: AccountRole }>(OPEN_TO, [accountId, email])).rows.map(({ role }) => role);
}

/** What an invitation was that has been revoked. */
export type RevokedInvite = Pick<Invite, "inviteId" | "email" | "role">;

/** Revokes open invitations of an account: one, those to an address, or those by a person. Returns what they were. */
export async function revokeInvites(
  client: PoolClient,
  which: { accountId: string; inviteId?: string; email?: string; invitedBy?: string },
): Promise<RevokedInvite[]> {
  const values = [which.accountId, which.inviteId ?? null, which.email ?? null, which.invitedBy ?? null];
  return (await client.query<RevokedInvite>(REVOKE, values)).rows;
}

/** The role of an invitation of an account, open or not. Null: there is none. */
export async function readInviteRole(
  client: Queryable,
  { accountId, inviteId }: { accountId: string; inviteId: string },
): Promise<AccountRole | null> {
  return (await client.query<{ role: AccountRole }>(IS_THERE, [accountId, inviteId])).rows[0]?.role ?? null;
}

/** An invitation by what a person has of it: the token of the mail, or the id from the list of received invitations. */
export type InviteName = { readonly digest: Buffer } | { readonly inviteId: string };

/** What an invitation to an address is to. Null: none that is open. */
export async function readNamedInvite(
  client: Queryable,
  { name, email }: { name: InviteName; email: string },
): Promise<{ accountId: string; role: AccountRole } | null> {
  const { rows } = await client.query<{ accountId: string; role: AccountRole }>(NAMED, namedBy(name, email));
  return rows[0] ?? null;
}

/** Uses up an invitation to an address, and returns its role. Null: none that is open. */
export async function acceptNamedInvite(
  client: PoolClient,
  { name, email }: { name: InviteName; email: string },
): Promise<AccountRole | null> {
  return (await client.query<{ role: AccountRole }>(ACCEPT, namedBy(name, email))).rows[0]?.role ?? null;
}

function namedBy(name: InviteName, email: string): unknown[] {
  return "digest" in name ? [name.digest, email, null] : [null, email, name.inviteId];
}

/** An open invitation as the invited person sees it. */
export type ReceivedInvite = Pick<Invite, "inviteId" | "role" | "expiresAt"> & { readonly accountName: string };

/** The open invitations to an address, newest first. */
export async function readReceivedInvites(client: Queryable, email: string, limit: number): Promise<ReceivedInvite[]> {
  return (await client.query<ReceivedInvite>(RECEIVED, [email, limit])).rows;
}
