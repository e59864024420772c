// Keeps a wallet from paying again what the books have lost. A restore, or the promotion of a standby that lagged, changes the history
// of the books: then every node compares its journal with them, and the wallet takes no nonce until all have. Where anything is
// missing, or cannot be known, the wallet stops until an operator has looked.

import { hostname } from "node:os";
import type { Pool, PoolClient } from "pg";
import { type History, isSameHistory, readHistory } from "../../database/history.ts";
import { addLost, findEnded, listUncompared, registerJournal, writeOwner } from "./journal-store.ts";
import { JournalCopied, ownJournal } from "./own-journal.ts";
import { inTransaction } from "./payout-transaction.ts";
import { JournalBroken, JournalUnavailable, type SignedJournal } from "./signed-journal.ts";
import {
  booksOf,
  followHistory,
  haltAgain,
  haltWallet,
  lockWallet,
  resumeWallet,
  type Wallet,
} from "./wallet-store.ts";

/** How long after a change a wallet waits for the other nodes' journals; a node that lives compares its own within seconds. */
export const JOURNAL_TERM_MS = 60_000;
const ROTATE_MS = 3_600_000;
/** How often a journal's folder gets another name in the books. */
const OWN_MS = 600_000;
/** How long a node leaves the wallet to others when its journal could not be written or read. */
export const UNAVAILABLE_MS = 60_000;
/** Names that a reason has at most. */
const MOST_NAMED = 5;

/** What an operator should know of this node's journal. */
export type JournalTrouble =
  // It can be neither written nor read: this node pays nothing, and others go on.
  | { readonly kind: "journal_failed"; readonly host: string; readonly reason: string }
  // Another node has a copy of its folder. This one has another name from now on.
  | { readonly kind: "journal_copied"; readonly host: string; readonly copiedBy: string }
  // A process ended while it wrote a transaction, which it had not broadcast.
  | { readonly kind: "journal_torn"; readonly host: string; readonly files: string };

type Report = (trouble: JournalTrouble) => void;
type Stop = { readonly reason: string; readonly awaitsJournals: boolean };

export type BooksGuardOptions = {
  readonly pool: Pool;
  readonly journal: SignedJournal;
  /** Whether nothing is acknowledged that a synchronous standby does not have. */
  readonly requiresStandby: boolean;
  readonly host?: string;
  readonly termMs?: number;
  readonly now?: () => number;
};

/** What a round may do: everything, work on what is stored already, or nothing. `no journal`: other nodes may do everything. */
export type BooksState = "current" | "undecided" | "unknown" | "no journal";

export class BooksGuard {
  readonly journal: SignedJournal;
  readonly #options: BooksGuardOptions;
  readonly #host: string;
  readonly #now: () => number;
  #compared: History | null = null;
  #changed: { readonly history: History; readonly sinceMs: number } | null = null;
  #rotatedAtMs: number;
  #ownedAtMs = 0;
  #failedAtMs: number | null = null;

  constructor(options: BooksGuardOptions) {
    this.#options = options;
    this.journal = options.journal;
    this.#host = options.host ?? hostname();
    this.#now = options.now ?? (() => performance.now());
    this.#rotatedAtMs = this.#now();
  }

  /** Whether this node pays nothing because of its journal. */
  get isUnavailable(): boolean {
    return this.#failedAtMs !== null || this.journal.failure !== null;
  }

