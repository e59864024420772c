// One step of one payout: ask the chain, decide (next-step.ts), act. The order inside an act is what keeps a payment from going
// out twice: bytes are stored before they are broadcast, and only the hash is believed, not the answer to a broadcast.

import type { Pool, PoolClient } from "pg";
import { failpoint } from "../../kernel/failpoint.ts";
import {
  type ChainHead,
  type MinedTransaction,
  type PayoutChain,
  type SeenTransaction,
  UnsignablePayment,
} from "../chains/payout-chain.ts";
import { SignerFailure, WrongSigner } from "../chains/signers/signer.ts";
import { moveTransfer, NOT_SUBMITTED, noteProgress } from "../transfers/transfer-states.ts";
import type { ForeignTransaction } from "./foreign-transaction.ts";
import { nextStep, type PayoutSight, type SeenAttempt, type StepPolicy } from "./next-step.ts";
import type { Attempt, AttemptKind, AttemptState, OpenPayout } from "./payout.ts";
import { markBroadcast, markFilling, noteBroadcast, noteSeen, storeAttempt } from "./payout-store.ts";
import { inTransaction } from "./payout-transaction.ts";
import { settlePayout } from "./settle-payout.ts";
import type { SignedEntry, SignedJournal } from "./signed-journal.ts";

/** The reason that a merchant reads of a transfer that could not be sent. */
export const NOT_TAKEN = "The network did not take the transaction.";
export const NOT_SIGNED = "The transaction could not be made.";

export type Advancing = {
  readonly pool: Pool;
  readonly chain: PayoutChain;
  readonly policy: StepPolicy;
  readonly head: ChainHead;
  /** The wallet's next nonce on the chain. */
  readonly chainNonce: number;
  /** Whether the wallet may sign. What is signed is watched all the same. */
  readonly maySign: boolean;
  /** Whether what is signed may be handed to the network: not while an operator has stopped payouts. */
  readonly mayBroadcast: boolean;
  /** Where this node stores what it broadcasts. Null: the chain cannot be lost apart from the books. */
  readonly journal: Pick<SignedJournal, "add"> | null;
  /** Called when a foreign transaction seems to have used a nonce of the wallet; it decides. */
  readonly onForeign: (found: ForeignTransaction) => Promise<void>;
  /** Called when a nonce is used, by none of the payout's attempts, and the chain does not show by which transaction; the payout waits. */
  readonly onHolderUnknown: (nonce: number) => void;
  /** Called when a nonce needs a higher offer than is allowed: it waits for lower fees of the network. */
  readonly onTooDear: (nonce: number) => void;
  /** Called when a node calls a block final that is not believed; the payout waits. */
  readonly onDoubt: (nonce: number, doubt: string) => void;
  /** Called when a token has delivered less than it was sent for; the payout waits for an operator. */
  readonly onShort: (payout: OpenPayout, hash: string) => Promise<void>;
};

/** Brings a payout as far as it can come now. Errors: those of the chain and the database; the next round goes on from there. */
export async function advancePayout(work: Advancing, payout: OpenPayout): Promise<void> {
  const sight = await look(work, payout);
  await noteSight(work, sight);
  for (const { seen } of sight.attempts) {
    if (seen.status === "mined" && seen.doubt !== undefined) work.onDoubt(payout.nonce, seen.doubt);
  }
  const step = nextStep(sight, work.policy);
  switch (step.kind) {
    case "wait":
      return;
    case "note mined":
      return noteMined(work, payout, step);
    case "ask about short":
      await noteMined(work, payout, step);
      return work.onShort(payout, step.attempt.hash);
    case "settle":
      return settle(work, { payout, ...step });
    case "broadcast":
      return handOver(work, payout, step.attempt);
    case "sign":
      try {
        if (work.maySign && (await signAndSend(work, payout, step))) return;
      } catch (error) {
        // A signer that is away keeps nothing back that is signed already.
        if (isOfSigner(error) && step.otherwise !== null) await handOver(work, payout, step.otherwise);
        throw error;
      }
      // An earlier attempt may still succeed, and the network has lost it.
      if (step.otherwise !== null) await handOver(work, payout, step.otherwise);
      return;
    case "give up":
      await markFilling(work.pool, payout.payoutId, NOT_TAKEN);
      return;
    case "stop signing":
      return work.onForeign({ nonce: payout.nonce, hash: step.foreignHash, displaced: null });
    case "displace": {
      const displaced = { payoutId: payout.payoutId, attempts: payout.attempts.length };
      return work.onForeign({ nonce: payout.nonce, hash: step.foreignHash, displaced });
    }
  }
}

function isOfSigner(error: unknown): boolean {
  return error instanceof SignerFailure || error instanceof WrongSigner;
}

async function look({ chain, head, chainNonce, onHolderUnknown }: Advancing, payout: OpenPayout): Promise<PayoutSight> {
  const attempts: SeenAttempt[] = [];
  for (const attempt of payout.attempts) {
    const payment = attempt.kind === "payment" ? payout.payment : null;
    attempts.push({ attempt, seen: await chain.find({ hash: attempt.hash, payment }, head) });
  }
  const isMined = attempts.some(({ seen }) => seen.status === "mined");
  // Used up, and by none of our attempts: then the chain is asked for the transaction, and a missing answer proves nothing.
  const isUsed = !isMined && chainNonce > payout.nonce;
  const holder = isUsed ? await chain.holderOf(payout.nonce, head) : null;
  if (isUsed && holder === null) onHolderUnknown(payout.nonce);
  return { payout, attempts, holder, isNext: chainNonce === payout.nonce };
}

