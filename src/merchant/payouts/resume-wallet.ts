// Used by an operator once it is clear who else had the key: the foreign nonces are recorded, so that the
// wallet's own stay without a gap, and signing goes on behind them.

import type { Pool, PoolClient } from "pg";
import { readHistory } from "../../database/history.ts";
import { waitForLocks } from "../../database/transactions.ts";
import { invariant } from "../../kernel/invariant.ts";
import { NotFound, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import type { PayoutChain } from "../chains/payout-chain.ts";
import { adoptPayment, findAdoptions, listDisplaced, refuseToPayAgain, type UnknownPayment } from "./adopt-payments.ts";
import { forgetUncompared } from "./journal-store.ts";
import { findWronglyForeign, insertForeign } from "./payout-store.ts";
import { restoreAttempts } from "./restore-attempts.ts";
import { followHistory, lockWallet, readWallet, resumeWallet, writeNextNonce } from "./wallet-store.ts";

/** Nonces of others that one order writes down at most; another order goes on from there. */
const MOST_FOREIGN = 1_000;
const RETRY_AFTER_SECONDS = 10;

/** A wallet and the nonces behind its own that others have used up for good. */
export type ForeignNonces = {
  readonly walletId: string;
  readonly address: string;
  readonly foreign: readonly UnknownPayment[];
};

/** The outcome of an order to resume. Not new: the wallet signs already, and nothing was recorded. */
export type ResumedWallet = {
  readonly foreignNonces: number;
  readonly adoptedPayments: number;
  readonly isNew: boolean;
};

/**
 * Asks the chain who used the wallet's key besides us. Errors: NotFound; ValidationError while one of them is not final;
 * UpstreamBusy when the chain does not answer.
 */
export async function findForeignNonces(pool: Pool, chain: PayoutChain): Promise<ForeignNonces> {
  const wallet = await readWallet(pool, { chain: chain.name, address: chain.wallet });
  if (wallet === undefined) throw new NotFound("This wallet has never paid.");
  // Nonces behind its own while it signs may be its own, and there is no stop to end.
  if (wallet.haltedAt === null) return { walletId: wallet.walletId, address: wallet.address, foreign: [] };
  const head = await answerOf(chain.head());
  const used = await answerOf(chain.nextNonce());
  const foreign: UnknownPayment[] = [];
  const displaced = new Map((await listDisplaced(pool, wallet.walletId)).map((each) => [each.nonce, each]));
  const nonces = [...displaced.keys()];
  for (let nonce = wallet.nextNonce; nonce < used && nonces.length < MOST_FOREIGN; nonce += 1) nonces.push(nonce);
  for (const nonce of nonces) {
    const holder = await answerOf(chain.holderOf(nonce, head));
    if (holder?.isFinal !== true) {
      const message = `nonce ${nonce} was used by a transaction that is not final yet; try again later`;
      throw new ValidationError([{ field: "chain", rule: "wallet.foreign_final", message }]);
    }
    const { hash, transaction } = holder;
    foreign.push({ nonce, hash, transaction, displaced: displaced.get(nonce) ?? null });
  }
  return { walletId: wallet.walletId, address: wallet.address, foreign };
}

/**
 * Ends the stop of a wallet that began at that moment, inside the caller's transaction. `adopts`: a transaction that pays an open
 * transfer is recorded as its payment. Errors: ValidationError when the wallet has stopped again since, when one of the nonces is our own,
 * or when one pays an open transfer and is not adopted: paying again would pay twice.
 */
export async function resumeSigning(
  client: PoolClient,
  { walletId, foreign }: ForeignNonces,
  { stoppedAt, adopts }: { readonly stoppedAt: Date; readonly adopts: boolean },
): Promise<ResumedWallet> {
  // An engine has the wallet locked for a moment, again and again.
  await waitForLocks(client);
  const { nextNonce, haltedAt } = await lockWallet(client, walletId);
  if (haltedAt === null) return { foreignNonces: 0, adoptedPayments: 0, isNew: false };
  // An operator who names another stop has not judged the reason of this one.
  if (haltedAt.getTime() !== stoppedAt.getTime()) {
    const message = "names a stop that has ended; the wallet has stopped again since: look at why";
    throw new ValidationError([{ field: "stoppedAt", rule: "wallet.stop", message }]);
  }
  // Nothing takes a nonce of a stopped wallet. What is before its next one was written down already.
  const own = foreign.filter(({ nonce, displaced }) => nonce >= nextNonce || displaced !== null);
  const adoptions = await findAdoptions(client, own);
  if (!adopts) refuseToPayAgain(adoptions);
  const adopted = new Set(adoptions.map(({ unknown }) => unknown));
  const strangers = own.filter((each) => each.displaced === null && !adopted.has(each));
  for (const adoption of adoptions) await adoptPayment(client, walletId, adoption);
  for (const { nonce, hash } of strangers) await insertForeign(client, { walletId, nonce, hash });
  const wrong = await findWronglyForeign(client, walletId);
  if (wrong !== null) {
    const message = `nonce ${wrong} was used by a transaction that we have signed ourselves; what it pays must not be paid again`;
    throw new ValidationError([{ field: "chain", rule: "wallet.foreign_own", message }]);
  }
  const used = nextNonce + own.filter(({ displaced }) => displaced === null).length;
  const { taken, restored } = await restoreAttempts(client, { walletId, nextNonce: used, adopts });
  await writeNextNonce(client, walletId, used + taken);
  const history = await readHistory(client);
  invariant(history !== null, "what is written is on a primary");
  await forgetUncompared(client, walletId, history);
  await followHistory(client, walletId, history);
  invariant(await resumeWallet(client, walletId), "a stopped wallet that is locked can be resumed");
  return { foreignNonces: strangers.length, adoptedPayments: adoptions.length + restored, isNew: true };
}

async function answerOf<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (cause) {
    throw new UpstreamBusy(RETRY_AFTER_SECONDS, { cause });
  }
}
