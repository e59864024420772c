// Keeps a wallet from paying again what the books have lost. A restore, or the promotion of a standby that lagged, changes the history
// of the books: then every node compares its journal with them, and the wallet takes no nonce until all have. Where anything is
// missing, or cannot be known, the wallet stops until an operator has looked.

import { hostname } from "node:os";
import type { Pool, PoolClient } from "pg";
import { type History, isSameHistory, readHistory } from "../../database/history.ts";
import { addLost, findEnded, listUncompared, registerJournal } from "./journal-store.ts";
import { inTransaction } from "./payout-transaction.ts";
import type { SignedJournal } from "./signed-journal.ts";
import { followHistory, haltAgain, haltWallet, lockWallet, paysIn, type Wallet } from "./wallet-store.ts";

/** How long after a change a wallet waits for the other nodes' journals; a node that lives compares its own within seconds. */
export const JOURNAL_TERM_MS = 60_000;
const ROTATE_MS = 3_600_000;
/** Names that a reason has at most. */
const MOST_NAMED = 5;

export type BooksGuardOptions = {
  readonly pool: Pool;
  readonly journal: SignedJournal;
  /** Whether nothing is acknowledged that a synchronous standby does not have. */
  readonly requiresStandby: boolean;
  readonly termMs?: number;
  readonly now?: () => number;
};

/** What a round may do: everything, work on what is stored already, or nothing. */
export type BooksState = "current" | "undecided" | "unknown";

export class BooksGuard {
  readonly journal: SignedJournal;
  readonly #options: BooksGuardOptions;
  readonly #now: () => number;
  #compared: History | null = null;
  #changed: { readonly history: History; readonly sinceMs: number } | null = null;
  #rotatedAtMs: number;

  constructor(options: BooksGuardOptions) {
    this.#options = options;
    this.journal = options.journal;
    this.#now = options.now ?? (() => performance.now());
    this.#rotatedAtMs = this.#now();
  }

  /**
   * Looks whether the books are those that the wallet has paid in, compares the journal where they are not, and stops the wallet
   * where they lack something. Errors: those of the database.
   */
  async look(wallet: Wallet): Promise<BooksState> {
    const { pool } = this.#options;
    const history = await readHistory(pool);
    if (history === null) return "unknown";
    if (this.#compared === null || !isSameHistory(this.#compared, history)) {
      if (!(await this.#compare(wallet))) return "unknown";
    }
    if (wallet.history !== null && isSameHistory(wallet.history, history)) {
      await this.#rotate();
      return "current";
    }
    // A wallet of before histories were stored has nothing to be compared with but the journal.
    if (wallet.history !== null && !this.#isTermOver(history)) return "undecided";
    return this.#decide(wallet.walletId);
  }

  /** Whether a locked wallet may take a nonce: the caller's transaction is on the books that it was compared with. */
  async isCurrent(client: PoolClient, wallet: Wallet): Promise<boolean> {
    const history = await readHistory(client);
    return (
      history !== null &&
      wallet.history !== null &&
      paysIn(wallet, history) &&
      this.#compared !== null &&
      isSameHistory(this.#compared, history)
    );
  }

  /** The lowest nonce that the journal has. Null: it has none. */
  async lowestNonce(): Promise<number | null> {
    return (await this.journal.read()).lowest;
  }

  /** False: the journal could not be read, and the wallet is stopped. */
  async #compare({ walletId }: Wallet): Promise<boolean> {
    const { pool, journal } = this.#options;
    const host = hostname();
    let read: { id: string; contents: Awaited<ReturnType<SignedJournal["read"]>> };
    try {
      read = { id: await journal.id(), contents: await journal.read() };
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await haltWallet(pool, walletId, `the journal of signed transactions on ${host} cannot be read: ${why}`);
      return false;
    }
    const compared = await inTransaction(pool, async (client) => {
      const { nextNonce } = await lockWallet(client, walletId);
      const history = await readHistory(client);
      if (history === null) return null;
      const { id: journalId, contents } = read;
      const lost = await addLost(client, { walletId, journalId }, contents);
      const { finalNonce } = contents;
      await registerJournal(client, { walletId, journalId }, { host, finalNonce, history });
      const reasons: string[] = [];
      if (lost.length > 0)
        reasons.push(`the books lack ${lost.length} transactions that ${host} has signed, nonces ${someOf(lost)}`);
      if (finalNonce !== null && finalNonce >= nextNonce)
        reasons.push(`the books end before nonce ${finalNonce}, which ${host} knows as final`);
      if (reasons.length > 0) await haltAgain(client, walletId, reasons.join("; "));
      return history;
    });
    this.#compared = compared;
    return compared !== null;
  }

  #isTermOver(history: History): boolean {
    if (this.#changed === null || !isSameHistory(this.#changed.history, history))
      this.#changed = { history, sinceMs: this.#now() };
    return this.#now() - this.#changed.sinceMs >= (this.#options.termMs ?? JOURNAL_TERM_MS);
  }

  /** The wallet pays in the new history, or stops. A stop is decided once: from then on it waits for an operator. */
  #decide(walletId: string): Promise<BooksState> {
    return inTransaction(this.#options.pool, async (client): Promise<BooksState> => {
      const wallet = await lockWallet(client, walletId);
      const history = await readHistory(client);
      // The books have changed again, or another node has decided.
      if (history === null || this.#compared === null || !isSameHistory(history, this.#compared)) return "unknown";
      if (wallet.history !== null && isSameHistory(wallet.history, history)) return "current";
      const reason = wallet.history === null ? null : await this.#reasonToStop(client, wallet, history);
      if (reason !== null) await haltAgain(client, walletId, reason);
      await followHistory(client, walletId, history);
      // A wallet that has stopped is current, too: its operator decides.
      return "current";
    });
  }

  async #reasonToStop(client: PoolClient, { walletId }: Wallet, history: History): Promise<string | null> {
    const changed = `the books continue as timeline ${history.timeline} of system ${history.system}`;
    const uncompared = await listUncompared(client, walletId, history);
    if (uncompared.length > 0)
      return `${changed}, and the journals of ${someOf(uncompared)} were not compared with them`;
    if (!this.#options.requiresStandby)
      return `${changed}, and no synchronous standby was required: payments may be missing`;
    return null;
  }

  async #rotate(): Promise<void> {
    if (this.#now() - this.#rotatedAtMs < ROTATE_MS) return;
    this.#rotatedAtMs = this.#now();
    await this.journal.rotate((hashes) => findEnded(this.#options.pool, hashes));
  }
}

function someOf(names: readonly (string | number)[]): string {
  const shown = [...new Set(names)];
  const more = shown.length - MOST_NAMED;
  return more > 0 ? `${shown.slice(0, MOST_NAMED).join(", ")} and ${more} more` : shown.join(", ");
}
