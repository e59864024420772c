// The table of merchants' pairs. What has a digest is SQL, also the look-up of each call; the rest uses the entity manager.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../../database/orm.ts";
import type { Environment } from "../../identity/principal.ts";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";

const INSERT = `
INSERT INTO merchant_credential (id, merchant_id, key_digest, secret_digest, key_prefix)
VALUES ($1::uuid, $2::uuid, $3::bytea, $4::bytea, $5::text)`;
const WORKING = `
SELECT c.id AS "pairId", c.secret_digest AS "secretDigest", m.id AS "merchantId", m.environment
FROM merchant_credential c JOIN merchant m ON m.id = c.merchant_id
WHERE c.key_digest = $1::bytea AND c.revoked_at IS NULL`;
const DIGESTS = ["keyDigest", "secretDigest"] as const;

export type PairDigests = { readonly keyDigest: Buffer; readonly secretDigest: Buffer };

/** Adds a pair of a merchant. */
export async function insertPair(
  client: Pool | PoolClient,
  pair: PairDigests & { id: string; merchantId: string; keyPrefix: string },
): Promise<void> {
  await client.query(INSERT, [pair.id, pair.merchantId, pair.keyDigest, pair.secretDigest, pair.keyPrefix]);
}

export type StoredPair = {
  readonly pairId: string;
  readonly secretDigest: Buffer;
  readonly merchantId: string;
  readonly environment: Environment;
};

/** The pair of a key that is not revoked. */
export async function readPair(pool: Pool, keyDigest: Buffer): Promise<StoredPair | undefined> {
  return (await pool.query<StoredPair>(WORKING, [keyDigest])).rows[0];
}

/** A pair as it can be shown again: without either half. */
export type PairSummary = {
  readonly pairId: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

/** The pairs of a merchant, oldest first, revoked ones included. */
export async function readPairs(client: Pool | PoolClient, merchantId: string): Promise<PairSummary[]> {
  const { em, MerchantCredential } = await entitiesOn(client);
  const orderBy = { createdAt: "asc", id: "asc" } as const;
  return (await em.find(MerchantCredential, { merchantId }, { orderBy, exclude: DIGESTS })).map(fromRow);
}

/** Revokes a pair, of the merchant if one is named; a revoked one keeps its moment. Errors: NotFound. */
export async function markPairRevoked(
  client: PoolClient,
  { pairId, merchantId }: { pairId: string; merchantId?: string },
): Promise<PairSummary> {
  const { em, MerchantCredential, raw } = await entitiesOn(client);
  const where = { id: pairId, ...(merchantId === undefined ? {} : { merchantId }) };
  // Also a revoked one is written, so that this waits for the orders that hold its row.
  const revoked = { revokedAt: raw("coalesce(revoked_at, clock_timestamp())") };
  if (!isUuid(pairId) || (await em.nativeUpdate(MerchantCredential, where, revoked)) === 0) {
    throw new NotFound("There is no such pair.");
  }
  return fromRow(await em.findOneOrFail(MerchantCredential, { id: pairId }, { exclude: DIGESTS }));
}

/** Revokes every active pair. Returns their number. */
export async function revokeAllPairs(client: PoolClient): Promise<number> {
  const { em, MerchantCredential, raw } = await entitiesOn(client);
  return em.nativeUpdate(MerchantCredential, { revokedAt: null }, { revokedAt: raw("clock_timestamp()") });
}

type Row = {
  readonly id: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly revokedAt?: Date | null | undefined;
};

function fromRow({ id, keyPrefix, createdAt, revokedAt = null }: Row): PairSummary {
  return { pairId: id, keyPrefix, createdAt, revokedAt };
}
