// SQL of merchants, which orders, quotes and a start read.

import type { Pool, PoolClient } from "pg";
import type { Environment } from "../../identity/principal.ts";
import { NotFound } from "../../kernel/errors.ts";
import { isUuid } from "../../kernel/ids.ts";

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
