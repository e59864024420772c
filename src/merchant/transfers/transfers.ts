// Reads, lists, cancels, approves and rejects a merchant's transfers.

import type { PoolClient } from "pg";
import type { Database } from "../../database/database.ts";
import { withRetry, withTransaction } from "../../database/transactions.ts";
import { billingDay, DAY_MS, isBillingDay, startOfBillingDay } from "../../kernel/clock.ts";
import { NotFound, ValidationError } from "../../kernel/errors.ts";
import { type Page, type PageRequest, readPage } from "../../kernel/paging.ts";
import { invariant } from "../../kernel/invariant.ts";
import { type Transfer, type TransferEvent, type TransferStatus } from "./transfer.ts";
import { readNumberedPage, readTransfersBehind, type TransferFilter } from "./transfer-list-store.ts";
import { lockTransfer, moveTransfer } from "./transfer-states.ts";
import { readEvents, readTransfer, readTransferOfAccount } from "./transfer-store.ts";

type WithPool = Pick<Database, "pool">;

/** The transfers that a caller may see: a merchant's, or those of an account's merchants. */
export type TransferScope = { readonly merchantId: string } | { readonly accountId: string };

/** Whether signing the payment of a transfer has begun, read while the transfer is locked: signed bytes may be sent. */
export type HasSigningBegun = (client: PoolClient, transferId: string) => Promise<boolean>;

/** A transfer with its statuses, oldest first. */
export type TransferWithHistory = { readonly transfer: Transfer; readonly history: readonly TransferEvent[] };

/** A transfer of the scope. Errors: NotFound, also for another account's transfer. */
export async function findTransfer({ pool }: WithPool, scope: TransferScope, transferId: string): Promise<Transfer> {
  const found =
    "merchantId" in scope
      ? await readTransfer(pool, transferId)
      : await readTransferOfAccount(pool, { transferId, accountId: scope.accountId });
  if (found === undefined || ("merchantId" in scope && found.merchantId !== scope.merchantId)) {
    throw new NotFound("There is no such transfer.");
  }
  return found;
}

/** A transfer of the scope with its history. Errors: NotFound. */
export async function getTransfer(
  database: WithPool,
  scope: TransferScope,
  transferId: string,
): Promise<TransferWithHistory> {
  const transfer = await findTransfer(database, scope, transferId);
  return withHistory(database, transfer);
}

/** A transfer with its events. */
export async function withHistory({ pool }: WithPool, transfer: Transfer): Promise<TransferWithHistory> {
  return { transfer, history: await readEvents(pool, transfer.transferId) };
}

const DEFAULT_PER_PAGE = 10;

/** A numbered page of the public API: 0 and empty mean omitted fields; days are days in Jakarta. */
export type NumberedPage = {
  readonly merchantId: string;
  readonly page: number;
  readonly perPage: number;
  readonly fromDate: string;
  readonly toDate: string;
  readonly status: string;
};

/** One numbered page of a merchant's transfers, newest first. Errors: ValidationError for a day that does not exist. */
export async function listTransfers(
  { pool }: WithPool,
  query: NumberedPage,
): Promise<{ transfers: Transfer[]; page: number; perPage: number; totalData: number; totalPage: number }> {
  const page = Math.max(1, query.page);
  const perPage = query.perPage === 0 ? DEFAULT_PER_PAGE : query.perPage;
  const { transfers, count } = await readNumberedPage(pool, filterOf(query), {
    limit: perPage,
    offset: (page - 1) * perPage,
  });
  return { transfers, page, perPage, totalData: count, totalPage: Math.ceil(count / perPage) };
}

/**
 * A time with an offset is a moment, which lies in one day; one without an offset belongs to the day it begins with.
 */
function dayOf(text: string): string {
  const written = text.slice(0, "YYYY-MM-DD".length);
  if (!isBillingDay(written) || !/(?:Z|[+ -]\d\d:?\d\d)$/.test(text)) return written;
  // A query string turns the plus sign of an offset into a space.
  const ms = Date.parse(text.replace(" ", "+"));
  return Number.isNaN(ms) ? "" : billingDay(ms);
}

function startOfDay(field: string, text: string): number {
  const day = dayOf(text);
  const startMs = startOfBillingDay(day);
  // Date would read the 30th of February as the 2nd of March.
  if (!Number.isNaN(startMs) && billingDay(startMs) === day) return startMs;
  throw new ValidationError([{ field, rule: "date", message: "must be a day such as 2026-11-21" }]);
}

export type TransferQuery = Pick<NumberedPage, "merchantId" | "fromDate" | "toDate" | "status">;

