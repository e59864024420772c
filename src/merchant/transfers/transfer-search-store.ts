// SQL of transfers as an operator goes through them: everybody's, newest first.

import type { Pool } from "pg";
import { ENVIRONMENTS, type Environment } from "../../identity/principal.ts";
import { readWithin } from "../../database/bounded-read.ts";
import { isUuid } from "../../kernel/ids.ts";
import { BY_KEY } from "../../database/throttled-reader.ts";
import { type Transfer, TRANSFER_STATUSES, type TransferStatus } from "./transfer.ts";
import { fromTransferColumns, type TransferColumns, transferColumns } from "./transfer-store.ts";

/** An operator waits for a page, and reading an account with very many merchants shall not go on when nobody does any more. */
const ANSWER_WITHIN_MS = 5_000;
/** Before this comes every id that we make. */
const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Transfers that a query chooses, with whose they are. A page is chosen first: its merchants are the few that are looked up. */
const owned = (chosen: string): string => `
SELECT ${transferColumns("t")}, m.account_id, m.created_at AS merchant_created_at
FROM (${chosen}) t JOIN merchant m ON m.id = t.merchant_id ORDER BY t.id DESC`;
// Serving sessions plan for whatever is asked, so nothing here is left out by "$n IS NULL OR": such a condition is looked at row
// by row and finds nothing in an index. Ids begin with the time they were made: everybody's newest are the end of the primary key.
const FIND = owned("SELECT * FROM transfer WHERE id < $1::uuid ORDER BY id DESC LIMIT $2::int");
/**
 * The newest of each group, which are the end of a range of an index however rare they are, and of those the newest. Status by
 * status, because an index has the newest of several only when each is asked for.
 */
const newestOf = (groups: string, isOfGroup: string): string =>
  owned(`
SELECT newest.* FROM ${groups} CROSS JOIN unnest($4::text[]) AS of_status(status) CROSS JOIN LATERAL (
  SELECT * FROM transfer t WHERE ${isOfGroup} AND t.status = of_status.status AND t.id < $1::uuid ORDER BY t.id DESC LIMIT $2::int
) newest ORDER BY newest.id DESC LIMIT $2::int`);
const FIND_OF_STATUS = newestOf("unnest($3::text[]) AS searched(name)", "t.environment = searched.name");
// A merchant lives in one world, and its transfers with it.
const findOfMerchants = (isMeant: string): string =>
  newestOf(
    `(SELECT id FROM merchant WHERE ${isMeant} AND environment = ANY ($3::text[])) AS whose`,
    "t.merchant_id = whose.id",
  );
const FIND_OF_MERCHANT = findOfMerchants("id = $5::uuid AND ($6::uuid IS NULL OR account_id = $6)");
const FIND_OF_ACCOUNT = findOfMerchants("account_id = $5::uuid");
/** Of few transfers those that fit. */
const among = (few: string): string =>
  owned(`
SELECT * FROM transfer
WHERE ${few} AND id < $1::uuid AND environment = ANY ($3::text[]) AND status = ANY ($4::text[])
  AND ($5::uuid IS NULL OR merchant_id = $5)
  AND ($6::uuid IS NULL OR merchant_id IN (SELECT id FROM merchant WHERE account_id = $6))
ORDER BY id DESC LIMIT $2::int`);
// What waits for an operator is open, and the open ones have an index of their own.
const FIND_AWAITING = among("status = 'WAITING' AND awaits_approval");
// A name is looked up in the two indexes that have it; going through all transfers for it would take ever longer.
const FIND_NAMED = among(`id = ANY (ARRAY(
  SELECT id FROM transfer WHERE external_id = $8::text UNION SELECT id FROM transfer WHERE id = $9::uuid))
  AND (NOT $7::boolean OR (status = 'WAITING' AND awaits_approval))`);
const BY_ID = owned("SELECT * FROM transfer WHERE id = $1::uuid");

/** A transfer with the merchant and account that ordered it. */
export type OwnedTransfer = {
  readonly transfer: Transfer;
  readonly accountId: string;
  readonly merchant: { readonly merchantId: string; readonly environment: Environment; readonly createdAt: Date };
};

/** Which transfers are meant; all that is not null must fit. */
type TransferSearch = {
  readonly accountId: string | null;
  readonly merchantId: string | null;
  readonly environment: Environment | null;
  readonly status: TransferStatus | null;
  /** Whether only those are meant that wait for an operator. */
  readonly awaitsApproval: boolean;
  /** A transfer's id or external id. */
  readonly name: string | null;
};

/** A part of what fits: at most `limit`, with ids before `beforeId`; null: from the newest on. */
export type TransferPage = TransferSearch & { readonly beforeId: string | null; readonly limit: number };

/** The search that everything fits. */
export const EVERY_TRANSFER: TransferSearch = {
  accountId: null,
  merchantId: null,
  environment: null,
  status: null,
  awaitsApproval: false,
  name: null,
};

/** A page of transfers, newest first. Errors: UpstreamBusy when it takes too long. */
export async function findTransfers(
  pool: Pool,
  search: TransferPage,
  answerWithinMs?: number,
): Promise<OwnedTransfer[]> {
  return readOwned(pool, statementOf(search), answerWithinMs);
}

/** A transfer by its id with whose it is. */
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
