// SQL of operators' lists of transfers: those of all merchants, newest first.

import type { Pool } from "pg";
import { ENVIRONMENTS, type Environment } from "../../identity/principal.ts";
import { readWithin } from "../../database/bounded-read.ts";
import { isUuid } from "../../kernel/ids.ts";
import { BY_KEY } from "../../database/throttled-reader.ts";
import { type Transfer, TRANSFER_STATUSES, type TransferStatus } from "./transfer.ts";
import { fromTransferColumns, type TransferColumns, transferColumns } from "./transfer-store.ts";

/**
 * An operator waits for a page: a read of an account with very many merchants must not continue after the operator has
 * left.
 */
const ANSWER_WITHIN_MS = 5_000;
/** All our ids are larger than this. */
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/**
 * The transfers of a query, with their merchants and accounts. A page is chosen first: only its few merchants are
 * looked up.
 */
const owned = (chosen: string): string => `
SELECT ${transferColumns("t")}, m.account_id, m.created_at AS merchant_created_at
FROM (${chosen}) t JOIN merchant m ON m.id = t.merchant_id ORDER BY t.id DESC`;
// Sessions reuse plans for all filters, so nothing here is skipped by "$n IS NULL OR": such a condition is checked row
// by row and uses no index. Ids begin with their time: the newest of all merchants are the end of the primary key.
const FIND = owned("SELECT * FROM transfer WHERE id < $1::uuid ORDER BY id DESC LIMIT $2::int");
/**
 * The newest of each group, which are the end of an index range however rare they are, and of those the newest. It
 * queries status by status, because an index returns the newest of several only when each is queried alone.
 */
const newestOf = (groups: string, isOfGroup: string): string =>
  owned(`
SELECT newest.* FROM ${groups} CROSS JOIN unnest($4::text[]) AS of_status(status) CROSS JOIN LATERAL (
  SELECT * FROM transfer t WHERE ${isOfGroup} AND t.status = of_status.status AND t.id < $1::uuid ORDER BY t.id DESC LIMIT $2::int
) newest ORDER BY newest.id DESC LIMIT $2::int`);
const FIND_OF_STATUS = newestOf("unnest($3::text[]) AS searched(name)", "t.environment = searched.name");
// A merchant has one environment, and so do its transfers.
const findOfMerchants = (isMeant: string): string =>
  newestOf(
    `(SELECT id FROM merchant WHERE ${isMeant} AND environment = ANY ($3::text[])) AS whose`,
    "t.merchant_id = whose.id",
  );
const FIND_OF_MERCHANT = findOfMerchants("id = $5::uuid AND ($6::uuid IS NULL OR account_id = $6)");
const FIND_OF_ACCOUNT = findOfMerchants("account_id = $5::uuid");
/** Filters a small set of transfers. */
const among = (few: string): string =>
  owned(`
SELECT * FROM transfer
WHERE ${few} AND id < $1::uuid AND environment = ANY ($3::text[]) AND status = ANY ($4::text[])
  AND ($5::uuid IS NULL OR merchant_id = $5)
  AND ($6::uuid IS NULL OR merchant_id IN (SELECT id FROM merchant WHERE account_id = $6))
ORDER BY id DESC LIMIT $2::int`);
// Transfers that wait for an operator are open, and open ones have an index of their own.
const FIND_AWAITING = among("status = 'WAITING' AND awaits_approval");
// A name is looked up in its two indexes; scanning all transfers would take ever longer.
const FIND_NAMED = among(`id = ANY (ARRAY(
  SELECT id FROM transfer WHERE external_id = $8::text UNION SELECT id FROM transfer WHERE id = $9::uuid))
  AND (NOT $7::boolean OR (status = 'WAITING' AND awaits_approval))`);
const BY_ID = owned("SELECT * FROM transfer WHERE id = $1::uuid");

/** A transfer with its merchant and account. */
export type OwnedTransfer = {
  readonly transfer: Transfer;
  readonly accountId: string;
  readonly merchant: { readonly merchantId: string; readonly environment: Environment; readonly createdAt: Date };
};

/** The filter; every field that is not null must match. */
type TransferSearch = {
  readonly accountId: string | null;
  readonly merchantId: string | null;
  readonly environment: Environment | null;
  readonly status: TransferStatus | null;
  /** Whether only transfers that wait for an operator match. */
  readonly awaitsApproval: boolean;
  /** A transfer's id or external id. */
  readonly name: string | null;
};

/** A page of the matches: at most `limit`, with ids before `beforeId`; null: from the newest on. */
export type TransferPage = TransferSearch & { readonly beforeId: string | null; readonly limit: number };

/** A page of transfers, newest first. Errors: ServiceBusy when it takes too long. */
export async function findTransfers(
  pool: Pool,
  search: TransferPage,
  answerWithinMs?: number,
): Promise<OwnedTransfer[]> {
  return readOwned(pool, statementOf(search), answerWithinMs);
}

/** A transfer by its id, with its merchant and account. */
export async function readOwnedTransfer(pool: Pool, transferId: string): Promise<OwnedTransfer | undefined> {
  return (await readOwned(pool, { text: BY_ID, values: [transferId] }))[0];
}

type Statement = { readonly text: string; readonly values: unknown[] };

function statementOf({ beforeId, limit, ...search }: TransferPage): Statement {
  const { accountId, merchantId, environment, status, awaitsApproval, name } = search;
  const range = [beforeId ?? LAST_UUID, limit];
  const of = [
    ...range,
    environment === null ? ENVIRONMENTS : [environment],
    status === null ? TRANSFER_STATUSES : [status],
  ];
  if (name !== null) {
    const named = [awaitsApproval, name, isUuid(name) ? name : null];
    return { text: FIND_NAMED, values: [...of, merchantId, accountId, ...named] };
  }
  if (awaitsApproval) return { text: FIND_AWAITING, values: [...of, merchantId, accountId] };
  if (merchantId !== null) return { text: FIND_OF_MERCHANT, values: [...of, merchantId, accountId] };
  if (accountId !== null) return { text: FIND_OF_ACCOUNT, values: [...of, accountId] };
  if (environment !== null || status !== null) return { text: FIND_OF_STATUS, values: of };
  return { text: FIND, values: range };
}

async function readOwned(
  pool: Pool,
  { text, values }: Statement,
  answerWithinMs = ANSWER_WITHIN_MS,
): Promise<OwnedTransfer[]> {
  const rows = await readWithin(pool, answerWithinMs, async (query) => {
    await query(BY_KEY);
    return query<TransferColumns & { account_id: string; merchant_created_at: Date }>(text, values);
  });
  return rows.map((row) => ({
    transfer: fromTransferColumns(row),
    accountId: row.account_id,
    merchant: { merchantId: row.merchant_id, environment: row.environment, createdAt: row.merchant_created_at },
  }));
}
