// The jobs that end holds with their requests: they renew our lease, resolve the holds of dead processes, and release our holds
// that a lost statement placed.

import type { Pool } from "pg";
import type { GroupCommitLedger } from "../group-commit/group-commit.ts";
import { LEASE_RENEWAL_MS, type ProcessLease } from "../process-lease.ts";
import { forgetLongDead, listOldHolds, recoverHolds } from "../recovery.ts";
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
  return [
    { name: "renew the lease", everyMs: LEASE_RENEWAL_MS, run: () => renewLease(lease) },
    {
      name: "recover holds",
      everyMs: RECOVERY_MS,
      run: async () => {
        await lease.expireDeadProcesses();
        await recoverHolds(pool);
      },
    },
    { name: "settle what is owed", everyMs: RECOVERY_MS, run: () => ledger.settleOwed() },
    { name: "sweep own holds", everyMs: SWEEP_MS, run: () => sweepOwnHolds({ pool, lease, ledger }) },
    { name: "forget the long dead", everyMs: FORGET_MS, run: () => forgetLongDead(pool) },
  ];
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
