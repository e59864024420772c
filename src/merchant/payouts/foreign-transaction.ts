// A foreign transaction has used up a nonce of ours: signing stops, and a payout whose nonce it was ends when that is
// final. The chain is asked long before this is written, and an engine may pause in between while another one sends. So
// our own record has the last word on whose transaction it is: what we broadcast was stored before anyone could see it.

import type { Pool } from "pg";
import { invariant } from "../../kernel/invariant.ts";
import { endPayout, isOwnTransaction, lockPayout } from "./payout-store.ts";
import { inTransaction } from "./payout-transaction.ts";
import { haltWallet, lockWallet } from "./wallet-store.ts";

/** A transaction of the wallet that is none of the checked attempts. */
export type ForeignTransaction = {
  readonly nonce: number;
  readonly hash: string;
  /** The payout it has displaced for good, and how many attempts of it were checked. Null: none yet. */
  readonly displaced: { readonly payoutId: string; readonly attempts: number } | null;
};

/**
 * Stops signing with a wallet, and ends the payout that is displaced, in one transaction. Nothing is done when the transaction
 * is ours after all, or when the payout has ended or got another attempt. True: the wallet was not stopped before.
 */
export function stopSigning(
  pool: Pool,
  walletId: string,
  { nonce, hash, displaced }: ForeignTransaction,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await lockWallet(client, walletId);
    if (displaced !== null && !(await lockPayout(client, displaced))) return false;
    if (await isOwnTransaction(client, hash)) return false;
    const reason = `nonce ${nonce} was used by ${hash}, which we have not signed`;
    const isNews = await haltWallet(client, walletId, reason);
    if (displaced !== null) {
      const ended = await endPayout(client, { payoutId: displaced.payoutId, state: "displaced", hash });
      invariant(ended, "an open payout that is locked can be ended");
    }
    return isNews;
  });
}
