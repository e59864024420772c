// Payments that the chain has and the books lack: after a restore, those that were made after the moment to which the books were restored.
// What such a transaction pays is what an open transfer waits for. It is adopted: written down as that transfer's payout, with its
// bytes, and the engine then completes it like every other. Paid again it would be paid twice.

import type { PoolClient } from "pg";
import { invariant } from "../../kernel/invariant.ts";
import { ValidationError } from "../../kernel/errors.ts";
import type { FoundTransaction } from "../chains/payout-chain.ts";
import { type Delivery, settleDisplacing } from "./displaced-nonces.ts";
import { insertPayout, storeAttempt } from "./payout-store.ts";

/** SQL: whether a transfer is still to be paid. */
export const IS_OPEN = `t.status IN ('PENDING', 'WAITING', 'SUBMITTED')
  AND (SELECT count(*) FROM payout p WHERE p.transfer_id = t.id AND p.state <> 'displaced') = 0`;
const PAID = `
SELECT t.id, t.awaits_approval FROM transfer t
WHERE t.environment = 'production' AND t.network = $1 AND t.currency_code = $2 AND lower(t.address) = lower($3)
  AND t.received = $4::numeric AND t.id <> ALL ($5::uuid[]) AND ${IS_OPEN}
ORDER BY t.id = $6::uuid DESC NULLS LAST, t.id LIMIT 1 FOR NO KEY UPDATE OF t`;
// A transaction of a journal is judged by the resume that resolves it, also where the displaced transfer has ended by then.
const DISPLACED = `
SELECT p.id, p.nonce, p.transfer_id FROM payout p JOIN transfer t ON t.id = p.transfer_id
  LEFT JOIN payout_lost_attempt l ON l.hash = p.final_hash
WHERE p.wallet_id = $1::uuid AND p.state = 'displaced' AND CASE WHEN l.hash IS NULL THEN ${IS_OPEN} ELSE l.resolved_at IS NULL END
ORDER BY p.nonce`;
const REOPEN = `
UPDATE payout SET state = 'chosen', final_hash = NULL, ended_at = NULL, filling_reason = NULL
WHERE id = $1::uuid AND state = 'displaced' RETURNING attempts`;

/** A nonce that a transaction without a record of ours has used up. `displaced`: the payout that had it. */
export type UnknownPayment = {
  readonly nonce: number;
  readonly hash: string;
  readonly transaction: FoundTransaction | null;
  readonly displaced: (DisplacedPayout & { readonly delivery: Delivery }) | null;
};

/** A payout whose nonce a foreign transaction has, and which is still to be judged. */
export type DisplacedPayout = { readonly payoutId: string; readonly nonce: number; readonly transferId: string };

/** The payment of an open transfer, which is not in the books. */
export type Adoption = {
  readonly unknown: UnknownPayment;
  readonly transferId: string;
  /** Whether the books have the nonce of another transfer, whose own bytes never pay. */
  readonly hasDisplaced: boolean;
};

/** The displaced payouts of a wallet whose transfers, or those that a journal has in their place, would be paid again. */
export async function listDisplaced(client: Pick<PoolClient, "query">, walletId: string): Promise<DisplacedPayout[]> {
  const { rows } = await client.query<{ id: string; nonce: number; transfer_id: string }>(DISPLACED, [walletId]);
  return rows.map((row) => ({ payoutId: row.id, nonce: row.nonce, transferId: row.transfer_id }));
}

/**
 * Finds the open transfers that these transactions pay, one for each at most, and locks them. `transferOf`: for which transfer a
 * transaction was signed, by the journals. Errors: ValidationError, where one must be approved before it can be adopted.
 */
export async function findAdoptions(
  client: PoolClient,
  unknown: readonly UnknownPayment[],
  transferOf: ReadonlyMap<string, string>,
): Promise<Adoption[]> {
  const found: Adoption[] = [];
  for (const each of unknown) {
    const payment = each.transaction?.payment ?? null;
    if (payment === null) continue;
    const { coin, to, units } = payment;
    const taken = found.map(({ transferId }) => transferId);
    const own = each.displaced?.transferId ?? null;
    const { rows } = await client.query<{ id: string; awaits_approval: boolean }>(PAID, [
      coin.network,
      coin.currencyCode,
      to,
      units,
      taken,
      transferOf.get(each.hash) ?? own,
    ]);
    const [transfer] = rows;
    if (transfer === undefined) continue;
    const hasDisplaced = own !== null && own !== transfer.id;
    if (hasDisplaced && each.displaced?.delivery.outcome === "nothing") continue;
    if (transfer.awaits_approval)
      throw refusal(
        "wallet.paid_unapproved",
        each,
        `pays transfer ${transfer.id}, which waits for its approval: approve it first`,
      );
    found.push({ unknown: each, transferId: transfer.id, hasDisplaced });
  }
  return found;
}

/** Errors: ValidationError, where there is one to adopt. */
export function refuseToPayAgain([first, ...more]: readonly Adoption[]): void {
  if (first === undefined) return;
  const others = more.length === 0 ? "" : `, and ${more.length} more transfers are paid`;
  const offer = "resume with --adopt to record what is paid; it is not paid again";
  throw refusal(
    "wallet.paid_open",
    first.unknown,
    `pays transfer ${first.transferId}, which is open${others}: ${offer}`,
  );
}

/** Writes a payment down as its transfer's payout. The wallet is locked. */
export async function adoptPayment(client: PoolClient, walletId: string, adoption: Adoption): Promise<void> {
  const { unknown, transferId, hasDisplaced } = adoption;
  const { nonce, hash, transaction, displaced } = unknown;
  invariant(transaction !== null, "what is adopted was read");
  if (hasDisplaced && displaced !== null)
    return settleDisplacing(client, walletId, { nonce, hash, transaction, transferId, displaced });
  const payoutId = displaced?.payoutId ?? (await insertPayout(client, { walletId, nonce, transferId }));
  const attempts = displaced === null ? 0 : await reopen(client, payoutId);
  const { raw, fee } = transaction;
  const isStored = await storeAttempt(client, { payoutId, number: attempts + 1, kind: "payment", raw, hash, fee });
  invariant(isStored, "a payout that is locked takes an attempt");
}

async function reopen(client: PoolClient, payoutId: string): Promise<number> {
  const { rows } = await client.query<{ attempts: number }>(REOPEN, [payoutId]);
  invariant(rows[0] !== undefined, "a displaced payout of a locked wallet is opened again");
  return rows[0].attempts;
}

function refusal(rule: string, { nonce, hash }: UnknownPayment, what: string): ValidationError {
  return new ValidationError([{ field: "chain", rule, message: `nonce ${nonce} was used by ${hash}, which ${what}` }]);
}
