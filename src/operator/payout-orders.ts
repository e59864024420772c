// What an operator orders about the wallets that pay transfers out.

import { doAndRecord, type OrderedBy } from "../accounts/operator-actions.ts";
import { ValidationError } from "../kernel/errors.ts";
import type { PayoutChain } from "../merchant/chains/payout-chain.ts";
import { findForeignNonces, type ResumedWallet, resumeSigning } from "../merchant/payouts/resume-wallet.ts";

/**
 * Lets a wallet sign again that stopped because somebody else had used its key. Errors: ValidationError when no chain has that
 * name; those of findForeignNonces and resumeSigning.
 */
export async function orderResume(
  by: OrderedBy,
  { chains, name, reason }: { chains: readonly PayoutChain[]; name: string; reason: string },
): Promise<ResumedWallet> {
  const chain = chainNamed(chains, name);
  // The chain is asked before the transaction begins.
  const found = await findForeignNonces(by.database.pool, chain);
  return doAndRecord(
    by,
    (client) => resumeSigning(client, found),
    ({ foreignNonces, isNew }) =>
      isNew ? { action: "payout resume", subject: `${name} ${found.address}`, reason, facts: { foreignNonces } } : null,
  );
}

function chainNamed(chains: readonly PayoutChain[], name: string): PayoutChain {
  const found = chains.find((chain) => chain.name === name);
  if (found !== undefined) return found;
  const known = chains.map((chain) => chain.name).join(", ") || "none";
  throw new ValidationError([{ field: "chain", rule: "chain.known", message: `must be configured; ${known} is` }]);
}
