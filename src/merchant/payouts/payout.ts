// A payout carries out a transfer with one nonce of a wallet. It is chosen before anything is signed; every signed transaction
// of it is an attempt, and all its attempts share the nonce, so the chain can take one of them at most.

import type { Asset } from "../../kernel/money.ts";
import type { TransferStatus } from "../transfers/transfer.ts";
import type { ChainPayment, FeeOffer, SignedTransaction } from "../chains/payout-chain.ts";

/** Those that have not ended. `broadcast`: the network has taken an attempt, or the chain has shown one. */
export const OPEN_STATES = ["chosen", "signed", "broadcast"] as const;
/**
 * How a payout ends. `filled`: its nonce went to a filler, so no payment of it ever can. `displaced`: a foreign
 * transaction has its nonce. `foreign` is no payout of ours: a nonce that was used up before we had chosen it.
 */
export const ENDED_STATES = ["confirmed", "reverted", "filled", "displaced", "foreign"] as const;
export type PayoutState = (typeof OPEN_STATES)[number] | (typeof ENDED_STATES)[number];

/** A payment carries the transfer out; a filler uses up the nonce and moves nothing. */
export type AttemptKind = "payment" | "filler";

/** `seen`: the network had it when it was last asked. `final`: the one that has used up the nonce. */
export type AttemptState = "signed" | "seen" | "mined" | "final";

/** A signed transaction of a payout. Its bytes are stored before anyone else sees them, and never change. */
export type Attempt = SignedTransaction & {
  readonly number: number;
  readonly kind: AttemptKind;
  readonly fee: FeeOffer;
  readonly state: AttemptState;
  readonly blockHash: string | null;
  /** How long ago it was signed, by the database's clock. */
  readonly ageMs: number;
  /** Whether the chain has ever shown it. */
  readonly wasSeen: boolean;
};

/** What the books need to have a transfer again. Amounts are in the asset's units. */
export type JournaledTransfer = {
  readonly merchantId: string;
  readonly externalId: string;
  readonly network: string;
  readonly currencyCode: string;
  readonly asset: Asset;
  readonly isNetworkImplied: boolean;
  readonly address: string;
  readonly orderedAddress: string;
  readonly received: string;
  readonly fee: string;
  readonly feeRowId: string;
};

/** A payout that has not ended, with its attempts, oldest first. */
export type OpenPayout = {
  readonly payoutId: string;
  readonly transferId: string;
  readonly nonce: number;
  readonly state: (typeof OPEN_STATES)[number];
  readonly payment: ChainPayment;
  /** What the journal keeps of the transfer. */
  readonly transfer: JournaledTransfer;
  readonly attempts: readonly Attempt[];
  /** Why no payment is signed any more and the nonce is filled instead. Null: it is still to be paid. */
  readonly fillingReason: string | null;
  /** Whether an operator has decided that a token's short delivery counts as the payment. */
  readonly isShortAccepted: boolean;
  readonly transferStatus: TransferStatus;
  readonly transferConfirmations: number;
};
