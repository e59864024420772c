// The table of service tokens.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../database/orm.ts";
import type { TokenScope } from "./principal.ts";

/** What runs a statement: the pool, or a transaction. */
export type Queryable = Pool | PoolClient;

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

// The digest is a parameter: the entity manager would write it into the text of the statement.
const INSERT = `
INSERT INTO service_token (id, account_id, name, digest, prefix, last_four, scopes, expires_at)
SELECT $1::uuid, $2::uuid, $3, $4::bytea, $5, $6, $7::text[], clock_timestamp() + $8::int * interval '1 day'
WHERE $2::uuid IS NULL OR EXISTS (SELECT FROM account WHERE id = $2::uuid)`;
const WORKING_BY_DIGEST = `
SELECT id AS "tokenId", account_id AS "accountId", scopes FROM service_token
WHERE digest = $1::bytea AND revoked_at IS NULL AND expires_at > clock_timestamp()`;
const NOT_SHOWN = ["digest"] as const;

/** Writes a token. Null: there is no such account. */
export async function insertServiceToken(client: Queryable, token: NewServiceToken): Promise<ServiceToken | null> {
  const { tokenId, accountId, name, digest, prefix, lastFour, scopes, days } = token;
  const values = [tokenId, accountId, name, digest, prefix, lastFour, scopes, days];
  return (await client.query(INSERT, values)).rowCount === 1 ? readServiceToken(client, tokenId) : null;
}

/** Reads the working token of a digest. Null: there is none, it was revoked, or it has expired. */
export async function readWorkingServiceToken(client: Queryable, digest: Buffer): Promise<WorkingServiceToken | null> {
  const { rows } = await client.query<WorkingServiceToken>(WORKING_BY_DIGEST, [digest]);
  return rows[0] ?? null;
}

/** Reads every token, newest first. */
export async function readServiceTokens(pool: Pool): Promise<ServiceToken[]> {
  const { em, ServiceToken } = await entitiesOn(pool);
  return (await em.findAll(ServiceToken, { orderBy: { id: "desc" }, exclude: NOT_SHOWN })).map(fromRow);
}

async function readServiceToken(client: Queryable, id: string): Promise<ServiceToken | null> {
  const { em, ServiceToken } = await entitiesOn(client);
  const token = await em.findOne(ServiceToken, { id }, { exclude: NOT_SHOWN });
  return token === null ? null : fromRow(token);
}

/** Marks a token as revoked, unless it was before. Null: there is no such token. */
export async function markServiceTokenRevoked(
  client: Queryable,
  tokenId: string,
): Promise<{ token: ServiceToken; isNew: boolean } | null> {
  const { em, ServiceToken, raw } = await entitiesOn(client);
  const working = { id: tokenId, revokedAt: null };
  const revoked = await em.nativeUpdate(ServiceToken, working, { revokedAt: raw("clock_timestamp()") });
  const token = await readServiceToken(client, tokenId);
  return token === null ? null : { token, isNew: revoked === 1 };
}

/** Revokes every token that works. Returns how many there were. */
export async function revokeAllServiceTokens(client: Queryable): Promise<number> {
  const { em, ServiceToken, raw } = await entitiesOn(client);
  return em.nativeUpdate(ServiceToken, { revokedAt: null }, { revokedAt: raw("clock_timestamp()") });
}

type Row = Pick<ServiceToken, "name" | "prefix" | "lastFour" | "createdAt" | "expiresAt"> & {
  readonly id: string;
  readonly accountId: string | null | undefined;
  readonly scopes: string[];
  readonly lastUsedAt: Date | null | undefined;
  readonly revokedAt: Date | null | undefined;
};

function fromRow(row: Row): ServiceToken {
  return {
    tokenId: row.id,
    accountId: row.accountId ?? null,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.lastFour,
    scopes: row.scopes as TokenScope[],
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    lastUsedAt: row.lastUsedAt ?? null,
    revokedAt: row.revokedAt ?? null,
  };
}
