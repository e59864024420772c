// The table of service tokens.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../database/orm.ts";
import type { TokenScope } from "./principal.ts";

/** What runs a statement: the pool, or a transaction. */
export type Queryable = Pick<Pool | PoolClient, "query">;

/** A token that works, as a call needs it. `accountId` null: it acts for each account that a call names. */
export type WorkingServiceToken = {
  readonly tokenId: string;
  readonly accountId: string | null;
  readonly scopes: readonly TokenScope[];
};

/** A token as an operator sees it. */
export type ServiceToken = WorkingServiceToken & {
  readonly name: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Within five minutes. Null: never. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
};

/** A token to be written. The secret itself never comes here. */
export type NewServiceToken = Pick<
  ServiceToken,
  "tokenId" | "accountId" | "name" | "prefix" | "lastFour" | "scopes"
> & {
  readonly digest: Buffer;
  /** How long it works. */
  readonly days: number;
};

const COLUMNS = `
id AS "tokenId", account_id AS "accountId", name, prefix, last_four AS "lastFour",
scopes, created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt"`;
const INSERT = `
INSERT INTO service_token (id, account_id, name, digest, prefix, last_four, scopes, expires_at)
SELECT $1::uuid, $2::uuid, $3, $4::bytea, $5, $6, $7::text[], clock_timestamp() + $8::int * interval '1 day'
WHERE $2::uuid IS NULL OR EXISTS (SELECT FROM account WHERE id = $2::uuid) RETURNING ${COLUMNS}`;
const WORKING_BY_DIGEST = `
SELECT id AS "tokenId", account_id AS "accountId", scopes FROM service_token
WHERE digest = $1::bytea AND revoked_at IS NULL AND expires_at > clock_timestamp()`;
const REVOKE = `
UPDATE service_token SET revoked_at = clock_timestamp() WHERE id = $1::uuid AND revoked_at IS NULL RETURNING ${COLUMNS}`;
const REVOKE_ALL = `UPDATE service_token SET revoked_at = clock_timestamp() WHERE revoked_at IS NULL`;
const BY_ID = `SELECT ${COLUMNS} FROM service_token WHERE id = $1::uuid`;

/** Writes a token. Null: there is no such account. */
export async function insertServiceToken(client: Queryable, token: NewServiceToken): Promise<ServiceToken | null> {
  const { tokenId, accountId, name, digest, prefix, lastFour, scopes, days } = token;
  const values = [tokenId, accountId, name, digest, prefix, lastFour, scopes, days];
  const { rows } = await client.query<ServiceToken>(INSERT, values);
  return rows[0] ?? null;
}

/** Reads the working token of a digest. Null: there is none, it was revoked, or it has expired. */
export async function readWorkingServiceToken(client: Queryable, digest: Buffer): Promise<WorkingServiceToken | null> {
  const { rows } = await client.query<WorkingServiceToken>(WORKING_BY_DIGEST, [digest]);
  return rows[0] ?? null;
}

/** Reads every token, newest first. */
export async function readServiceTokens(pool: Pool): Promise<ServiceToken[]> {
  const { em, ServiceToken } = await entitiesOn(pool);
  const tokens = await em.findAll(ServiceToken, { orderBy: { id: "desc" }, exclude: ["digest"] });
  return tokens.map(
    ({ id, accountId, name, prefix, lastFour, scopes, createdAt, expiresAt, lastUsedAt, revokedAt }) => ({
      tokenId: id,
      accountId: accountId ?? null,
      name,
      prefix,
      lastFour,
      scopes: scopes as TokenScope[],
      createdAt,
      expiresAt,
      lastUsedAt: lastUsedAt ?? null,
      revokedAt: revokedAt ?? null,
    }),
  );
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

/** Revokes every token that works. Returns how many there were. */
export async function revokeAllServiceTokens(client: Queryable): Promise<number> {
  return (await client.query(REVOKE_ALL)).rowCount ?? 0;
}
