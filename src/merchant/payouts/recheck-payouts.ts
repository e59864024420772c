// Compares payouts that have ended with their chain again. What was final is never replaced, by the rules of the chain; where a
// block of ours is gone all the same, a node had lied or the chain has broken its word. Then the wallet stops, and the payout is
// open again: its own bytes go out again, which pays the recipient under the same nonce and leaves no gap.

import type { Pool } from "pg";
import type { ChainHead, PayoutChain } from "../chains/payout-chain.ts";
import { type EndedPayout, noteRecheck, readRechecks, reopenPayout } from "./recheck-store.ts";
import { inTransaction } from "./payout-transaction.ts";
import { haltWallet, lockWallet } from "./wallet-store.ts";

/** Payouts that one round compares at most; the rest follows with the next. */
const MOST_RECHECKED = 50;
/** For how long after its end a payout is compared, each time after twice the time that has passed since. */
const RECHECK_FOR_MS = 24 * 3_600_000;

/** Why a nonce whose transaction was reverted and has vanished moves nothing. The merchant does not read it. */
const VANISHED = "its final transaction has vanished from the chain";

export type Rechecking = {
  readonly pool: Pool;
  readonly chain: PayoutChain;
  readonly walletId: string;
  readonly head: ChainHead;
  /** The wallet's next nonce on the chain: what has ended behind it is compared at once. */
  readonly chainNonce: number;
};

/** Compares what is due, stops the wallet where something has vanished, and returns what has. */
export async function recheckPayouts(work: Rechecking): Promise<readonly EndedPayout[]> {
  const { pool, chain, walletId, head, chainNonce } = work;
  const vanished: EndedPayout[] = [];
  for (const payout of await readRechecks(pool, { walletId, chainNonce, limit: MOST_RECHECKED })) {
    const isThere = await chain.hasBlock(payout.block, head);
    // A node that does not have the block yet proves nothing.
    if (isThere === null) continue;
    if (isThere) await noteRecheck(pool, { payoutId: payout.payoutId, forMs: RECHECK_FOR_MS });
    else if (await reopen(pool, walletId, payout)) vanished.push(payout);
  }
  return vanished;
}

function reopen(pool: Pool, walletId: string, payout: EndedPayout): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await lockWallet(client, walletId);
    if (!(await reopenPayout(client, { ...payout, fillingReason: VANISHED }))) return false;
    await haltWallet(client, walletId, reasonOf(payout));
    return true;
  });
}

function reasonOf({ nonce, hash, block }: EndedPayout): string {
  return `transaction ${hash} of nonce ${nonce} was final in block ${block.number} and is not in the chain any more`;
}
