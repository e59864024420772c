// The state of each chain's payouts, for metrics and alarms.

import type { Pool } from "pg";
import { listTakenNames, takenNameText } from "./taken-names.ts";

const WALLETS = `
SELECT w.chain, w.address, w.halted_at IS NOT NULL AS "isHalted", w.halted_at AS "haltedAt", w.halt_reason AS "haltReason",
  EXISTS (SELECT FROM payout_stop s WHERE s.scope IN ('all', w.chain, w.chain || ' ' || w.address)) AS "isStopped",
  (SELECT count(*)::int FROM payout p WHERE p.wallet_id = w.id AND p.state IN ('chosen', 'signed', 'broadcast')) AS "openPayouts",
  (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(p.chosen_at)), 0)::float8 FROM payout p
   WHERE p.wallet_id = w.id AND p.state IN ('chosen', 'signed', 'broadcast')) AS "oldestPayoutSeconds",
  (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(a.broadcast_at)), 0)::float8
   FROM payout p CROSS JOIN LATERAL (
     SELECT broadcast_at, seen_at FROM payout_attempt WHERE payout_id = p.id OFFSET 0
   ) a
   WHERE p.wallet_id = w.id AND p.state IN ('chosen', 'signed', 'broadcast') AND a.seen_at IS NULL) AS "oldestUnknownSeconds"
FROM wallet w ORDER BY w.chain, w.address`;
const WAITING = `
SELECT CASE WHEN environment = 'sandbox' THEN 'sandbox' ELSE network END AS chain, count(*)::int AS waiting FROM transfer
WHERE status = 'WAITING' AND NOT awaits_approval GROUP BY 1`;

/** Lost transfers without their names that the reason of a stop has at most; `saldo recover report` lists all. */
const MOST_NAMED = 5;

/** The state of a chain's payouts. */
export type WalletFacts = {
  readonly chain: string;
  readonly address: string;
  /** Whether signing was stopped, because the key was used elsewhere. */
  readonly isHalted: boolean;
  /** Since when; null: it was not. */
  readonly haltedAt: Date | null;
  readonly haltReason: string | null;
  readonly openPayouts: number;
  /** Age of the oldest payout that has not ended; 0: there is none. */
  readonly oldestPayoutSeconds: number;
  /** Age of the oldest transaction that was handed to the network and has never been seen there; 0: there is none. */
  readonly oldestUnknownSeconds: number;
  /** Transfers that wait for the wallet to be refilled, or for another day. */
  readonly waiting: number;
  /** Whether an operator has stopped its payouts. */
  readonly isStopped: boolean;
};

/** Reads the state of the payouts of every chain that has paid, or has something to pay. */
export async function readWalletFacts(pool: Pick<Pool, "query">): Promise<WalletFacts[]> {
  const wallets = (await pool.query<Omit<WalletFacts, "waiting">>(WALLETS)).rows;
  const takenNames = await listTakenNames(pool);
  const waiting = new Map(
    (await pool.query<{ chain: string; waiting: number }>(WAITING)).rows.map((row) => [row.chain, row.waiting]),
  );
  return wallets.map(({ haltReason, ...wallet }) => {
    const ofWallet = takenNames.filter(({ chain, address }) => chain === wallet.chain && address === wallet.address);
    const reasons = haltReason === null ? [] : [haltReason, ...ofWallet.slice(0, MOST_NAMED).map(takenNameText)];
    return { ...wallet, haltReason: reasons.join("; ") || null, waiting: waiting.get(wallet.chain) ?? 0 };
  });
}
