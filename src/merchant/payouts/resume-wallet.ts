// Used by an operator once it is clear who else had the key: the foreign nonces are recorded, so that the
// wallet's own stay without a gap, and signing goes on behind them.

import type { Pool, PoolClient } from "pg";
import { readHistory } from "../../database/history.ts";
import { waitForLocks } from "../../database/transactions.ts";
import { invariant } from "../../kernel/invariant.ts";
import { NotFound, UpstreamBusy, ValidationError } from "../../kernel/errors.ts";
import type { PayoutChain } from "../chains/payout-chain.ts";
import { adoptPayment, findAdoptions, listDisplaced, refuseToPayAgain, type UnknownPayment } from "./adopt-payments.ts";
import { deliveryOf } from "./displaced-nonces.ts";
import { addForeignPayment, lockForeignPayments } from "./foreign-payments.ts";
import { forgetUncompared, hasPaid, type LostAttempt, readLost } from "./journal-store.ts";
import {
  findLostTransfers,
  type RemadeTransfer,
  remakeTransfer,
  type RenamedTransfer,
  type UncoveredTransfer,
} from "./lost-transfers.ts";
import { findWronglyForeign, insertForeign } from "./payout-store.ts";
import { requireReadable } from "./readable-payments.ts";
import { restoreAttempts } from "./restore-attempts.ts";
import {
  beginAt,
  followHistory,
  haltWallet,
  lockWallet,
  readWallet,
  resumeWallet,
  type Wallet,
  writeNextNonce,
} from "./wallet-store.ts";

/** Nonces of others that one order writes down at most; the wallet stays stopped, and another order goes on from there. */
const MOST_FOREIGN = 1_000;
const RETRY_AFTER_SECONDS = 10;

/** A wallet and the nonces behind its own that others have used up for good. */
export type ForeignNonces = {
  readonly walletId: string;
  readonly address: string;
  /** Its chain, and the contracts of its tokens by currency. */
  readonly chain: string;
  readonly tokens: PayoutChain["tokens"];
  readonly foreign: readonly UnknownPayment[];
  /** How many nonces the chain has used up, and how many more transactions of the wallet wait for a block. */
  readonly used: number;
  readonly waiting: number;
  /** The nonce before which an operator knows all of the wallet's transactions. Null: those are looked at as well. */
  readonly firstNonce: number | null;
};

/** The outcome of an order to resume. Not new: the wallet signs already, and nothing was recorded. */
export type ResumedWallet = {
  readonly foreignNonces: number;
  readonly adoptedPayments: number;
  readonly isNew: boolean;
  /** The transfers that the books had lost and have again. Absent: none. */
  readonly remadeTransfers?: readonly string[];
  /** Those of them whose funds did not have the total, with what we bear. Absent: none. */
  readonly uncovered?: readonly UncoveredTransfer[];
  /** Those of them whose names other orders have by now, with the names that they have instead. Absent: none. */
  readonly renamed?: readonly RenamedTransfer[];
  /** Why the wallet has stopped again at once. Not there: it signs. */
  readonly nextStopReason?: string;
};

/**
 * Asks the chain who used the wallet's key besides us. Errors: NotFound; ValidationError while one of them is not final;
 * UpstreamBusy when the chain does not answer.
 */
export async function findForeignNonces(
  pool: Pool,
  chain: PayoutChain,
  { firstNonce = null }: { readonly firstNonce?: number | null } = {},
): Promise<ForeignNonces> {
  const wallet = await readWallet(pool, { chain: chain.name, address: chain.wallet });
  if (wallet === undefined) throw new NotFound("This wallet has never paid.");
  // Nonces behind its own while it signs may be its own, and there is no stop to end.
  const { walletId, address } = wallet;
  const named = { walletId, address, chain: chain.name, tokens: chain.tokens };
  if (wallet.haltedAt === null) return { ...named, foreign: [], used: 0, waiting: 0, firstNonce };
  const head = await answerOf(chain.head());
  const used = await answerOf(chain.nextNonce());
  const waiting = Math.max((await answerOf(chain.pendingNonce())) - used, 0);
  const foreign: UnknownPayment[] = [];
  const displaced = new Map((await listDisplaced(pool, wallet.walletId)).map((each) => [each.nonce, each]));
  const nonces = [...displaced.keys()];
  const from = Math.max(wallet.nextNonce, firstNonce ?? 0);
  for (let nonce = from; nonce < used && nonces.length < MOST_FOREIGN; nonce += 1) nonces.push(nonce);
  for (const nonce of nonces) {
    const holder = await answerOf(chain.holderOf(nonce, head));
    if (holder?.isFinal !== true) throw notFinal(nonce);
    const { hash, transaction } = holder;
    const payout = displaced.get(nonce);
    const delivery = payout === undefined ? null : await answerOf(deliveryOf(chain, holder, head));
    if (payout !== undefined && delivery === null) throw notFinal(nonce);
    const isDisplaced = payout !== undefined && delivery !== null;
    foreign.push({ nonce, hash, transaction, displaced: isDisplaced ? { ...payout, delivery } : null });
  }
  return { ...named, foreign, used, waiting, firstNonce };
}

