// The table of service tokens in SQL.

import type { Pool, PoolClient } from "pg";

/** Whatever runs a statement: the pool, or a transaction. */
export type Queryable = Pick<Pool | PoolClient, "query">;

/** A token that works, as a call needs it. `accountId` null: it acts for whichever account a call names. */
export type WorkingServiceToken = { readonly tokenId: string; readonly accountId: string | null };

/** A token as an operator sees it. */
export type ServiceToken = WorkingServiceToken & {
  readonly name: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

const COLUMNS = `
id AS "tokenId", account_id AS "accountId", name, prefix, last_four AS "lastFour",
created_at AS "createdAt", revoked_at AS "revokedAt"`;
const INSERT = `
INSERT INTO service_token (id, account_id, name, digest, prefix, last_four)
SELECT $1::uuid, $2::uuid, $3, $4::bytea, $5, $6
WHERE $2::uuid IS NULL OR EXISTS (SELECT FROM account WHERE id = $2::uuid) RETURNING ${COLUMNS}`;
const WORKING_BY_DIGEST = `
SELECT id AS "tokenId", account_id AS "accountId" FROM service_token WHERE digest = $1::bytea AND revoked_at IS NULL`;
const LIST = `SELECT ${COLUMNS} FROM service_token ORDER BY id DESC`;
const REVOKE = `
UPDATE service_token SET revoked_at = clock_timestamp() WHERE id = $1::uuid AND revoked_at IS NULL RETURNING ${COLUMNS}`;
const BY_ID = `SELECT ${COLUMNS} FROM service_token WHERE id = $1::uuid`;

/** Writes a token. Null: there is no such account. */
export async function insertServiceToken(
  client: Queryable,
  token: { tokenId: string; accountId: string | null; name: string; digest: Buffer; prefix: string; lastFour: string },
): Promise<ServiceToken | null> {
  const { tokenId, accountId, name, digest, prefix, lastFour } = token;
  const { rows } = await client.query<ServiceToken>(INSERT, [tokenId, accountId, name, digest, prefix, lastFour]);
  return rows[0] ?? null;
}

/** Reads the working token of a digest. Null: there is none, or it was revoked. */
export async function readWorkingServiceToken(client: Queryable, digest: Buffer): Promise<WorkingServiceToken | null> {
  const { rows } = await client.query<WorkingServiceToken>(WORKING_BY_DIGEST, [digest]);
  return rows[0] ?? null;
}

/** Reads every token, newest first. */
export async function readServiceTokens(client: Queryable): Promise<ServiceToken[]> {
  return (await client.query<ServiceToken>(LIST)).rows;
}

/** Marks a token as revoked, unless it was before. Null: there is no such token. */
export async function markServiceTokenRevoked(
  client: Queryable,
  tokenId: string,
): Promise<{ token: ServiceToken; isNew: boolean } | null> {
  const [revoked] = (await client.query<ServiceToken>(REVOKE, [tokenId])).rows;
  if (revoked !== undefined) return { token: revoked, isNew: true };
  const [known] = (await client.query<ServiceToken>(BY_ID, [tokenId])).rows;
  return known === undefined ? null : { token: known, isNew: false };
}
