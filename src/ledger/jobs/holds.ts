// The jobs that end holds with their requests: they renew our lease, resolve the holds of dead processes, and release our holds
// that a lost statement placed.

import type { Pool } from "pg";
import { type History, isSameHistory, readHistory } from "../../database/history.ts";
import type { GroupCommitLedger } from "../group-commit/group-commit.ts";
import { LEASE_RENEWAL_MS, type ProcessLease, TERM_MS } from "../process-lease.ts";
import { forgetLongDead, type HoldName, listOldHolds, recoverHolds } from "../recovery.ts";
import type { Tick } from "../../workers/tick.ts";

const RECOVERY_MS = 5_000;
const SWEEP_MS = 20_000;
const FORGET_MS = 3_600_000;

export type HoldWork = {
  readonly pool: Pool;
  readonly lease: ProcessLease;
  readonly ledger: GroupCommitLedger;
};

export function holdTicks({ pool, lease, ledger }: HoldWork): Tick[] {
  const books = new SteadyBooks(pool);
  return [
    { name: "renew the lease", everyMs: LEASE_RENEWAL_MS, run: () => renewLease(lease) },
    {
      name: "recover holds",
      everyMs: RECOVERY_MS,
      run: async () => {
        await lease.expireDeadProcesses();
        await recoverAll(pool, await books.areSteady());
      },
    },
    { name: "settle what is owed", everyMs: RECOVERY_MS, run: () => ledger.settleOwed() },
    { name: "store what is owed", everyMs: RECOVERY_MS, run: () => ledger.storeOwed() },
    { name: "sweep own holds", everyMs: SWEEP_MS, run: () => sweepOwnHolds({ pool, lease, ledger }) },
    { name: "forget the long dead", everyMs: FORGET_MS, run: () => forgetLongDead(pool) },
  ];
}

/** Whether the books have continued the same history for a whole term, as far as this process knows. */
export class SteadyBooks {
  readonly #pool: Pool;
  readonly #now: () => number;
  #seen: { readonly history: History; readonly sinceMs: number } | null = null;

  constructor(pool: Pool, now: () => number = () => performance.now()) {
    this.#pool = pool;
    this.#now = now;
  }

  /** Looks. Errors: those of the database. */
  async areSteady(): Promise<boolean> {
    const history = await readHistory(this.#pool);
    if (history === null) return false;
    if (this.#seen === null || !isSameHistory(this.#seen.history, history))
      this.#seen = { history, sinceMs: this.#now() };
    return this.#now() - this.#seen.sinceMs > TERM_MS;
  }
}

/** Errors: one that names the first hold whose record the database refuses, after all others were resolved. */
async function recoverAll(pool: Pool, withoutRow: boolean): Promise<void> {
  const refused: { readonly hold: HoldName; readonly cause: unknown }[] = [];
  await recoverHolds(pool, { withoutRow, onRefused: (hold, cause) => refused.push({ hold, cause }) });
  const [first] = refused;
  if (first === undefined) return;
  const { requestId, accountId } = first.hold;
  throw new Error(
    `The database refuses the records of ${refused.length} requests of dead processes; the first is ${requestId} of account ${accountId}.`,
    { cause: first.cause },
  );
}

/** The difference from the database's clock is logged with each renewal until the clock is right. */
async function renewLease(lease: ProcessLease): Promise<void> {
  await lease.renew();
  lease.requireRightClock();
}

/** Releases holds of this process that its memory does not know: the reply to the admission was lost and not replayed. */
export async function sweepOwnHolds({ pool, lease, ledger }: HoldWork): Promise<number> {
  const forgotten = (await listOldHolds(pool, lease.processId)).filter(({ requestId }) => !ledger.isOpen(requestId));
  // A hold that cannot be released now must not block the others.
  const released = await Promise.allSettled(forgotten.map((hold) => ledger.release(hold)));
  return released.filter(({ status }) => status === "fulfilled").length;
}
