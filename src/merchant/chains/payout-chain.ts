// The port to a chain on which payouts leave one hot wallet: the calls of the payout engine, independent of how a chain
// is reached. A wallet's transactions are numbered by nonces; each nonce is used up by one transaction, in order. The
// engine's own record keeps a payout from being sent twice; the chain only reports what it has seen.

import type { Coin } from "./currencies.ts";
import type { SignerTrouble } from "./signers/wallet-signer.ts";

/** The payment of a payout: so many of the coin's smallest units. */
export type ChainPayment = { readonly coin: Coin; readonly to: string; readonly units: bigint };

/** The offered price for a unit of the chain's work, in the smallest unit of the coin that fees are paid in. */
export type FeeOffer = { readonly most: bigint; readonly priority: bigint };

/** A signed transaction: the bytes to broadcast, and the hash by which it is found after any answer to the broadcast. */
export type SignedTransaction = { readonly raw: string; readonly hash: string };

/** What signed bytes do: they move so many of a coin's smallest units to an address. `contract`: that of a token. Null: the chain's own coin. */
export type SignedContents = {
  readonly hash: string;
  readonly nonce: number;
  readonly to: string;
  readonly units: bigint;
  readonly contract: string | null;
};

/** The chain's height. Blocks up to `final` are not replaced any more; -1: none is final yet. */
export type ChainHead = { readonly latest: number; readonly final: number };

export type MinedTransaction = {
  readonly status: "mined";
  readonly block: { readonly number: number; readonly hash: string };
  /** The blocks that confirm it, its own included. */
  readonly confirmations: number;
  /** Whether its block is final and still the chain's block of that number. */
  readonly isFinal: boolean;
  /** Whether it delivered its payment: a reverted one, or one that moved nothing to the recipient, did not. */
  readonly succeeded: boolean;
  /** It delivered less than its payment: then it did not succeed, and is not refunded either. */
  readonly isShort?: boolean;
  /** Why a block that its node reports as final is not trusted. Absent: there is no doubt. */
  readonly doubt?: string;
  /** Its cost, in the smallest unit of `feeCoin`. */
  readonly feePaid: bigint;
};

/** The chain's view of a transaction. Unknown proves nothing: it may come back. */
export type SeenTransaction = { readonly status: "unknown" } | { readonly status: "pending" } | MinedTransaction;

/** The transaction that used up a nonce, in a block of the current chain. */
export type NonceHolder = {
  readonly hash: string;
  readonly isFinal: boolean;
  /** What it is. Null: its chain cannot be lost apart from the books, or it is of a kind that we never sign. */
  readonly transaction: FoundTransaction | null;
};

/** A transaction as the chain has it. `payment` null: it pays nothing in a currency of ours. */
export type FoundTransaction = {
  readonly raw: string;
  readonly fee: FeeOffer;
  readonly payment: ChainPayment | null;
};

/** These bytes can never be made: a retry will not help. Every other failure may pass. */
export class UnsignablePayment extends Error {}

export interface PayoutChain {
  /** `sandbox`, or the name of the network. */
  readonly name: string;
  /** The address that pays. */
  readonly wallet: string;
  /** The coin that fees are paid in; null: there are none. */
  readonly feeCoin: Coin | null;
  /** The currencies it can send. */
  readonly currencies: readonly string[];
  /** The contract of each token that it can send, by currency. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Addresses that are never paid: the wallet itself, and token contracts. */
  readonly ownAddresses: readonly string[];

  /**
   * Compares the configuration with the chain itself: its id, the decimals of its tokens. Errors: the first difference.
   */
  check(): Promise<void>;
  /** The chain's current height. Every call that takes it returns the state as of then or later. */
  head(): Promise<ChainHead>;
  /** The chain's view of our transaction that sends this payment, or fills its nonce (null). */
  find(transaction: { hash: string; payment: ChainPayment | null }, head: ChainHead): Promise<SeenTransaction>;
  /** Whether the chain's block of that number is this one. Null: the node has no block of that number yet. */
  hasBlock(block: MinedTransaction["block"], head: ChainHead): Promise<boolean | null>;
  /** How many nonces of the wallet are used up in the latest block: the next one that is free on the chain. */
  nextNonce(): Promise<number>;
  /** The same, with the transactions that the node has and no block has yet. */
  pendingNonce(): Promise<number>;
  /** The transaction that used up a nonce. Null: it is unused in the current chain. */
  holderOf(nonce: number, head: ChainHead): Promise<NonceHolder | null>;
  /** The wallet's balance of a coin in the latest block, in its smallest units. */
  balance(coin: Coin): Promise<bigint>;
  /**
   * The offer for a transaction that shall be mined soon; where it replaces one of the same nonce, enough more for
   * that. Null: a replacement would exceed the most that may be offered.
   */
  suggestFee(replaced: FeeOffer | null): Promise<FeeOffer | null>;
  /** The most that one transaction costs by an offer, in the smallest unit of `feeCoin`. */
  mostCost(fee: FeeOffer): bigint;
  /**
   * Proves that the wallet's signer has its key and signs. Errors: SignerFailure, which may pass; WrongSigner, where it has another key.
   */
  checkSigner(): Promise<void>;

  /** What keeps the wallet's signer from signing. Null: nothing that is known. */
  signerTrouble(): SignerTrouble | null;

  /**
   * Signs without broadcasting. A null payment fills the nonce: nothing, from the wallet to itself. Errors:
   * UnsignablePayment; SignerFailure and WrongSigner, which may pass. Signing the same again may give another hash.
   */
  sign(order: { nonce: number; payment: ChainPayment | null; fee: FeeOffer }): Promise<SignedTransaction>;
  /**
   * Broadcasts the bytes. Doing so again does no harm. An error proves nothing: the network may still have accepted
   * them, so the hash is looked up.
   */
  broadcast(raw: string): Promise<void>;
}

/**
 * An offer that replaces an earlier one of the same nonce: the suggested one now, but at least an eighth more than the
 * earlier.
 */
export function replacingFee(earlier: FeeOffer, suggested: FeeOffer): FeeOffer {
  // A priority fee of zero would stay zero.
  const priority = raised(earlier.priority > 0n ? earlier.priority : 1n, suggested.priority);
  const most = raised(earlier.most, suggested.most);
  return { most: most > priority ? most : priority, priority };
}

function raised(past: bigint, now: bigint): bigint {
  const atLeast = (past * 9n + 7n) / 8n;
  return now > atLeast ? now : atLeast;
}
