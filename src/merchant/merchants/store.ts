// SQL of merchants, their credentials and fees, which change rarely.

import type { Pool, PoolClient } from "pg";
import type { Environment } from "../../identity/principal.ts";
import { formatDecimal, parseDecimal } from "../../kernel/decimal.ts";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";
import { FEE_DECIMALS, type FeeRow } from "./fee-schedule.ts";

/** A pool, or a client inside a transaction. */
export type Queryable = Pick<Pool | PoolClient, "query">;

const INSERT_MERCHANT = `
INSERT INTO merchant (id, account_id, environment)
SELECT $1::uuid, a.id, $3::text FROM account a WHERE a.id = $2::uuid`;
const MERCHANT = `SELECT environment, account_id AS "accountId" FROM merchant WHERE id = $1::uuid`;
const IS_OWNER_FROZEN = `
SELECT a.frozen_at IS NOT NULL AS is_frozen FROM merchant m JOIN account a ON a.id = m.account_id WHERE m.id = $1::uuid`;
const MERCHANTS_OF = `
SELECT id AS "merchantId", environment, created_at AS "createdAt" FROM merchant WHERE account_id = $1::uuid ORDER BY created_at, id`;
const MERCHANT_OF = `SELECT environment FROM merchant WHERE id = $1::uuid AND account_id = $2::uuid`;

const INSERT_PAIR = `
INSERT INTO merchant_credential (id, merchant_id, key_digest, secret_digest, key_prefix)
VALUES ($1::uuid, $2::uuid, $3::bytea, $4::bytea, $5::text)`;
const PAIR = `
SELECT c.id AS "pairId", c.secret_digest AS "secretDigest", m.id AS "merchantId", m.environment
FROM merchant_credential c JOIN merchant m ON m.id = c.merchant_id
WHERE c.key_digest = $1::bytea AND c.revoked_at IS NULL`;
const PAIR_COLUMNS = `id AS "pairId", key_prefix AS "keyPrefix", created_at AS "createdAt", revoked_at AS "revokedAt"`;
const PAIRS_OF = `
SELECT ${PAIR_COLUMNS} FROM merchant_credential WHERE merchant_id = $1::uuid ORDER BY created_at, id`;
const REVOKE_PAIR = `
UPDATE merchant_credential SET revoked_at = coalesce(revoked_at, clock_timestamp())
WHERE id = $1::uuid AND ($2::uuid IS NULL OR merchant_id = $2) RETURNING ${PAIR_COLUMNS}`;

const REVOKE_ALL_PAIRS = `UPDATE merchant_credential SET revoked_at = clock_timestamp() WHERE revoked_at IS NULL`;

/** The columns of a row of the fee schedule, for fromFeeColumns. */
export const FEE_COLUMNS = `id, merchant_id, currency_code, version, flat, rate, min, max, created_at`;
const FEE_ROWS = `
SELECT DISTINCT ON (merchant_id, currency_code) ${FEE_COLUMNS} FROM fee_schedule
WHERE (merchant_id = $1::uuid OR merchant_id IS NULL) AND (currency_code = $2::text OR currency_code IS NULL)
ORDER BY merchant_id, currency_code, version DESC`;
const CURRENT_FEE = `
SELECT ${FEE_COLUMNS} FROM fee_schedule
WHERE merchant_id IS NOT DISTINCT FROM $1::uuid AND currency_code IS NOT DISTINCT FROM $2::text ORDER BY version DESC LIMIT 1`;
const INSERT_FEE = `
INSERT INTO fee_schedule (id, merchant_id, currency_code, version, flat, rate, min, max)
VALUES ($1::uuid, $2::uuid, $3::text, $8::integer, $4::text, $5::text, $6::text, $7::text)
ON CONFLICT DO NOTHING RETURNING ${FEE_COLUMNS}`;

/** Adds a merchant of an account. Errors: NotFound. */
export async function insertMerchant(
  client: Queryable,
  merchant: { id: string; accountId: string; environment: Environment },
): Promise<void> {
  const values = [merchant.id, merchant.accountId, merchant.environment];
  const inserted = isUuid(merchant.accountId) && (await client.query(INSERT_MERCHANT, values)).rowCount === 1;
  if (!inserted) throw new NotFound("There is no such account.");
}

/** Whose a merchant is, and its environment. */
export type MerchantOwner = { readonly accountId: string; readonly environment: Environment };

/** Reads whose a merchant is. Errors: NotFound. */
export async function readOwner(client: Queryable, merchantId: string): Promise<MerchantOwner> {
  const { rows } = await client.query<MerchantOwner>(MERCHANT, [isUuid(merchantId) ? merchantId : null]);
  if (rows[0] === undefined) throw new NotFound("There is no such merchant.");
  return rows[0];
}

/** The environment of a merchant. Errors: NotFound. */
export async function requireMerchant(client: Queryable, merchantId: string): Promise<Environment> {
  return (await readOwner(client, merchantId)).environment;
}

/** Whether the operator has frozen the account that a merchant belongs to. */
export async function isOwnerFrozen(client: Queryable, merchantId: string): Promise<boolean> {
  return (await client.query<{ is_frozen: boolean }>(IS_OWNER_FROZEN, [merchantId])).rows[0]?.is_frozen === true;
}

