// Operators' list of merchants: newest first, page by page.

import type { Pool } from "pg";
import { entitiesOn } from "../../database/orm.ts";
import type { Environment } from "../../identity/principal.ts";

const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
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