  /**
   * Looks whether the books are those that the wallet has paid in, compares the journal where they are not, and stops the wallet
   * where they lack something. Errors: those of the database.
   */
  async look(wallet: Wallet, report: Report): Promise<BooksState> {
    const history = await readHistory(this.#options.pool);
    if (history === null) return "unknown";
    const state = await this.#lookAtJournal(wallet, history, report);
    if (state !== "current") return state;
    if (booksOf(wallet, history) === "same") {
      if (wallet.awaitsJournals) await this.#endWait(wallet.walletId);
      await this.#rotate();
      return "current";
    }
    if (!this.#isTermOver(history)) return "undecided";
    return this.#decide(wallet.walletId);
  }

  /** Whether a locked wallet may take a nonce: the caller's transaction is on the books that it was compared with. */
  async isCurrent(client: PoolClient, wallet: Wallet): Promise<boolean> {
    const history = await readHistory(client);
    return (
      history !== null &&
      booksOf(wallet, history) === "same" &&
      this.#compared !== null &&
      isSameHistory(this.#compared, history)
    );
  }

  /** Compares the journal where the books have changed, and gives its folder another name in them now and then. */
  async #lookAtJournal(wallet: Wallet, history: History, report: Report): Promise<BooksState> {
    const { failure } = this.journal;
    if (failure !== null && this.#failedAtMs === null) this.#fail(failure, report);
    if (this.#failedAtMs !== null && this.#now() - this.#failedAtMs < UNAVAILABLE_MS) return "no journal";
    const isCompared = this.#compared !== null && isSameHistory(this.#compared, history);
    if (isCompared && this.#failedAtMs === null && this.#now() - this.#ownedAtMs < OWN_MS) return "current";
    try {
      const isDone = (isCompared && (await this.#own(wallet))) || (await this.#compareOrRename(wallet, report));
      this.#failedAtMs = null;
      return isDone ? "current" : "unknown";
    } catch (error) {
      if (error instanceof JournalBroken) {
        const reason = `the journal of signed transactions on ${this.#host} cannot be read: ${error.message}`;
        await haltWallet(this.#options.pool, wallet.walletId, reason);
        return "no journal";
      }
      if (!(error instanceof JournalUnavailable)) throw error;
      this.#fail(error.message, report);
      return "no journal";
    }
  }

  /** It is reported once, and looked at again after a while. */
  #fail(reason: string, report: Report): void {
    if (this.#failedAtMs === null) report({ kind: "journal_failed", host: this.#host, reason });
    this.#failedAtMs = this.#now();
  }

  /** Gives the folder another name in the books. False: they do not know the journal. Errors: those of ownJournal, except of a copy. */
  #own({ walletId }: Wallet): Promise<boolean> {
    return inTransaction(this.#options.pool, async (client) => {
      await lockWallet(client, walletId);
      const history = await readHistory(client);
      if (history === null) return false;
      const journalId = await this.journal.id();
      const owner = await ownJournal(client, this.journal, { walletId, journalId, history });
      this.#ownedAtMs = this.#now();
      return writeOwner(client, { walletId, journalId }, owner);
    }).catch(falseIfCopied);
  }

  /** Compares the journal. One that is also another node's gets another name first. False: the server is a standby. */
  async #compareOrRename(wallet: Wallet, report: Report): Promise<boolean> {
    try {
      return await this.#compare(wallet, report);
    } catch (error) {
      if (!(error instanceof JournalCopied)) throw error;
      report({ kind: "journal_copied", host: this.#host, copiedBy: error.host });
      await this.journal.rename();
      return this.#compare(wallet, report);
    }
  }

  async #compare({ walletId }: Wallet, report: Report): Promise<boolean> {
    const { journal } = this;
    const host = this.#host;
    const journalId = await journal.id();
    const { entries, finalNonce, torn } = await journal.read();
    if (torn.length > 0) report({ kind: "journal_torn", host, files: someOf(torn) });
    const compared = await inTransaction(this.#options.pool, async (client) => {
      const { nextNonce } = await lockWallet(client, walletId);
      const history = await readHistory(client);
      if (history === null) return null;
      const owner = await ownJournal(client, journal, { walletId, journalId, history });
      const lost = await addLost(client, { walletId, journalId }, { entries });
      await registerJournal(client, { walletId, journalId }, { host, finalNonce, history, owner });
      const reasons: string[] = [];
      if (lost.length > 0)
        reasons.push(`the books lack ${lost.length} transactions that ${host} has signed, nonces ${someOf(lost)}`);
      if (finalNonce !== null && finalNonce >= nextNonce)
        reasons.push(`the books end before nonce ${finalNonce}, which ${host} knows as final`);
      if (reasons.length > 0) await haltAgain(client, walletId, { reason: reasons.join("; ") });
      return history;
    });
    this.#compared = compared;
    this.#ownedAtMs = this.#now();
    return compared !== null;
  }

  #isTermOver(history: History): boolean {
    if (this.#changed === null || !isSameHistory(this.#changed.history, history))
      this.#changed = { history, sinceMs: this.#now() };
    return this.#now() - this.#changed.sinceMs >= (this.#options.termMs ?? JOURNAL_TERM_MS);
  }

  /** The wallet pays in the new history, or stops. A stop is decided once: from then on it waits for an operator, or for journals. */
  #decide(walletId: string): Promise<BooksState> {
    return inTransaction(this.#options.pool, async (client): Promise<BooksState> => {
      const wallet = await lockWallet(client, walletId);
      const history = await readHistory(client);
      // The books have changed again, or another node has decided.
      if (history === null || this.#compared === null || !isSameHistory(history, this.#compared)) return "unknown";
      if (booksOf(wallet, history) === "same") return "current";
      const stop = await this.#stopFor(client, wallet, history);
      if (stop !== null) await haltAgain(client, walletId, stop);
      else if (wallet.awaitsJournals) await resumeWallet(client, walletId);
      await followHistory(client, walletId, history);
      // A wallet that has stopped is current, too: its operator decides.
      return "current";
    });
  }

  async #stopFor(client: PoolClient, wallet: Wallet, history: History): Promise<Stop | null> {
    const reasons: string[] = [];
    // After an upgrade the books are compared once more, and that alone stops nothing.
    const isChanged = booksOf(wallet, history) === "other";
    const uncompared = await listUncompared(client, wallet.walletId, { history, trustsFormer: !isChanged });
    if (uncompared.length > 0) reasons.push(`the journals of ${someOf(uncompared)} were not compared with them`);
    const awaitsJournals = !isChanged || this.#options.requiresStandby;
    if (!awaitsJournals) reasons.push("no synchronous standby was required: payments may be missing");
    if (reasons.length === 0) return null;
    const { system, timeline, books } = history;
    const changed = `the books continue as timeline ${timeline} of system ${system}, database ${books ?? "unknown"}`;
    return { reason: [changed, ...reasons].join(", and "), awaitsJournals };
  }

  /** A stop for journals that were out of reach ends when all of them have been compared. What they had more is a stop of its own. */
  #endWait(walletId: string): Promise<void> {
    return inTransaction(this.#options.pool, async (client) => {
      const wallet = await lockWallet(client, walletId);
      const history = await readHistory(client);
      if (history === null || !wallet.awaitsJournals || booksOf(wallet, history) !== "same") return;
      if ((await listUncompared(client, walletId, { history, trustsFormer: false })).length > 0) return;
      await resumeWallet(client, walletId);
    });
  }

  async #rotate(): Promise<void> {
    if (this.#now() - this.#rotatedAtMs < ROTATE_MS) return;
    this.#rotatedAtMs = this.#now();
    await this.journal.rotate((hashes) => findEnded(this.#options.pool, hashes));
  }
}

function falseIfCopied(error: unknown): false {
  if (error instanceof JournalCopied) return false;
  throw error;
}

function someOf(names: readonly (string | number)[]): string {
  const shown = [...new Set(names)];
  const more = shown.length - MOST_NAMED;
  return more > 0 ? `${shown.slice(0, MOST_NAMED).join(", ")} and ${more} more` : shown.join(", ");
}
