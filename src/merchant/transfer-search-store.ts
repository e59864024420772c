// SQL of transfers as an operator goes through them: everybody's, newest first.

import type { Pool, PoolClient } from "pg";
import type { Environment } from "../accounts/principal.ts";
import { isUuid } from "../kernel/ids.ts";
import type { Transfer, TransferStatus } from "./transfer.ts";
import { fromTransferColumns, type TransferColumns, transferColumns } from "./transfer-store.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

/** Transfers that a query chooses, with whose they are. A page is chosen first: its merchants are the few that are looked up. */
const owned = (chosen: string): string => `
SELECT ${transferColumns("t")}, m.account_id, m.created_at AS merchant_created_at
FROM (${chosen}) t JOIN merchant m ON m.id = t.merchant_id ORDER BY t.id DESC`;
// Ids begin with the time they were made, so everybody's newest are at the end of the primary key.
const page = (isMeant: string): string =>
  owned(`
SELECT * FROM transfer
WHERE ($1::uuid IS NULL OR id < $1) AND ($3::uuid IS NULL OR merchant_id = $3)
  AND ($2::uuid IS NULL OR merchant_id IN (SELECT id FROM merchant WHERE account_id = $2))
  AND ($4::text IS NULL OR environment = $4) AND ($5::text IS NULL OR status = $5) AND (NOT $6::boolean OR awaits_approval)
  AND ${isMeant} ORDER BY id DESC LIMIT $7::int`);
const FIND = page("true");
// What waits for an operator is open, and the open ones have an index of their own.
const FIND_AWAITING = page("status = 'WAITING' AND awaits_approval");
// A name is looked up in the two indexes that have it; going through all transfers for it would take ever longer.
const FIND_NAMED = page(`id = ANY (ARRAY(
  SELECT id FROM transfer WHERE external_id = $8::text UNION SELECT id FROM transfer WHERE id = $9::uuid))`);
const BY_ID = owned("SELECT * FROM transfer WHERE id = $1::uuid");

/** A transfer with the merchant and account that ordered it. */
export type OwnedTransfer = {
  readonly transfer: Transfer;
  readonly accountId: string;
  readonly merchant: { readonly merchantId: string; readonly environment: Environment; readonly createdAt: Date };
};

/** Which transfers are meant; all that is not null must fit. */
export type TransferSearch = {
  readonly accountId: string | null;
  readonly merchantId: string | null;
  readonly environment: Environment | null;
  readonly status: TransferStatus | null;
  /** Whether only those are meant that wait for an operator. */
  readonly awaitsApproval: boolean;
  /** A transfer's id or external id. */
  readonly name: string | null;
};

/** The search that everything fits. */
export const EVERY_TRANSFER: TransferSearch = {
  accountId: null,
  merchantId: null,
  environment: null,
  status: null,
  awaitsApproval: false,
  name: null,
};

/** Transfers with ids before `beforeId`, newest first; null: from the newest on. */
export async function findTransfers(
  client: Queryable,
  { beforeId, limit, name, ...search }: TransferSearch & { readonly beforeId: string | null; readonly limit: number },
): Promise<OwnedTransfer[]> {
  const { accountId, merchantId, environment, status, awaitsApproval } = search;
  const values = [beforeId, accountId, merchantId, environment, status, awaitsApproval, limit];
  if (name !== null) return readOwned(client, FIND_NAMED, [...values, name, isUuid(name) ? name : null]);
  return readOwned(client, awaitsApproval ? FIND_AWAITING : FIND, values);
}

/** A transfer by its id with whose it is. */
export async function readOwnedTransfer(client: Queryable, transferId: string): Promise<OwnedTransfer | undefined> {
  return (await readOwned(client, BY_ID, [transferId]))[0];
}

async function readOwned(client: Queryable, text: string, values: readonly unknown[]): Promise<OwnedTransfer[]> {
  const { rows } = await client.query<TransferColumns & { account_id: string; merchant_created_at: Date }>(text, [
    ...values,
  ]);
  return rows.map((row) => ({
    transfer: fromTransferColumns(row),
    accountId: row.account_id,
    merchant: { merchantId: row.merchant_id, environment: row.environment, createdAt: row.merchant_created_at },
  }));
}
