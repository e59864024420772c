// The only module that changes a transfer's status. The merchant's fund holds the total while the transfer is open.
// Ending it captures or releases the hold in the same transaction, so at every commit the fund's holds equal the sum of
// its open transfers.

import type { PoolClient } from "pg";
import { NotFound } from "../../kernel/errors.ts";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { captureFundHold, type Fund, lockFund, voidFundHold } from "../../ledger/funds.ts";
import type { Posting } from "../../ledger/postings.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import { takeUncoveredBack } from "./uncovered.ts";
import { outsideAccounts } from "./outside-accounts.ts";
import type { Transfer, TransferStanding, TransferStatus } from "./transfer.ts";
import {
  insertEvent,
  legReference,
  lockTransferRow,
  readFundOf,
  type TransferLeg,
  writeStanding,
} from "./transfer-store.ts";

const nextStatuses = {
  WAITING: ["PENDING", "SUBMITTED", "REJECTED", "CANCELED"],
  PENDING: ["WAITING", "SUBMITTED", "REJECTED", "CANCELED"],
  SUBMITTED: ["CONFIRMED", "REJECTED"],
  CONFIRMED: [],
  REJECTED: [],
  CANCELED: [],
} as const satisfies Record<TransferStatus, readonly TransferStatus[]>;

/**
 * Open, and not yet known to be on the chain. A transaction that was seen on the chain moves the transfer on from
 * either: a reason to wait no longer applies.
 */
export const NOT_SUBMITTED = ["PENDING", "WAITING"] as const satisfies readonly TransferStatus[];

export type TransferMove = {
  readonly transferId: string;
  /** The statuses from which the move is allowed. */
  readonly from: readonly TransferStatus[];
  readonly to: TransferStatus;
  /** Absent: unchanged. A confirmed transfer has one. */
  readonly transactionHash?: string;
  /** Absent: unchanged. */
  readonly confirmations?: number;
  /** A sentence for the merchant. Absent: none. */
  readonly reason?: string;
  /** The move is an operator's approval. A transfer that waits for one moves by nothing else. */
  readonly isApproval?: boolean;
};

/** A transfer and the fund that holds it, both locked until the end of the transaction. */
export type LockedTransfer = { readonly transfer: Transfer; readonly fund: Fund };

/** Locks a transfer after its fund, in the order of every move. Errors: NotFound. */
export async function lockTransfer(client: PoolClient, transferId: string): Promise<LockedTransfer> {
  const owner = await readFundOf(client, transferId);
  if (owner === undefined) throw new NotFound("There is no such transfer.");
  const fund = await lockFund(client, owner);
  invariant(fund !== undefined, "a transfer is held by a fund");
  return { fund, transfer: await lockTransferRow(client, transferId) };
}

/**
 * Moves a transfer inside the caller's transaction: captures or releases its hold when that ends it, and writes the
 * event. False: it was not in one of the statuses, or waits for an approval; then nothing is changed. Errors: NotFound.
 */
export async function moveTransfer(client: PoolClient, move: TransferMove): Promise<boolean> {
  const { transfer, fund } = await lockTransfer(client, move.transferId);
  if (!move.from.includes(transfer.status)) return false;
  const { to } = move;
  if (transfer.awaitsApproval && to !== "REJECTED" && to !== "CANCELED" && move.isApproval !== true) return false;
  const allowed: readonly TransferStatus[] = nextStatuses[transfer.status];
  invariant(allowed.includes(to), `a transfer does not go from ${transfer.status} to ${to}`);
  const standing: TransferStanding = {
    status: to,
    transactionHash: move.transactionHash ?? transfer.transactionHash,
    confirmations: move.confirmations ?? transfer.confirmations,
    reason: move.reason ?? null,
  };
  invariant(to !== "CONFIRMED" || standing.transactionHash !== null, "a confirmed transfer has a transaction");
  if (to === "CONFIRMED") await captureHold(client, transfer, fund);
  if (to === "REJECTED" || to === "CANCELED") {
    await voidFundHold(client, fund, transfer.total.units);
    await takeUncoveredBack(client, { ...transfer, asset: fund.asset });
  }
  const at = await insertEvent(client, transfer.transferId, standing);
  const awaitsApproval = transfer.awaitsApproval && move.isApproval !== true;
  await writeStanding(client, transfer.transferId, { ...standing, awaitsApproval, at });
  return true;
}

/**
 * Records the chain's current view of a submitted transfer, inside the caller's transaction; no status changes, so no
 * event is written. False: it is not submitted.
 */
export async function noteProgress(
  client: PoolClient,
  progress: { transferId: string; transactionHash: string; confirmations: number },
): Promise<boolean> {
  const { transfer } = await lockTransfer(client, progress.transferId);
  if (transfer.status !== "SUBMITTED") return false;
  const { transferId, ...seen } = progress;
  await writeStanding(client, transferId, { ...transfer, ...seen, at: new Date() });
  return true;
}

/**
 * Records the transaction that has paid a confirmed transfer, where the previous one had vanished from its chain and
 * another with the same nonce took its place, inside the caller's transaction. No status changes, so no event is
 * written.
 */
export async function replaceTransaction(
  client: PoolClient,
  { transferId, transactionHash }: { transferId: string; transactionHash: string },
): Promise<void> {
  const { transfer } = await lockTransfer(client, transferId);
  if (transfer.status !== "CONFIRMED" || transfer.transactionHash === transactionHash) return;
  const at = transfer.confirmedAt ?? transfer.updatedAt;
  await writeStanding(client, transferId, { ...transfer, transactionHash, at });
}

/**
 * Takes the total from the fund: the amount leaves through payout clearing, which returns to zero, and the fee is ours.
 */
async function captureHold(client: PoolClient, transfer: Transfer, fund: Fund): Promise<void> {
  const { transferId, received, fee, total } = transfer;
  const leg = (name: TransferLeg, accounts: Pick<Posting, "debit" | "credit">, amount: bigint) => ({
    id: uuidv7(),
    accountId: fund.accountId,
    groupId: transferId,
    asset: fund.asset,
    ...accounts,
    amount,
    reason: `transfer_${name}`,
    reference: legReference(transferId, name),
  });
  const { payoutClearing } = systemAccounts;
  const { coins, fees } = outsideAccounts[transfer.environment];
  const postings = [
    leg("payout", { debit: fund.id, credit: payoutClearing }, received.units),
    leg("sent", { debit: payoutClearing, credit: coins }, received.units),
    ...(fee.units === 0n ? [] : [leg("fee", { debit: fund.id, credit: fees }, fee.units)]),
  ];
  await captureFundHold(client, { fund, amount: total.units, postings });
}