/** A merchant as its account lists it. */
export type MerchantSummary = {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly createdAt: Date;
};

/** The merchants of an account, oldest first. */
export async function readMerchants(client: Queryable, accountId: string): Promise<MerchantSummary[]> {
  return (await client.query<MerchantSummary>(MERCHANTS_OF, [accountId])).rows;
}

/** The environment of a merchant of an account. Errors: NotFound, also for another account's merchant. */
export async function requireMerchantOf(
  client: Queryable,
  { merchantId, accountId }: { merchantId: string; accountId: string },
): Promise<Environment> {
  const { rows } = await client.query<{ environment: Environment }>(MERCHANT_OF, [merchantId, accountId]);
  if (rows[0] === undefined) throw new NotFound("There is no such merchant.");
  return rows[0].environment;
}

export type PairDigests = { readonly keyDigest: Buffer; readonly secretDigest: Buffer };

/** Adds a pair of a merchant. */
export async function insertPair(
  client: Queryable,
  pair: PairDigests & { id: string; merchantId: string; keyPrefix: string },
): Promise<void> {
  await client.query(INSERT_PAIR, [pair.id, pair.merchantId, pair.keyDigest, pair.secretDigest, pair.keyPrefix]);
}

export type StoredPair = {
  readonly pairId: string;
  readonly secretDigest: Buffer;
  readonly merchantId: string;
  readonly environment: Environment;
};

/** The pair of a key that is not revoked. */
export async function readPair(client: Queryable, keyDigest: Buffer): Promise<StoredPair | undefined> {
  return (await client.query<StoredPair>(PAIR, [keyDigest])).rows[0];
}

/** A pair as it can be shown again: without either half. */
export type PairSummary = {
  readonly pairId: string;
  readonly keyPrefix: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
};

/** The pairs of a merchant, oldest first, revoked ones included. */
export async function readPairs(client: Queryable, merchantId: string): Promise<PairSummary[]> {
  return (await client.query<PairSummary>(PAIRS_OF, [merchantId])).rows;
}

/** Revokes a pair, of the merchant if one is named; a revoked one keeps its moment. Errors: NotFound. */
export async function markPairRevoked(
  client: Queryable,
  { pairId, merchantId = null }: { pairId: string; merchantId?: string | null },
): Promise<PairSummary> {
  const { rows } = await client.query<PairSummary>(REVOKE_PAIR, [isUuid(pairId) ? pairId : null, merchantId]);
  if (rows[0] === undefined) throw new NotFound("There is no such pair.");
  return rows[0];
}

export type FeeColumns = {
  id: string;
  merchant_id: string | null;
  currency_code: string | null;
  version: number;
  flat: string;
  rate: string;
  min: string | null;
  max: string | null;
  created_at: Date;
};

/** The newest version of each scope that fits a transfer: four rows at most. */
export async function readFeeRows(
  client: Queryable,
  transfer: { merchantId: string; currencyCode: string },
): Promise<FeeRow[]> {
  const { rows } = await client.query<FeeColumns>(FEE_ROWS, [transfer.merchantId, transfer.currencyCode]);
  return rows.map(fromFeeColumns);
}

/** Adds a version of a scope; undefined when another writer took that version. */
export async function insertFeeVersion(client: Queryable, fee: Omit<FeeRow, "createdAt">): Promise<FeeRow | undefined> {
  const { rows } = await client.query<FeeColumns>(INSERT_FEE, [
    fee.id,
    fee.merchantId,
    fee.currencyCode,
    printTerm(fee.flat),
    printTerm(fee.rate),
    fee.min === null ? null : printTerm(fee.min),
    fee.max === null ? null : printTerm(fee.max),
    fee.version,
  ]);
  return rows[0] && fromFeeColumns(rows[0]);
}

/** The newest row of a scope; undefined: it has none. */
export async function readFeeVersion(
  client: Queryable,
  { merchantId, currencyCode }: Pick<FeeRow, "merchantId" | "currencyCode">,
): Promise<FeeRow | undefined> {
  const { rows } = await client.query<FeeColumns>(CURRENT_FEE, [merchantId, currencyCode]);
  return rows[0] && fromFeeColumns(rows[0]);
}

/** A row of the fee schedule as the rules use it. */
export function fromFeeColumns(row: FeeColumns): FeeRow {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    currencyCode: row.currency_code,
    version: row.version,
    flat: parseTerm(row.flat),
    rate: parseTerm(row.rate),
    min: row.min === null ? null : parseTerm(row.min),
    max: row.max === null ? null : parseTerm(row.max),
    createdAt: row.created_at,
  };
}

function printTerm(term: bigint): string {
  return formatDecimal(term, FEE_DECIMALS);
}

function parseTerm(text: string): bigint {
  return parseDecimal(text, FEE_DECIMALS);
}

/** Revokes every active pair. Returns their number. */
export async function revokeAllPairs(client: PoolClient): Promise<number> {
  return (await client.query(REVOKE_ALL_PAIRS)).rowCount ?? 0;
}
