// What an operator orders about the wallets that pay transfers out.

import type { Pool } from "pg";
import { doAndRecord, type OrderedBy } from "../accounts/operator-actions.ts";
import { ValidationError } from "../kernel/errors.ts";
import { readWallet } from "../merchant/payouts/wallet-store.ts";
import type { PayoutChain } from "../merchant/chains/payout-chain.ts";
import { findForeignNonces, type ResumedWallet, resumeSigning } from "../merchant/payouts/resume-wallet.ts";

/** A stop of a wallet: since when, and why. */
export type WalletStop = { readonly stoppedAt: Date; readonly stopReason: string };

/** The stop of a chain's wallet; null: it signs, or has never paid. Errors: ValidationError when no chain has that name. */
export async function findStop(
  pool: Pool,
  { chains, name }: { chains: readonly PayoutChain[]; name: string },
): Promise<WalletStop | null> {
  const wallet = await readWallet(pool, { chain: name, address: chainNamed(chains, name).wallet });
  const { haltedAt = null, haltReason = null } = wallet ?? {};
  return haltedAt === null ? null : { stoppedAt: haltedAt, stopReason: haltReason ?? "" };
}

/**
 * Lets a wallet sign again that stopped because somebody else had used its key. `stoppedAt` tells which stop whoever orders it
 * has looked at. Errors: ValidationError when no chain has that name; those of findForeignNonces and resumeSigning.
 */
export async function orderResume(
  by: OrderedBy,
  order: { chains: readonly PayoutChain[]; name: string; stoppedAt: Date; reason: string },
): Promise<ResumedWallet> {
  const { name, stoppedAt, reason } = order;
  const chain = chainNamed(order.chains, name);
  // The chain is asked before the transaction begins.
  const found = await findForeignNonces(by.database.pool, chain);
  return doAndRecord(
    by,
    (client) => resumeSigning(client, found, stoppedAt),
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