/**
 * Ends the stop of a wallet that began at that moment, inside the caller's transaction. Another stop follows at once where the chain has
 * used more nonces than one order writes down. `adopts`: a transaction that pays an open transfer is recorded as its payment. Errors:
 * ValidationError when the wallet has stopped again since, when one of the nonces is our own, or when one pays an open transfer and is not
 * adopted: paying again would pay twice.
 */
export async function resumeSigning(
  client: PoolClient,
  found: ForeignNonces,
  { stoppedAt, adopts }: { readonly stoppedAt: Date; readonly adopts: boolean },
): Promise<ResumedWallet> {
  const { walletId, foreign, used: usedByChain, waiting, firstNonce } = found;
  // An engine has the wallet locked for a moment, again and again.
  await waitForLocks(client);
  const wallet = await lockWallet(client, walletId);
  const { haltedAt } = wallet;
  if (haltedAt === null) return { foreignNonces: 0, adoptedPayments: 0, isNew: false };
  // An operator who names another stop has not judged the reason of this one.
  if (haltedAt.getTime() !== stoppedAt.getTime()) {
    const message = "names a stop that has ended; the wallet has stopped again since: look at why";
    throw new ValidationError([{ field: "stoppedAt", rule: "wallet.stop", message }]);
  }
  await requireSameDisplaced(client, found);
  const nextNonce = await firstNonceOf(client, wallet, { firstNonce, used: usedByChain });
  // Nothing takes a nonce of a stopped wallet. What is before its next one was written down already.
  const own = foreign.filter(({ nonce, displaced }) => nonce >= nextNonce || displaced !== null);
  await lockForeignPayments(client);
  const lost = await readLost(client, walletId);
  await requireReadable(client, { chain: found.chain, unknown: own, lost });
  const remade = await remakePaid(client, { unknown: own, lost, adopts });
  const adoptions = await findAdoptions(client, own, new Map(lost.map(({ hash, transferId }) => [hash, transferId])));
  if (!adopts) refuseToPayAgain(adoptions);
  const adopted = new Set(adoptions.map(({ unknown }) => unknown));
  const strangers = own.filter((each) => each.displaced === null && !adopted.has(each));
  for (const adoption of adoptions) await adoptPayment(client, walletId, adoption);
  for (const { nonce, hash } of strangers) await insertForeign(client, { walletId, nonce, hash });
  for (const each of own) if (!adopted.has(each) && mayHavePaid(each)) await addForeignPayment(client, walletId, each);
  const wrong = await findWronglyForeign(client, walletId);
  if (wrong !== null) {
    const message = `nonce ${wrong} was used by a transaction that we have signed ourselves; what it pays must not be paid again`;
    throw new ValidationError([{ field: "chain", rule: "wallet.foreign_own", message }]);
  }
  const used = nextNonce + own.filter(({ displaced }) => displaced === null).length;
  const { taken, restored, remade: more } = await restoreAttempts(client, { wallet: found, nextNonce: used, adopts });
  const end = used + taken;
  // They may be payments of open transfers. Where there is no room for all of them at once, the wallet stays stopped for the rest.
  if (usedByChain <= end && usedByChain + waiting > end) throw stillWaiting(end);
  await writeNextNonce(client, walletId, end);
  const history = await readHistory(client);
  invariant(history !== null, "what is written is on a primary");
  await forgetUncompared(client, walletId, history);
  await followHistory(client, walletId, history);
  invariant(await resumeWallet(client, walletId), "a stopped wallet that is locked can be resumed");
  const adoptedPayments = adoptions.length + restored;
  const resumed = { foreignNonces: strangers.length, adoptedPayments, isNew: true, ...remadeOf([...remade, ...more]) };
  if (usedByChain <= end) return resumed;
  // No engine sees the wallet sign in between: it would choose a nonce that the chain has used.
  const nextStopReason = readOn(wallet, { end, used: usedByChain });
  await haltWallet(client, walletId, nextStopReason);
  return { ...resumed, nextStopReason };
}

