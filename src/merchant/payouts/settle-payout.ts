// The end of a payout, in one transaction with its transfer and the ledger. Only a final transaction with the payout's nonce
// leads here, so the decision is final.

import type { PoolClient } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { insertPostings } from "../../ledger/postings.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import { assetOf, type Coin } from "../chains/currencies.ts";
import type { MinedTransaction } from "../chains/payout-chain.ts";
import { moveTransfer, NOT_SUBMITTED, replaceTransaction } from "../transfers/transfer-states.ts";
import { readOwner } from "../transfers/transfer-store.ts";
import type { Attempt, OpenPayout } from "./payout.ts";
import { endPayout, noteSeen } from "./payout-store.ts";

/** The reason that a merchant reads of a transfer that the chain has reverted. */
export const REVERTED = "The network reverted the transaction.";

export type FinalAttempt = {
  readonly payout: OpenPayout;
  readonly attempt: Attempt;
  readonly mined: MinedTransaction;
  readonly feeCoin: Coin | null;
};

/**
 * Ends a payout whose attempt is final: confirms its transfer, or gives the funds back where nothing was sent and nothing can be
 * any more. False: it has ended already.
 */
export async function settlePayout(
  client: PoolClient,
  { payout, attempt, mined, feeCoin }: FinalAttempt,
): Promise<boolean> {
  const { payoutId, transferId } = payout;
  const paid = attempt.kind === "payment" && (mined.succeeded || (mined.isShort === true && payout.isShortAccepted));
  const state = paid ? "confirmed" : attempt.kind === "payment" ? "reverted" : "filled";
  if (!(await endPayout(client, { payoutId, state, hash: attempt.hash, isRechecked: feeCoin !== null }))) return false;
  await noteSeen(client, { payoutId, number: attempt.number }, { state: "final", block: mined.block });
  if (hasEnded(payout)) {
    // It was final before, vanished, and is final again: its transfer and its postings stay, also with another end. Where the two
    // differ now, the audit reports it.
    if (paid) await replaceTransaction(client, { transferId, transactionHash: attempt.hash });
    return true;
  }
  const known = attempt.kind === "payment" ? { transactionHash: attempt.hash, confirmations: mined.confirmations } : {};
  if (paid) {
    // Its way may have gone unnoticed, but a transfer is reported as on the chain before it is reported as confirmed.
    await moveTransfer(client, { transferId, from: NOT_SUBMITTED, to: "SUBMITTED", ...known });
  }
  const reason = attempt.kind === "payment" ? REVERTED : (payout.fillingReason ?? REVERTED);
  const moved = await moveTransfer(client, {
    transferId,
    from: paid ? ["SUBMITTED"] : [...NOT_SUBMITTED, "SUBMITTED"],
    to: paid ? "CONFIRMED" : "REJECTED",
    ...known,
    ...(paid ? {} : { reason }),
  });
  invariant(moved, "a transfer is open until its payout has ended");
  await postNetworkFee(client, { payoutId, transferId, hash: attempt.hash, paid: mined.feePaid, coin: feeCoin });
  return true;
}

function hasEnded({ transferStatus }: OpenPayout): boolean {
  return transferStatus === "CONFIRMED" || transferStatus === "REJECTED";
}

type NetworkFee = {
  readonly payoutId: string;
  readonly transferId: string;
  readonly hash: string;
  readonly paid: bigint;
  readonly coin: Coin | null;
};

/** Posts the network's fee, which is our expense and paid by the wallet: the merchant's fee was agreed before. */
async function postNetworkFee(
  client: PoolClient,
  { payoutId, transferId, hash, paid, coin }: NetworkFee,
): Promise<void> {
  if (coin === null || paid === 0n) return;
  await insertPostings(client, [
    {
      id: uuidv7(),
      accountId: await readOwner(client, transferId),
      // Not of the transfer's group: its statement is the merchant's, and this is no expense of the merchant.
      groupId: payoutId,
      asset: assetOf(coin),
      debit: systemAccounts.networkFees,
      credit: systemAccounts.merchantClearing,
      amount: paid,
      reason: "network_fee",
      reference: `network_fee:${hash}`,
    },
  ]);
}
