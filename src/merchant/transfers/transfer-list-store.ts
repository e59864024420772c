// SQL of lists of a merchant's transfers: numbered pages for the public API, and pages after a transfer.

import type { Pool, PoolClient } from "pg";
import type { Transfer, TransferStatus } from "./transfer.ts";
import { fromTransferColumns, type TransferColumns, transferColumns } from "./transfer-store.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const OF_MERCHANT = `
merchant_id = $1::uuid AND ($2::text IS NULL OR status = $2)
AND ($3::timestamptz IS NULL OR created_at >= $3) AND ($4::timestamptz IS NULL OR created_at < $4)`;
const COUNT = `SELECT count(*)::int AS count FROM transfer WHERE ${OF_MERCHANT}`;
const NUMBERED = `
SELECT ${transferColumns("transfer")} FROM transfer WHERE ${OF_MERCHANT}
ORDER BY created_at DESC, id DESC LIMIT $5::int OFFSET $6::int`;
const BEHIND = `
SELECT ${transferColumns("transfer")} FROM transfer
WHERE ${OF_MERCHANT}
  AND ($5::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM transfer WHERE id = $5 AND merchant_id = $1::uuid))
ORDER BY created_at DESC, id DESC LIMIT $6::int`;

/** The filter of a merchant's transfers; null: any value. */
export type TransferFilter = {
  readonly merchantId: string;
  readonly status: TransferStatus | null;
  readonly from: Date | null;
  readonly until: Date | null;
};

/** One numbered page, newest first, and the total number. */
export async function readNumberedPage(
  client: Queryable,
  { merchantId, status, from, until }: TransferFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ transfers: Transfer[]; count: number }> {
  const filter = [merchantId, status, from, until];
  const [{ rows: counted }, { rows }] = await Promise.all([
    client.query<{ count: number }>(COUNT, filter),
    client.query<TransferColumns>(NUMBERED, [...filter, limit, offset]),
  ]);
  return { transfers: rows.map(fromTransferColumns), count: counted[0]?.count ?? 0 };
}

/** A merchant's transfers after one of them, newest first. `behindId` null: from the newest on. */
export async function readTransfersBehind(
  client: Queryable,
  { merchantId, status, from, until }: TransferFilter,
  { behindId, limit }: { behindId: string | null; limit: number },
): Promise<Transfer[]> {
  const values = [merchantId, status, from, until, behindId, limit];
  return (await client.query<TransferColumns>(BEHIND, values)).rows.map(fromTransferColumns);
}