/** One page of a merchant's transfers after another, newest first. Errors: ValidationError. */
export async function listTransfersBehind(
  { pool }: WithPool,
  { pageSize, pageToken, ...query }: TransferQuery & PageRequest,
): Promise<Page<Transfer>> {
  return readPage(
    { pageSize, pageToken },
    ({ beforeId, limit }) => readTransfersBehind(pool, filterOf(query), { behindId: beforeId, limit }),
    ({ transferId }) => transferId,
  );
}

function filterOf({ merchantId, status, fromDate, toDate }: TransferQuery): TransferFilter {
  return {
    merchantId,
    // The contract accepts only the known words.
    status: status === "" ? null : (status as TransferStatus),
    from: fromDate === "" ? null : new Date(startOfDay("fromDate", fromDate)),
    until: toDate === "" ? null : new Date(startOfDay("toDate", toDate) + DAY_MS),
  };
}

/**
 * Cancels a transfer of the scope whose signing has not begun; a canceled one stays so. Errors: NotFound,
 * ValidationError when it is too late.
 */
export async function cancelTransfer(
  database: WithPool,
  {
    scope,
    transferId,
    hasSigningBegun,
  }: { scope: TransferScope; transferId: string; hasSigningBegun: HasSigningBegun },
): Promise<TransferWithHistory> {
  await findTransfer(database, scope, transferId);
  const { transfer: canceled } = await withRetry(() =>
    withTransaction(database, (client) =>
      endUnsigned(client, { transferId, hasSigningBegun, to: "CANCELED", reason: "The merchant has canceled it." }),
    ),
  );
  return withHistory(database, canceled);
}

/** A transfer after a requested move. Not new: it was moved before, and nothing was changed. */
export type MovedTransfer = { readonly transfer: Transfer; readonly isNew: boolean };

/**
 * Ends a transfer before any payment of it was signed, inside the caller's transaction; one that has ended so stays so.
 * Errors: NotFound, ValidationError when it is too late.
 */
export async function endUnsigned(
  client: PoolClient,
  end: { transferId: string; to: "CANCELED" | "REJECTED"; reason: string; hasSigningBegun: HasSigningBegun },
): Promise<MovedTransfer> {
  const { transferId, to, reason } = end;
  const { transfer } = await lockTransfer(client, transferId);
  if (transfer.status === to) return { transfer, isNew: false };
  const { status } = transfer;
  // The signer records its begin under the same lock: either that is recorded, or the signer finds the transfer ended.
  const isTooLate = (status !== "PENDING" && status !== "WAITING") || (await end.hasSigningBegun(client, transferId));
  if (isTooLate) {
    const state = status === "PENDING" || status === "WAITING" ? "being signed" : status;
    const message = `names a transfer that is ${state}: it is too late`;
    throw new ValidationError([{ field: "id", rule: "transfer.unsigned", message }]);
  }
  const moved = await moveTransfer(client, { transferId, from: [status], to, reason });
  invariant(moved, "a locked transfer is where it was");
  return { transfer: (await lockTransfer(client, transferId)).transfer, isNew: true };
}

/**
 * Approves a transfer that waits for it, inside the caller's transaction; one that was approved before keeps its
 * current state. Errors: NotFound, ValidationError.
 */
export async function approveTransfer(client: PoolClient, transferId: string): Promise<MovedTransfer> {
  const { transfer } = await lockTransfer(client, transferId);
  if (await wasApproved(client, transfer)) return { transfer, isNew: false };
  if (!transfer.awaitsApproval || transfer.status !== "WAITING") {
    const message = `names a transfer that is ${transfer.status} and waits for no approval`;
    throw new ValidationError([{ field: "id", rule: "transfer.awaits_approval", message }]);
  }
  const moved = await moveTransfer(client, { transferId, from: ["WAITING"], to: "PENDING", isApproval: true });
  invariant(moved, "a locked transfer is where it was");
  return { transfer: (await lockTransfer(client, transferId)).transfer, isNew: true };
}

/**
 * Whether it was ordered to wait for an approval and needs none any more, which only an approval causes. The state it was ordered in
 * has the time of the order. Its event need not come first: ids begin with the clock of the node that wrote them.
 */
async function wasApproved(client: PoolClient, transfer: Transfer): Promise<boolean> {
  if (transfer.awaitsApproval) return false;
  const events = await readEvents(client, transfer.transferId);
  const orderedAt = transfer.createdAt.getTime();
  return events.some(({ status, createdAt }) => status === "WAITING" && createdAt.getTime() === orderedAt);
}