/** Errors: ValidationError, where an engine has displaced a payout since the chain was asked: what paid in its place has not been read. */
async function requireSameDisplaced(client: PoolClient, { walletId, foreign }: ForeignNonces): Promise<void> {
  const read = new Set(foreign.map(({ displaced }) => displaced?.payoutId));
  const added = (await listDisplaced(client, walletId)).find(({ payoutId }) => !read.has(payoutId));
  if (added === undefined) return;
  const message = `nonce ${added.nonce} was used by another transaction while the chain was asked; resume again`;
  throw new ValidationError([{ field: "chain", rule: "wallet.displaced", message }]);
}

/** A transaction that is known to have delivered nothing lets no order wait. */
function mayHavePaid({ displaced }: UnknownPayment): boolean {
  return displaced?.delivery.outcome !== "nothing";
}

/**
 * Makes the transfers again that these transactions have paid and the books lack. Errors: ValidationError, where there is one and it is not
 * adopted: its merchant's repeated order would be paid again.
 */
async function remakePaid(
  client: PoolClient,
  { adopts, ...found }: { unknown: readonly UnknownPayment[]; lost: readonly LostAttempt[]; adopts: boolean },
): Promise<RemadeTransfer[]> {
  const remade: RemadeTransfer[] = [];
  for (const { unknown, lost } of await findLostTransfers(client, found)) {
    if (!adopts) {
      const message = `nonce ${unknown.nonce} was used by ${unknown.hash}, which pays transfer ${lost.transferId}, which the books have lost: resume with --adopt to have it again`;
      throw new ValidationError([{ field: "chain", rule: "wallet.lost_transfer", message }]);
    }
    const made = await remakeTransfer(client, lost);
    if (made !== null) remade.push(made);
  }
  return remade;
}

function remadeOf(remade: readonly RemadeTransfer[]): Pick<ResumedWallet, "remadeTransfers" | "uncovered" | "renamed"> {
  if (remade.length === 0) return {};
  const uncovered = remade.flatMap((each) => each.uncovered ?? []);
  const renamed = remade.flatMap((each) => each.renamed ?? []);
  return {
    remadeTransfers: remade.map(({ transferId }) => transferId),
    ...(uncovered.length === 0 ? {} : { uncovered }),
    ...(renamed.length === 0 ? {} : { renamed }),
  };
}

/** The next nonce of a wallet. Errors: ValidationError, where it does not begin at the nonce that the operator named. */
async function firstNonceOf(
  client: PoolClient,
  wallet: Wallet,
  { firstNonce, used }: { firstNonce: number | null; used: number },
): Promise<number> {
  if (firstNonce === null) return wallet.nextNonce;
  if (firstNonce < wallet.nextNonce)
    throw wrongFirst(`must be ${wallet.nextNonce} at least: the wallet is there already`);
  if (firstNonce > used) throw wrongFirst(`must be ${used} at most: the chain has used no more`);
  // What such a wallet has paid is in a journal or in the books, and what is before it must be looked at.
  if (await hasPaid(client, wallet.walletId))
    throw wrongFirst("is only for a wallet that has never paid from these books");
  await beginAt(client, wallet.walletId, firstNonce);
  return firstNonce;
}

function wrongFirst(message: string): ValidationError {
  return new ValidationError([{ field: "firstNonce", rule: "wallet.first_nonce", message }]);
}

/** The reason of the stop that follows where one order could not write down all nonces. */
function readOn({ chain }: Wallet, { end, used }: { end: number; used: number }): string {
  return `the chain has used ${used} nonces, and they are read up to ${end}: run saldo payout resume --chain ${chain} again`;
}

function notFinal(nonce: number): ValidationError {
  const message = `nonce ${nonce} was used by a transaction that is not final yet; try again later`;
  return new ValidationError([{ field: "chain", rule: "wallet.foreign_final", message }]);
}

function stillWaiting(nonce: number): ValidationError {
  const message = `the network has a transaction of nonce ${nonce} that waits for a block: resume when the chain has used it`;
  return new ValidationError([{ field: "chain", rule: "wallet.foreign_waiting", message }]);
}

async function answerOf<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked;
  } catch (cause) {
    throw new UpstreamBusy(RETRY_AFTER_SECONDS, { cause });
  }
}
