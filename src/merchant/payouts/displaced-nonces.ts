// Nonces that the books have of one transfer and the chain's transaction has used for another. Such a payout is displaced: its own bytes never
// pay. The other transaction is final, so what it paid is decided at once: no payout can have the nonce a second time.

import type { PoolClient } from "pg";
import { invariant } from "../../kernel/invariant.ts";
import type { ChainHead, FoundTransaction, NonceHolder, PayoutChain } from "../chains/payout-chain.ts";
import { moveTransfer, NOT_SUBMITTED } from "../transfers/transfer-states.ts";

/** What a final transaction has delivered of its payment. */
export type Delivery = { readonly outcome: "paid" | "short" | "nothing"; readonly confirmations: number };

// Where no journal has it, it is written as one would have it: the audit finds by its hash what has paid the transfer.
const WRITE = `
INSERT INTO payout_lost_attempt (hash, wallet_id, journal_id, nonce, transfer_id, number, kind, raw, fee_most, fee_priority)
VALUES ($1, $2::uuid, $3::uuid, $4, $5::uuid, 1, 'payment', $6, $7::numeric, $8::numeric) ON CONFLICT (hash) DO NOTHING`;

/** A payment of a transfer, by the transaction that has displaced the payout of another one. */
export type DisplacingPayment = {
  readonly nonce: number;
  readonly hash: string;
  readonly transaction: FoundTransaction;
  readonly transferId: string;
  readonly displaced: { readonly payoutId: string; readonly delivery: Delivery };
};

/** What the transaction that has displaced a payout has delivered. Null: the chain does not show it. */
export async function deliveryOf(
  chain: PayoutChain,
  { hash, transaction }: NonceHolder,
  head: ChainHead,
): Promise<Delivery | null> {
  const payment = transaction?.payment ?? null;
  const seen = await chain.find({ hash, payment }, head);
  if (seen.status !== "mined") return null;
  const { confirmations, succeeded, isShort = false } = seen;
  if (payment === null) return { outcome: "nothing", confirmations };
  return { outcome: succeeded ? "paid" : isShort ? "short" : "nothing", confirmations };
}

/** Confirms an open transfer that is paid by the transaction which has displaced another one's payout. The wallet is locked. */
export async function settleDisplacing(
  client: PoolClient,
  walletId: string,
  { nonce, hash, transaction, transferId, displaced }: DisplacingPayment,
): Promise<void> {
  const { raw, fee } = transaction;
  const known = { transactionHash: hash, confirmations: displaced.delivery.confirmations };
  await client.query(WRITE, [hash, walletId, displaced.payoutId, nonce, transferId, raw, fee.most, fee.priority]);
  // As with every payment: it is reported as on the chain before it is reported as confirmed.
  await moveTransfer(client, { transferId, from: NOT_SUBMITTED, to: "SUBMITTED", ...known });
  const isMoved = await moveTransfer(client, { transferId, from: ["SUBMITTED"], to: "CONFIRMED", ...known });
  invariant(isMoved, "an open transfer that is locked can be confirmed");
}
