// What an operator does once it is clear who else had the key: the nonces that others used up are written down, so that the
// wallet's own stay without a gap, and signing goes on behind them.

import type { Pool, PoolClient } from "pg";
import { NotFound, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import type { PayoutChain } from "../chains/payout-chain.ts";
import { findWronglyForeign, insertForeign } from "./payout-store.ts";
import { lockWallet, readWallet, resumeWallet, writeNextNonce } from "./wallet-store.ts";

/** Nonces of others that one order writes down at most; another order goes on from there. */
const MOST_FOREIGN = 1_000;
const RETRY_AFTER_SECONDS = 10;

/** A wallet and the nonces behind its own that others have used up for good. */
export type ForeignNonces = {
  readonly walletId: string;
  readonly address: string;
  readonly foreign: readonly { readonly nonce: number; readonly hash: string }[];
};

/** What came of an order to resume. Not new: the wallet signed already, and nothing was written down. */
export type ResumedWallet = { readonly foreignNonces: number; readonly isNew: boolean };

/**
 * Asks the chain who used the wallet's key besides us. Errors: NotFound; ValidationError while one of them is not final;
 * UpstreamBusy when the chain does not answer.
 */
export async function findForeignNonces(pool: Pool, chain: PayoutChain): Promise<ForeignNonces> {
  const wallet = await readWallet(pool, { chain: chain.name, address: chain.wallet });
  if (wallet === undefined) throw new NotFound("This wallet has never paid.");
  const head = await answerOf(chain.head());
  const used = await answerOf(chain.nextNonce());
  const foreign: { nonce: number; hash: string }[] = [];
  for (let nonce = wallet.nextNonce; nonce < used && foreign.length < MOST_FOREIGN; nonce += 1) {
    const holder = await answerOf(chain.holderOf(nonce, head));
    if (holder?.isFinal !== true) {
      const message = `nonce ${nonce} was used by a transaction that is not final yet; try again later`;
      throw new ValidationError([{ field: "chain", rule: "wallet.foreign_final", message }]);
    }
    foreign.push({ nonce, hash: holder.hash });
  }
  return { walletId: wallet.walletId, address: wallet.address, foreign };
}

/**
 * Lets a wallet sign again, inside the caller's transaction. Errors: ValidationError when one of the nonces is our own, which
 * paying again would pay twice.
 */
export async function resumeSigning(client: PoolClient, { walletId, foreign }: ForeignNonces): Promise<ResumedWallet> {
  const { nextNonce } = await lockWallet(client, walletId);
  // Whoever resumed it meanwhile may have written them down.
  const own = foreign.filter(({ nonce }) => nonce >= nextNonce);
  for (const each of own) await insertForeign(client, { walletId, ...each });
  const wrong = await findWronglyForeign(client, walletId);
  if (wrong !== null) {
    const message = `nonce ${wrong} was used by a transaction that we have signed ourselves; what it pays must not be paid again`;
    throw new ValidationError([{ field: "chain", rule: "wallet.foreign_own", message }]);
  }
  await writeNextNonce(client, walletId, nextNonce + own.length);
  const wasStopped = await resumeWallet(client, walletId);
  return { foreignNonces: own.length, isNew: wasStopped || own.length > 0 };
}

async function answerOf<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (cause) {
    throw new UpstreamBusy(RETRY_AFTER_SECONDS, { cause });
  }
}
