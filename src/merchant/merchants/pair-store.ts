// The table of merchants' pairs. What has a digest is SQL, also the look-up of each call; the rest uses the entity manager.

import type { Pool, PoolClient } from "pg";
import { entitiesOn } from "../../database/orm.ts";
import { waitForLocks } from "../../database/transactions.ts";
import type { Environment } from "../../identity/principal.ts";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";

const INSERT = `
INSERT INTO merchant_credential (id, merchant_id, key_digest, secret_digest, key_prefix, person_id)
VALUES ($1::uuid, $2::uuid, $3::bytea, $4::bytea, $5::text, $6::uuid)`;
const WORKING = `
SELECT c.id AS "pairId", c.secret_digest AS "secretDigest", m.id AS "merchantId", m.environment
FROM merchant_credential c JOIN merchant m ON m.id = c.merchant_id
WHERE c.key_digest = $1::bytea AND c.revoked_at IS NULL`;
const REVOKE_OF_PERSON = `
UPDATE merchant_credential SET revoked_at = clock_timestamp()
WHERE person_id = $2::uuid AND revoked_at IS NULL AND merchant_id IN (SELECT id FROM merchant WHERE account_id = $1::uuid)`;
const DIGESTS = ["keyDigest", "secretDigest"] as const;

export type PairDigests = { readonly keyDigest: Buffer; readonly secretDigest: Buffer };

/** Adds a pair of a merchant. `personId` null: no member made it. */
export async function insertPair(
  client: Pool | PoolClient,
  pair: PairDigests & { id: string; merchantId: string; keyPrefix: string; personId: string | null },
): Promise<void> {
  const { id, merchantId, keyDigest, secretDigest, keyPrefix, personId } = pair;
  await client.query(INSERT, [id, merchantId, keyDigest, secretDigest, keyPrefix, personId]);
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

/**
 * Revokes the pairs that a person has made for merchants of an account, behind the lock of the account. It waits for their orders that are
 * under way. Returns how many.
 */
export async function revokePairsOfPerson(
  client: PoolClient,
  { accountId, personId }: { accountId: string; personId: string },
): Promise<number> {
  await waitForLocks(client);
  return (await client.query(REVOKE_OF_PERSON, [accountId, personId])).rowCount ?? 0;
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
