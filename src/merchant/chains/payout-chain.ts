// The port to a chain on which payouts go out from one hot wallet: what the payout engine asks and tells, and nothing of how a
// chain is reached. A wallet's transactions are numbered by nonces, each nonce is used up by one transaction, in order. What
// keeps a payout from going out twice is the engine's record; a chain is only ever asked what it has seen.

import type { Coin } from "./currencies.ts";

/** What a payout sends: so many of the coin's smallest units. */
export type ChainPayment = { readonly coin: Coin; readonly to: string; readonly units: bigint };

/** What is offered for a unit of the chain's work, in the smallest unit of the coin that fees are paid in. */
export type FeeOffer = { readonly most: bigint; readonly priority: bigint };

/** A signed transaction: the bytes to broadcast, and the name by which it is found whatever broadcasting them answers. */
export type SignedTransaction = { readonly raw: string; readonly hash: string };

/** How far the chain is. Blocks up to `final` are replaced no more; -1: none is final yet. */
export type ChainHead = { readonly latest: number; readonly final: number };

export type MinedTransaction = {
  readonly status: "mined";
  readonly block: { readonly number: number; readonly hash: string };
  /** The blocks that confirm it, its own included. */
  readonly confirmations: number;
  /** Whether its block is final and still the chain's block of that number. */
  readonly isFinal: boolean;
  /** Whether it did what it was sent for: a reverted one, or one that moved nothing to the recipient, did not. */
  readonly succeeded: boolean;
  /** It moved something to the recipient, and less than it was sent for: then it did not succeed, and is no refund either. */
  readonly isShort?: boolean;
  /** Why a block that its node calls final is not believed. Absent: there is no doubt. */
  readonly doubt?: string;
  /** What it cost, in the smallest unit of `feeCoin`. */
  readonly feePaid: bigint;
};

/** What the chain has seen of a transaction. Unknown is no proof of anything: it may come back. */
export type SeenTransaction = { readonly status: "unknown" } | { readonly status: "pending" } | MinedTransaction;

/** The transaction that used up a nonce, in a block of the chain as it now is. */
export type NonceHolder = { readonly hash: string; readonly isFinal: boolean };

/** These bytes can never be made: trying again will not help. Every other failure may pass. */
export class UnsignablePayment extends Error {}

export interface PayoutChain {
  /** `sandbox`, or the network it is. */
  readonly name: string;
  /** The address that pays. */
  readonly wallet: string;
  /** The coin that fees are paid in; null: there are none. */
  readonly feeCoin: Coin | null;
  /** The currencies it can send. */
  readonly currencies: readonly string[];
  /** Addresses that are never paid: the wallet itself, and contracts of tokens. */
  readonly ownAddresses: readonly string[];

  /** Compares what is configured with the chain itself: its id, the decimals of its tokens. Errors: what does not fit. */
  check(): Promise<void>;
  /** Where the chain is now. Whatever else is asked with it is answered as of then or later. */
  head(): Promise<ChainHead>;
  /** What the chain knows of a transaction of ours that sends this payment, or fills its nonce (null). */
  find(transaction: { hash: string; payment: ChainPayment | null }, head: ChainHead): Promise<SeenTransaction>;
  /** Whether the chain's block of that number is this one. Null: it has no block of that number yet, as far as its node knows. */
  hasBlock(block: MinedTransaction["block"], head: ChainHead): Promise<boolean | null>;
  /** How many nonces of the wallet are used up in the latest block: the next one that is free on the chain. */
  nextNonce(): Promise<number>;
  /** Who used up a nonce. Null: nobody yet, in the chain as it now is. */
  holderOf(nonce: number, head: ChainHead): Promise<NonceHolder | null>;
  /** What the wallet has of a coin in the latest block, in its smallest units. */
  balance(coin: Coin): Promise<bigint>;
  /**
   * What to offer for a transaction that shall be mined soon; where it replaces one of the same nonce, enough more for that.
   * Null: replacing would take more than the chain is allowed to offer.
   */
  suggestFee(replaced: FeeOffer | null): Promise<FeeOffer | null>;
  /** What one transaction costs at most by an offer, in the smallest unit of `feeCoin`. */
  mostCost(fee: FeeOffer): bigint;
  /** Signs, without telling anybody. A null payment fills the nonce: nothing, from the wallet to itself. Errors: UnsignablePayment. */
  sign(order: { nonce: number; payment: ChainPayment | null; fee: FeeOffer }): Promise<SignedTransaction>;
  /**
   * Hands the bytes to the network. Handing them over again does no harm. An error proves nothing: the network may have taken
   * them all the same, so the hash is looked up.
   */
  broadcast(raw: string): Promise<void>;
}

/** An offer that replaces an earlier one of the same nonce: what is suggested now, and an eighth more than the earlier at least. */
export function replacingFee(earlier: FeeOffer, suggested: FeeOffer): FeeOffer {
  // A priority of nothing could not be raised by a part of itself.
  const priority = raised(earlier.priority > 0n ? earlier.priority : 1n, suggested.priority);
  const most = raised(earlier.most, suggested.most);
  return { most: most > priority ? most : priority, priority };
}

function raised(past: bigint, now: bigint): bigint {
  const atLeast = (past * 9n + 7n) / 8n;
  return now > atLeast ? now : atLeast;
}