/** Writes what has changed for attempts that are not mined: the network has them now, or has lost them. */
async function noteSight({ pool }: Advancing, { payout, attempts }: PayoutSight): Promise<void> {
  for (const { attempt, seen } of attempts) {
    if (seen.status === "mined") continue;
    const state: AttemptState = seen.status === "pending" ? "seen" : "signed";
    if (attempt.state === state) continue;
    const lostBlock = attempt.state === "mined";
    await inTransaction(pool, async (client) => {
      await noteSeen(client, { ...payout, number: attempt.number }, { state, block: null });
      if (state === "seen") await submit(client, payout, attempt);
      const progress = { transferId: payout.transferId, transactionHash: attempt.hash, confirmations: 0 };
      if (lostBlock && attempt.kind === "payment") await noteProgress(client, progress);
    });
  }
}

/** The network has an attempt: the transfer is on its way. A filler is none of the merchant's business. */
async function submit(client: PoolClient, payout: OpenPayout, { kind, hash }: Attempt): Promise<void> {
  await markBroadcast(client, payout.payoutId);
  if (kind === "filler") return;
  const move = { transferId: payout.transferId, transactionHash: hash };
  await moveTransfer(client, { ...move, from: NOT_SUBMITTED, to: "SUBMITTED" });
}

async function noteMined(
  { pool }: Advancing,
  payout: OpenPayout,
  { attempt, mined }: { attempt: Attempt; mined: MinedTransaction },
): Promise<void> {
  const { transferId, transferConfirmations, transferStatus } = payout;
  const isShown = transferStatus === "SUBMITTED" && transferConfirmations === mined.confirmations;
  if (attempt.blockHash === mined.block.hash && (attempt.kind === "filler" || isShown)) return;
  await inTransaction(pool, async (client) => {
    await noteSeen(client, { ...payout, number: attempt.number }, { state: "mined", block: mined.block });
    await submit(client, payout, attempt);
    if (attempt.kind === "filler") return;
    const { confirmations } = mined;
    await noteProgress(client, { transferId, transactionHash: attempt.hash, confirmations });
  });
}

async function settle(
  { pool, chain }: Advancing,
  { payout, attempt, mined }: { payout: OpenPayout; attempt: Attempt; mined: MinedTransaction },
): Promise<void> {
  failpoint?.("before-payout-settled");
  await inTransaction(pool, (client) => settlePayout(client, { payout, attempt, mined, feeCoin: chain.feeCoin }));
  failpoint?.("after-payout-settled");
}

/**
 * Signs the next attempt, stores it, and only then lets the network see it. False: it would have to offer more than is allowed,
 * and nothing was signed.
 */
async function signAndSend(
  work: Advancing,
  payout: OpenPayout,
  { as: kind, replaced }: { as: AttemptKind; replaced: Attempt | null },
): Promise<boolean> {
  const { pool, chain } = work;
  const fee = await chain.suggestFee(replaced?.fee ?? null);
  if (fee === null) {
    work.onTooDear(payout.nonce);
    return false;
  }
  const signed = await chain
    .sign({ nonce: payout.nonce, payment: kind === "payment" ? payout.payment : null, fee })
    .catch(async (error: unknown) => {
      if (!(error instanceof UnsignablePayment) || kind === "filler") throw error;
      // The nonce is taken and later ones wait for it, so it is filled.
      await markFilling(pool, payout.payoutId, NOT_SIGNED);
      return null;
    });
  if (signed === null) return true;
  failpoint?.("after-payout-signed");
  const attempt = { ...signed, payoutId: payout.payoutId, number: payout.attempts.length + 1, kind, fee };
  // Another engine's attempt may have come first: then these bytes are discarded unseen.
  if (!(await storeAttempt(pool, attempt))) return true;
  failpoint?.("after-payout-stored");
  await handOver(work, payout, { ...attempt, state: "signed", blockHash: null, ageMs: 0, wasSeen: false });
  return true;
}

/** Hands stored bytes to the network, again or for the first time, and looks whether they came through. */
async function handOver(work: Advancing, payout: OpenPayout, attempt: Attempt): Promise<void> {
  const { pool, chain, head } = work;
  if (!work.mayBroadcast) return;
  await work.journal?.add(entryOf(payout, attempt));
  failpoint?.("after-payout-journaled");
  let refusal: unknown = null;
  await noteBroadcast(pool, { ...payout, number: attempt.number });
  await chain.broadcast(attempt.raw).catch((error: unknown) => {
    // It may have been taken all the same.
    refusal = error;
  });
  failpoint?.("after-payout-broadcast");
  const payment = attempt.kind === "payment" ? payout.payment : null;
  const seen: SeenTransaction = await chain.find({ hash: attempt.hash, payment }, head);
  if (seen.status === "unknown") {
    if (refusal !== null) throw new Error("the network has not taken a payout", { cause: refusal });
    return;
  }
  await inTransaction(pool, async (client) => {
    // Its block is written by the next round, which asks from a newer head.
    await noteSeen(client, { ...payout, number: attempt.number }, { state: "seen", block: null });
    await submit(client, payout, attempt);
    const progress = { transferId: payout.transferId, transactionHash: attempt.hash, confirmations: 0 };
    if (attempt.kind === "payment") await noteProgress(client, progress);
  });
}

function entryOf({ nonce, transferId, transfer }: OpenPayout, { number, kind, raw, hash, fee }: Attempt): SignedEntry {
  const offer = { feeMost: String(fee.most), feePriority: String(fee.priority) };
  return { nonce, transferId, number, kind, raw, hash, ...offer, transfer };
}
