// Operators' lists of merchants and fees: newest first, page by page.

import type { Pool } from "pg";
import { entitiesOn } from "../../database/orm.ts";
import type { Environment } from "../../identity/principal.ts";
import type { FeeRow } from "./fee-schedule.ts";
import { FEE_COLUMNS, type FeeColumns, fromFeeColumns, type Queryable } from "./store.ts";

const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
const FIND_FEES = `
SELECT * FROM (
  SELECT ${FEE_COLUMNS}, version = (
    SELECT max(version) FROM fee_schedule n
    WHERE n.merchant_id IS NOT DISTINCT FROM f.merchant_id AND n.currency_code IS NOT DISTINCT FROM f.currency_code) AS is_current
  FROM fee_schedule f
) fee
WHERE id < $1::uuid AND ($2::uuid IS NULL OR merchant_id = $2::uuid) AND (is_current OR $3::boolean)
ORDER BY id DESC LIMIT $4::int`;

/** A merchant as an operator sees it. */
export type ListedMerchant = {
  readonly merchantId: string;
  readonly accountId: string;
  readonly environment: Environment;
  readonly createdAt: Date;
};

/** Merchants, newest first, with ids before `beforeId`; of one account, or of all. */
export async function findMerchants(
  pool: Pool,
  { accountId = null, beforeId, limit }: { accountId?: string | null; beforeId: string | null; limit: number },
): Promise<ListedMerchant[]> {
  const { em, Merchant } = await entitiesOn(pool);
  const where = { id: { $lt: beforeId ?? LAST_UUID }, ...(accountId === null ? {} : { accountId }) };
  const merchants = await em.find(Merchant, where, { orderBy: { id: "desc" }, limit });
  return merchants.map(({ id, accountId: owner, environment, createdAt }) => ({
    merchantId: id,
    accountId: owner,
    environment: environment as Environment,
    createdAt,
  }));
}

/** A row of the fee schedule with its place in it. */
export type ScheduledFee = FeeRow & {
  /** Whether it is the newest of its scope. */
  readonly isCurrent: boolean;
};

/** The rows of the fee schedule to list: of one merchant or of all, and whether replaced ones are included. */
export type FeePage = {
  readonly merchantId: string | null;
  readonly withReplaced: boolean;
  readonly beforeId: string | null;
  readonly limit: number;
};

/** Rows of the fee schedule, newest first. */
export async function findFees(client: Queryable, page: FeePage): Promise<ScheduledFee[]> {
  const values = [page.beforeId ?? LAST_UUID, page.merchantId, page.withReplaced, page.limit];
  const { rows } = await client.query<FeeColumns & { is_current: boolean }>(FIND_FEES, values);
  return rows.map((row) => ({ ...fromFeeColumns(row), isCurrent: row.is_current }));
}
