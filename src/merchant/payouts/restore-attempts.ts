// Transactions that a journal has and the books lack, when an operator resumes their wallet. What the network may still mine is
// written into the books again with its own bytes and nonce: signed again for another nonce it would be paid twice.

import type { PoolClient } from "pg";
import { invariant } from "../../kernel/invariant.ts";
import { ValidationError } from "../../kernel/errors.ts";
import { moveTransfer } from "../transfers/transfer-states.ts";
import { findWrongBytes, type SigningWallet } from "./journal-bytes.ts";
import { type LostAttempt, readFinalNonce, readLost, resolveLost } from "./journal-store.ts";
import { isLostTransfer, type RemadeTransfer, remakeLost } from "./lost-transfers.ts";
import { insertPayout, markFilling, storeAttempt } from "./payout-store.ts";

/** Why a nonce is filled, where that decision was lost, too. The merchant reads it. */
const FILLED = "The network did not take the transaction.";

const IN_BOOKS = `
SELECT p.id, p.transfer_id AS "transferId", p.attempts, p.ended_at IS NOT NULL AS "isEnded", p.filling_reason IS NOT NULL AS "isFilling",
  ARRAY(SELECT a.hash FROM payout_attempt a WHERE a.payout_id = p.id) AS hashes
FROM payout p WHERE p.wallet_id = $1::uuid AND p.nonce = $2 FOR NO KEY UPDATE OF p`;
const OPEN_TRANSFER = `
SELECT t.status FROM transfer t
WHERE t.id = $1::uuid AND t.status IN ('PENDING', 'WAITING', 'SUBMITTED') AND NOT t.awaits_approval
  AND (SELECT count(*) FROM payout p WHERE p.transfer_id = t.id AND p.state <> 'displaced') = 0`;

type InBooks = {
  readonly id: string;
  readonly transferId: string | null;
  readonly attempts: number;
  readonly isEnded: boolean;
  readonly isFilling: boolean;
  readonly hashes: readonly string[];
};

/** What becomes of the attempts of one nonce. `payout` null: the nonce is taken again. */
type Restored = { readonly nonce: number; readonly attempts: readonly LostAttempt[]; readonly payout: InBooks | null };

/**
 * Writes lost transactions of a locked wallet into the books again, from its next nonce on. Returns how many nonces were taken, and how
 * many payments came back. Errors: ValidationError, where one of them is not adopted, or cannot be decided before the chain has used its nonce.
 */
export async function restoreAttempts(
  client: PoolClient,
  { wallet, nextNonce, adopts }: { wallet: SigningWallet; nextNonce: number; adopts: boolean },
): Promise<{ readonly taken: number; readonly restored: number; readonly remade: readonly RemadeTransfer[] }> {
  const { walletId } = wallet;
  const lost = [...Map.groupBy(await readLost(client, walletId), ({ nonce }) => nonce)];
  const plans: Restored[] = [];
  let free = nextNonce;
  for (const [nonce, attempts] of lost) {
    const plan = await planOf(client, { wallet, nonce, free, attempts });
    if (plan === null) continue;
    if (plan.payout === null) free += 1;
    plans.push(plan);
  }
  const [first] = plans;
  if (first !== undefined && !adopts) {
    const more = plans.length === 1 ? "" : `, and ${plans.length - 1} more nonces`;
    const what = `is signed for transfer ${first.attempts[0]?.transferId}${more}`;
    throw refusal(first.nonce, `${what}: resume with --adopt to have it in the books again; it is not paid again`);
  }
  const remade: RemadeTransfer[] = [];
  for (const plan of plans) {
    const made = plan.payout === null ? await remakeLost(client, plan.attempts) : null;
    if (made !== null) remade.push(made);
    await restore(client, walletId, plan);
  }
  await resolveLost(client, walletId);
  const finalNonce = await readFinalNonce(client, walletId);
  if (finalNonce !== null && finalNonce >= free)
    throw refusal(
      finalNonce,
      "was final by a journal, and the chain's node does not have it: wait until the node has all blocks",
    );
  return { taken: free - nextNonce, restored: plans.length, remade };
}

