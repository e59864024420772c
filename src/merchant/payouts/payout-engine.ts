// Carries transfers out on one chain, in rounds. One engine at a time works on a wallet, by a lease on its row; but nothing
// rests on that: two that work at once choose, store and settle by row counts, and one of them wins each time.

import type { Pool } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";
import type { ChainHead, PayoutChain } from "../chains/payout-chain.ts";
import { SignerFailure, WrongSigner } from "../chains/signers/signer.ts";
import { advancePayout } from "./advance-payout.ts";
import type { BooksGuard, BooksState, JournalTrouble } from "./books-guard.ts";
import { chooseTransfers, type Choosing } from "./choose-transfers.ts";
import type { DailyCaps } from "./daily-cap.ts";
import { type ForeignTransaction, stopSigning } from "./foreign-transaction.ts";
import type { StepPolicy } from "./next-step.ts";
import type { OpenPayout } from "./payout.ts";
import { readCandidates, readOpenPayouts } from "./payout-store.ts";
import { isStopped } from "./payout-stops.ts";
import { recheckPayouts } from "./recheck-payouts.ts";
import { type HeadPace, hasRechecks, noteHead } from "./recheck-store.ts";
import { letFrozenWait, letSignerlessWait, letStoppedWait } from "./waiting-transfers.ts";
import { haltWallet, leaseWallet, openWallet, readWallet, resignWallet, type Wallet } from "./wallet-store.ts";
import { listTakenNames, type TakenName } from "./taken-names.ts";

export type PayoutPolicy = StepPolicy & {
  /** How long an engine that dies keeps others from its wallet. */
  readonly leaseMs: number;
  /** How many payouts may be open at once: nodes keep few transactions of one wallet that wait. */
  readonly maxInFlight: number;
  /** How fast the chain's head may grow. Null: it goes by our own clock. */
  readonly headPace: HeadPace | null;
  /** How much of each asset may go out on a day. */
  readonly dailyCaps: DailyCaps;
};

/** Something a person should know. */
export type PayoutTrouble =
  | { readonly kind: "foreign_nonce"; readonly chain: string; readonly nonce: number; readonly hash: string }
  | { readonly kind: "fee_too_high"; readonly chain: string; readonly nonce: number }
  // A nonce is used on the chain, its node does not show by which transaction, and it is none that we know of. No nonce is taken.
  | { readonly kind: "holder_unknown"; readonly chain: string; readonly nonce: number }
  // A node is further ahead than it can be; nothing it reports is used.
  | { readonly kind: "head_leap"; readonly chain: string; readonly from: number; readonly to: number }
  // A node calls a block final, and its own blocks or the second node contradict it.
  | { readonly kind: "finality_doubted"; readonly chain: string; readonly nonce: number; readonly doubt: string }
  // A final transaction is not in the chain any more.
  | { readonly kind: "payment_vanished"; readonly chain: string; readonly nonce: number; readonly hash: string }
  // Transfers wait because enough of a currency has gone out today.
  | { readonly kind: "daily_cap"; readonly chain: string; readonly currency: string }
  // The books lack what was signed, or may lack it.
  | { readonly kind: "books_changed"; readonly chain: string; readonly reason: string }
  // A stop has ended by itself: every journal has been compared with the books.
  | { readonly kind: "journals_compared"; readonly chain: string; readonly reason: string }
  | (JournalTrouble & { readonly chain: string })
  // Another order has the externalId of a transfer that the books have lost.
  | ({ readonly kind: "lost_name_taken" } & TakenName)
  // A token has delivered less than was sent.
  | { readonly kind: "payment_short"; readonly chain: string; readonly nonce: number; readonly hash: string }
  // The wallet's signer does not sign, or has another key than the wallet's.
  | { readonly kind: "signer_silent" | "wrong_signer"; readonly chain: string; readonly error: unknown }
  | { readonly kind: "payout_failed"; readonly chain: string; readonly nonce: number; readonly error: unknown };

export type EngineOptions = {
  readonly pool: Pool;
  readonly chain: PayoutChain;
  readonly serves: Choosing["serves"];
  readonly policy: PayoutPolicy;
  readonly report: (trouble: PayoutTrouble) => void;
  /** Compares the books with this node's journal. Null: the chain cannot be lost apart from the books. */
  readonly guard: BooksGuard | null;
};

