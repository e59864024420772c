// What an operator orders about the wallets that pay transfers out.

import { doAndRecord, type OrderedBy } from "../accounts/operator-actions.ts";
import type { PayoutChain } from "../merchant/chains/payout-chain.ts";
import { findForeignNonces, resumeSigning } from "../merchant/payouts/resume-wallet.ts";

/**
 * Lets a wallet sign again that stopped because somebody else had used its key. Gives how many nonces of others were written
 * down. Errors: NotFound; ValidationError while one of their transactions is not final.
 */
export async function orderResume(
  by: OrderedBy,
  { chain, reason }: { chain: PayoutChain; reason: string },
): Promise<number> {
  // The chain is asked before the transaction begins.
  const found = await findForeignNonces(by.database.pool, chain);
  return doAndRecord(
    by,
    (client) => resumeSigning(client, found),
    (foreignNonces) => ({
      action: "payout resume",
      subject: `${chain.name} ${found.address}`,
      reason,
      facts: { foreignNonces },
    }),
  );
}