/** Null: there is nothing to restore. */
async function planOf(
  client: PoolClient,
  {
    wallet,
    nonce,
    free,
    attempts,
  }: { wallet: SigningWallet; nonce: number; free: number; attempts: readonly LostAttempt[] },
): Promise<Restored | null> {
  const { rows } = await client.query<InBooks>(IN_BOOKS, [wallet.walletId, nonce]);
  const [payout = null] = rows;
  const [first] = attempts;
  invariant(first !== undefined, "a nonce that was lost has an attempt");
  // A nonce that has ended, or was used before this wallet began, is used up: nothing else that has it can be mined. One that the
  // books have again was adopted from the chain.
  if (payout === null ? nonce < free : payout.isEnded || attempts.some(({ hash }) => payout.hashes.includes(hash)))
    return null;
  if (payout !== null) {
    const fits = !payout.isFilling || attempts.every(({ kind }) => kind === "filler");
    if (payout.transferId === first.transferId && fits) {
      await requireOwnBytes(client, wallet, attempts);
      return { nonce, attempts, payout };
    }
    throw refusal(
      nonce,
      `is signed for transfer ${first.transferId}, and the books have it for another: resume when the chain has used it`,
    );
  }
  if (nonce > free)
    throw refusal(
      nonce,
      `is signed for transfer ${first.transferId}, and no journal has nonce ${free}: start every node that pays`,
    );
  if (!(await isLostTransfer(client, attempts))) await requireOpen(client, nonce, first.transferId);
  await requireOwnBytes(client, wallet, attempts);
  return { nonce, attempts, payout: null };
}

/** Errors: ValidationError, where the bytes pay something else than their transfer, or another key has signed them. */
async function requireOwnBytes(client: PoolClient, wallet: SigningWallet, attempts: readonly LostAttempt[]) {
  const [first] = attempts;
  const wrong = await findWrongBytes(client, wallet, attempts);
  if (first === undefined || wrong === null) return;
  const what = `is signed for transfer ${first.transferId} by a journal that was changed, or a token that is not configured`;
  throw refusal(first.nonce, `${what}: ${wrong}. It is not sent again: resume when the chain has used it`);
}

/** Errors: ValidationError, where a transfer cannot take the payout. */
async function requireOpen(client: PoolClient, nonce: number, transferId: string): Promise<void> {
  if ((await client.query(OPEN_TRANSFER, [transferId])).rowCount === 1) return;
  throw refusal(
    nonce,
    `is signed for transfer ${transferId}, which is not open in the books: resume when the chain has used it`,
  );
}

async function restore(client: PoolClient, walletId: string, { nonce, attempts, payout }: Restored): Promise<void> {
  const [first] = attempts;
  invariant(first !== undefined, "what is restored has an attempt");
  const { transferId } = first;
  if (payout === null) {
    // It locks the fund and the transfer, whatever the status is.
    await moveTransfer(client, { transferId, from: ["WAITING"], to: "PENDING" });
    await requireOpen(client, nonce, transferId);
  }
  const payoutId = payout?.id ?? (await insertPayout(client, { walletId, nonce, transferId }));
  let number = payout?.attempts ?? 0;
  let isFilling = payout?.isFilling ?? false;
  for (const { kind, raw, hash, feeMost, feePriority } of attempts) {
    if (kind === "filler" && !isFilling) isFilling = await markFilling(client, payoutId, FILLED);
    number += 1;
    const fee = { most: BigInt(feeMost), priority: BigInt(feePriority) };
    const isStored = await storeAttempt(client, { payoutId, number, kind, raw, hash, fee });
    invariant(isStored, "an open payout of a locked wallet takes an attempt");
  }
}

function refusal(nonce: number, what: string): ValidationError {
  return new ValidationError([{ field: "chain", rule: "wallet.lost", message: `nonce ${nonce} ${what}` }]);
}