export class PayoutEngine {
  readonly chain: PayoutChain;
  readonly #options: EngineOptions;
  readonly #engineId = uuidv7();
  #isChecked = false;
  #wallet: Wallet | null = null;
  #books: BooksState = "unknown";

  constructor(options: EngineOptions) {
    this.#options = options;
    this.chain = options.chain;
  }

  get dailyCaps(): DailyCaps {
    return this.#options.policy.dailyCaps;
  }

  /** Whether this node pays nothing because of its journal. Null: its chain needs none. */
  get isJournalUnavailable(): boolean | null {
    return this.#options.guard?.isUnavailable ?? null;
  }

  /**
   * One round: advances every open payout and takes nonces for what can be paid. Errors: those of the chain and the database,
   * after which nothing is lost and the next round goes on.
   */
  async round(signal?: AbortSignal): Promise<void> {
    const { pool, chain, serves } = this.#options;
    if (!this.#isChecked) await chain.check();
    this.#isChecked = true;
    await letFrozenWait(pool, serves);
    await letStoppedWait(pool, { chain: chain.name, address: chain.wallet }, serves);
    const wallet = await this.#openWallet();
    if (wallet === null) return;
    const { walletId } = wallet;
    this.#books = await this.#lookAtBooks(wallet);
    // Another node, whose journal can be written, takes over at once.
    if (this.#books === "no journal") await this.resign();
    if (this.#books === "unknown" || this.#books === "no journal") return;
    if (!(await this.#hasWork(walletId))) return;
    if (!(await this.#keepsLease(walletId))) return;
    const head = await this.#head(walletId);
    if (head === null) return;
    await this.#recheck(walletId, head, await this.#watchWallet(head));
    if (!(await this.#advanceAll(walletId, signal))) return;
    const chosen = await this.#choose(walletId);
    // Payouts that were just chosen go out at once.
    if (chosen > 0) await this.#advanceAll(walletId, signal);
  }

  /** Every node looks, also those that do not have the lease: each has a journal of its own. */
  async #lookAtBooks(wallet: Wallet): Promise<BooksState> {
    const { guard, chain, report } = this.#options;
    if (guard === null) return "current";
    const state = await guard.look(wallet, (trouble) => report({ ...trouble, chain: chain.name }));
    const { haltedAt, haltReason } = (await readWallet(this.#options.pool, wallet)) ?? wallet;
    if (haltReason !== null && haltedAt?.getTime() !== wallet.haltedAt?.getTime())
      report({ kind: "books_changed", chain: chain.name, reason: haltReason });
    if (haltReason === null && wallet.awaitsJournals)
      report({ kind: "journals_compared", chain: chain.name, reason: wallet.haltReason ?? "" });
    if (haltReason !== null)
      for (const taken of await listTakenNames(this.#options.pool, wallet.walletId))
        report({ kind: "lost_name_taken", ...taken });
    return state;
  }

  /** Takes or renews the lease. False: another engine works on the wallet. */
  #keepsLease(walletId: string): Promise<boolean> {
    const { pool, policy } = this.#options;
    return leaseWallet(pool, { walletId, engineId: this.#engineId, leaseMs: policy.leaseMs });
  }

  /** Gives the lease back, so that another engine can take over at once. */
  async resign(): Promise<void> {
    if (this.#wallet === null) return;
    await resignWallet(this.#options.pool, { walletId: this.#wallet.walletId, engineId: this.#engineId });
  }

  /**
   * The wallet as it is stored. When there is something to pay for the first time, it begins at its first nonce, and stopped where the
   * network has transactions of it: books that were restored to before its first payment have no wallet either.
   */
  async #openWallet(): Promise<Wallet | null> {
    const { pool, chain, guard, report } = this.#options;
    const named = { chain: chain.name, address: chain.wallet };
    this.#wallet = (await readWallet(pool, named)) ?? null;
    if (this.#wallet === null && (await this.#hasCandidates())) {
      // A chain that cannot be lost apart from the books has no guard.
      const sent = guard === null ? 0 : Math.max(await chain.nextNonce(), await chain.pendingNonce());
      const haltReason = sent === 0 ? null : usedBefore(named, sent);
      const nextNonce = guard === null ? await chain.nextNonce() : 0;
      this.#wallet = await openWallet(pool, { ...named, nextNonce, haltReason });
      if (haltReason !== null) report({ kind: "books_changed", chain: chain.name, reason: haltReason });
    }
    return this.#wallet;
  }

  async #hasWork(walletId: string): Promise<boolean> {
    const { pool, chain } = this.#options;
    if ((await readOpenPayouts(pool, { walletId })).length > 0 || (await this.#hasCandidates())) return true;
    return chain.feeCoin !== null && hasRechecks(pool, walletId);
  }

  /** The chain's head. Null: it reports one further than it can be. */
  async #head(walletId: string): Promise<ChainHead | null> {
    const { pool, chain, policy, report } = this.#options;
    const head = await chain.head();
    if (policy.headPace === null) return head;
    const believed = await noteHead(pool, { walletId, latest: head.latest, pace: policy.headPace });
    if (believed === null) return head;
    report({ kind: "head_leap", chain: chain.name, from: believed, to: head.latest });
    return null;
  }

  /** Looks whether what has ended is still in the chain. */
  async #recheck(walletId: string, head: ChainHead, chainNonce: number): Promise<void> {
    const { pool, chain, report } = this.#options;
    if (chain.feeCoin === null) return;
    for (const { nonce, hash } of await recheckPayouts({ pool, chain, walletId, head, chainNonce })) {
      report({ kind: "payment_vanished", chain: chain.name, nonce, hash });
    }
  }

  async #hasCandidates(): Promise<boolean> {
    const { pool, serves } = this.#options;
    return (await readCandidates(pool, { ...serves, currencies: this.#currencies(), limit: 1 })).length > 0;
  }

  /** The sandbox sends every currency that can be ordered. */
  #currencies(): readonly string[] | null {
    const { serves, chain } = this.#options;
    return serves.environment === "sandbox" ? null : chain.currencies;
  }

  /**
   * A nonce that the chain has used up and we have not chosen is foreign: then the key is not ours alone. Returns how many
   * are used up.
   */
  async #watchWallet(head: ChainHead): Promise<number> {
    const { pool, chain, report } = this.#options;
    // The chain first: each nonce of ours that it has used up by then was chosen before, and is in the row that is read after it.
    const used = await chain.nextNonce();
    const wallet = await readWallet(pool, { chain: chain.name, address: chain.wallet });
    if (wallet === undefined || used <= wallet.nextNonce) return used;
    const holder = await chain.holderOf(wallet.nextNonce, head);
    if (holder === null) report({ kind: "holder_unknown", chain: chain.name, nonce: wallet.nextNonce });
    else await this.#stopSigning({ nonce: wallet.nextNonce, hash: holder.hash, displaced: null });
    return used;
  }

  async #stopSigning(found: ForeignTransaction): Promise<void> {
    const { pool, chain, report } = this.#options;
    if (this.#wallet === null) return;
    const isNews = await stopSigning(pool, this.#wallet.walletId, found);
    if (isNews) report({ kind: "foreign_nonce", chain: chain.name, nonce: found.nonce, hash: found.hash });
  }

  async #stopForShort({ nonce, transferId }: OpenPayout, hash: string): Promise<void> {
    const { pool, chain, report } = this.#options;
    if (this.#wallet === null) return;
    const reason = `the token delivered less than the amount of transfer ${transferId}, by ${hash} of nonce ${nonce}`;
    const isNews = await haltWallet(pool, this.#wallet.walletId, reason);
    if (isNews) report({ kind: "payment_short", chain: chain.name, nonce, hash });
  }

  /** False: the round ends here, because it was stopped or another engine has the wallet now. */
  async #advanceAll(walletId: string, signal: AbortSignal | undefined): Promise<boolean> {
    const { pool, chain } = this.#options;
    // In this order: what has used up a nonce by then was stored before, and is among the attempts that are read after it; and
    // a transaction that is mined from here on is found by the head it is looked up with, or later.
    const chainNonce = await chain.nextNonce();
    const payouts = await readOpenPayouts(pool, { walletId });
    if (payouts.length === 0) return true;
    const head = await this.#head(walletId);
    if (head === null) return false;
    for (const payout of payouts) {
      if (signal?.aborted === true) return false;
      await this.#advance(payout, { chainNonce, head });
      if (this.#options.guard?.isUnavailable === true) return false;
      if (!(await this.#keepsLease(walletId))) return false;
    }
    return signal?.aborted !== true;
  }

  async #advance(payout: OpenPayout, { chainNonce, head }: { chainNonce: number; head: ChainHead }): Promise<void> {
    const { pool, chain, policy, report, guard } = this.#options;
    const wallet = await readWallet(pool, { chain: chain.name, address: chain.wallet });
    const mayBroadcast = !(await isStopped(pool, { chain: chain.name, address: chain.wallet }));
    try {
      await advancePayout(
        {
          pool,
          chain,
          policy,
          head,
          chainNonce,
          maySign: mayBroadcast && wallet?.haltReason === null && this.#books === "current",
          mayBroadcast,
          journal: guard?.journal ?? null,
          onForeign: (found) => this.#stopSigning(found),
          onHolderUnknown: (nonce) => report({ kind: "holder_unknown", chain: chain.name, nonce }),
          onTooDear: (nonce) => report({ kind: "fee_too_high", chain: chain.name, nonce }),
          onDoubt: (nonce, doubt) => report({ kind: "finality_doubted", chain: chain.name, nonce, doubt }),
          onShort: (short, hash) => this.#stopForShort(short, hash),
        },
        payout,
      );
    } catch (error) {
      // One that cannot go on must not keep the others.
      report(signerTroubleOf(chain, error) ?? { kind: "payout_failed", chain: chain.name, nonce: payout.nonce, error });
    }
  }

  /** Whether the wallet's signer signs; reported where it does not. Errors: none of a signer. */
  async checkSigner(): Promise<boolean> {
    const { chain, report } = this.#options;
    const error: unknown = await chain.checkSigner().catch((each: unknown) => each);
    if (error === undefined) return true;
    const trouble = signerTroubleOf(chain, error);
    if (trouble === null) throw error;
    report(trouble);
    return false;
  }

  /** False: nothing can be signed, so no nonce is taken, and what is ordered waits with that as its reason. */
  async #hasSigner(): Promise<boolean> {
    const { pool, chain, serves } = this.#options;
    if (!(await this.#hasCandidates()) || (await this.checkSigner())) return true;
    await letSignerlessWait(pool, serves, () => chain.signerTrouble() !== null);
    return false;
  }

  async #choose(walletId: string): Promise<number> {
    const { pool, chain, serves, policy, guard } = this.#options;
    if (this.#books !== "current") return 0;
    // The chain first, as in #watchWallet. A stop may have ended since then, or the chain may not show who used the nonce.
    const used = await chain.nextNonce();
    const wallet = await readWallet(pool, { chain: chain.name, address: chain.wallet });
    if (wallet === undefined || wallet.walletId !== walletId || wallet.haltReason !== null) return 0;
    // The transaction that used our next nonce may have paid what we would pay with another.
    if (used > wallet.nextNonce) return 0;
    if (await isStopped(pool, wallet)) return 0;
    if (!(await this.#hasSigner())) return 0;
    return chooseTransfers({
      pool,
      chain,
      wallet,
      serves,
      maxInFlight: policy.maxInFlight,
      dailyCaps: policy.dailyCaps,
      onCapped: (currency) => this.#options.report({ kind: "daily_cap", chain: chain.name, currency }),
      keepsLease: () => this.#keepsLease(walletId),
      isCurrent: async (client, locked) => guard === null || guard.isCurrent(client, locked),
    });
  }
}

/** The reason of a wallet's first stop. An operator who knows its transactions resumes it once. */
function usedBefore({ chain, address }: { chain: string; address: string }, sent: number): string {
  const known = `${address} has sent ${sent} transactions that the books do not have`;
  return `${known}: payments may be among them; saldo payout resume --chain ${chain} compares them with open transfers`;
}

/** Null: the error is not the signer's. */
function signerTroubleOf({ name }: PayoutChain, error: unknown): PayoutTrouble | null {
  if (error instanceof WrongSigner) return { kind: "wrong_signer", chain: name, error };
  return error instanceof SignerFailure ? { kind: "signer_silent", chain: name, error } : null;
}
