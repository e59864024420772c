// A merchant's transfer: its order and its current state.

import type { Environment } from "../../identity/principal.ts";
import type { Money } from "../../kernel/money.ts";
import type { Coin } from "../chains/currencies.ts";

/** Every status, by the contract's names. */
export const TRANSFER_STATUSES = ["PENDING", "WAITING", "SUBMITTED", "CONFIRMED", "REJECTED", "CANCELED"] as const;
export type TransferStatus = (typeof TRANSFER_STATUSES)[number];

/** The statuses in which the merchant's fund holds the transfer's total. */
export const OPEN_STATUSES = ["PENDING", "WAITING", "SUBMITTED"] as const satisfies readonly TransferStatus[];

/** The text, for its merchant, of a transfer that waits for an operator. */
export const WAITS_FOR_APPROVAL = "The transfer waits for approval.";

/** The same, of one that waits because a payment without an order has paid the same already. */
export function mayBePaid(hash: string): string {
  return `The transfer may be paid by ${hash} already. It waits for approval.`;
}

/** The order, which never changes. `total` = `received` + `fee`. */
export type OrderedTransfer = {
  /** A UUIDv7. */
  readonly transferId: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly externalId: string;
  /** A short name for people. */
  readonly slug: string;
  readonly coin: Coin;
  /** Whether an order of the same content that names no network means this one. */
  readonly isNetworkImplied: boolean;
  /** The destination, in the network's normal form. */
  readonly address: string;
  /** The destination, as the order wrote it. */
  readonly orderedAddress: string;
  readonly received: Money;
  readonly fee: Money;
  readonly total: Money;
  /** The version of the fee schedule it was priced by. */
  readonly feeRowId: string;
};

/** The state of a transfer at a moment. */
export type TransferStanding = {
  readonly status: TransferStatus;
  /** The transaction on the chain; null: not sent yet. */
  readonly transactionHash: string | null;
  readonly confirmations: number;
  /** Why it was rejected, canceled or has to wait; null: no reason. */
  readonly reason: string | null;
};

/** A transfer in its current state. */
export type Transfer = OrderedTransfer &
  TransferStanding & {
    /** Whether it waits for an operator. */
    readonly awaitsApproval: boolean;
    readonly createdAt: Date;
    readonly updatedAt: Date;
    readonly confirmedAt: Date | null;
  };

/** A status of a transfer, with its details at that time. */
export type TransferEvent = TransferStanding & {
  /** A UUIDv7. */
  readonly eventId: string;
  readonly transferId: string;
  readonly createdAt: Date;
};

/** A transfer as it was at an event. */
export function transferAt(transfer: Transfer, event: TransferEvent): Transfer {
  const { status, transactionHash, confirmations, reason, createdAt } = event;
  return {
    ...transfer,
    status,
    transactionHash,
    confirmations,
    reason,
    updatedAt: createdAt,
    confirmedAt: status === "CONFIRMED" ? createdAt : null,
  };
}
