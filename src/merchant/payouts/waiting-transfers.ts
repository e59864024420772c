// Transfers that were ordered before their account was frozen or payouts were stopped, or while nothing can be signed. They get no nonce (payout-store.ts,
// payout-engine.ts); here their merchants get the reason. Once the cause is gone, they continue like all others.

import type { Pool, PoolClient } from "pg";
import { lockTransfer, moveTransfer } from "../transfers/transfer-states.ts";
import { hasPayoutBegun } from "./payout-store.ts";
import { isStopped, type StopScope } from "./payout-stops.ts";
import { inTransaction } from "./payout-transaction.ts";

/** Why a transfer waits: an operator has frozen the account of its merchant. The merchant reads it. */
export const WAITS_FOR_ACCOUNT = "The account is frozen.";

/** Why a transfer waits: an operator has stopped payouts. The merchant reads it. */
export const WAITS_FOR_START = "Payouts are stopped for the moment.";

/** Why a transfer waits: nothing can be signed at the moment. The merchant reads it. */
export const WAITS_FOR_SIGNER = "Payouts cannot be signed at the moment.";

/** How many transfers one round moves. */
const AT_ONCE = 100;

const IS_FROZEN = `
  (SELECT frozen_at FROM account WHERE id = (SELECT account_id FROM merchant WHERE id = t.merchant_id)) IS NOT NULL`;
const FROZEN = `
SELECT t.id FROM transfer t
WHERE t.status = 'PENDING' AND t.environment = $1 AND ($2::text IS NULL OR t.network = $2) AND ${IS_FROZEN}
ORDER BY t.id LIMIT ${AT_ONCE}`;
const PENDING = `
SELECT id FROM transfer
WHERE status = 'PENDING' AND environment = $1 AND ($2::text IS NULL OR network = $2) ORDER BY id LIMIT ${AT_ONCE}`;
const STILL_FROZEN = `SELECT FROM transfer t WHERE t.id = $1::uuid AND ${IS_FROZEN}`;

type Served = { readonly environment: string; readonly network: string | null };

/** Sets unsigned transfers of frozen accounts to wait, with that as their reason. */
export async function letFrozenWait(pool: Pool, { environment, network }: Served): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(FROZEN, [environment, network]);
  for (const { id } of rows) {
    // It may have been unfrozen meanwhile.
    const isFrozen = async (client: PoolClient) => (await client.query(STILL_FROZEN, [id])).rowCount === 1;
    await letWait(pool, { transferId: id, reason: WAITS_FOR_ACCOUNT, holds: isFrozen });
  }
}

/** Sets the transfers to wait that a stop of payouts keeps from being signed, with that as their reason. */
export async function letStoppedWait(pool: Pool, wallet: StopScope, { environment, network }: Served): Promise<void> {
  if (!(await isStopped(pool, wallet))) return;
  const { rows } = await pool.query<{ id: string }>(PENDING, [environment, network]);
  for (const { id } of rows) {
    const holds = (client: PoolClient): Promise<boolean> => isStopped(client, wallet);
    await letWait(pool, { transferId: id, reason: WAITS_FOR_START, holds });
  }
}

/** Sets the transfers to wait that nothing can be signed for, with that as their reason. */
export async function letSignerlessWait(
  pool: Pool,
  { environment, network }: Served,
  isSignerless: () => boolean,
): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(PENDING, [environment, network]);
  for (const { id } of rows) {
    await letWait(pool, { transferId: id, reason: WAITS_FOR_SIGNER, holds: () => Promise.resolve(isSignerless()) });
  }
}

/** Sets an unsigned transfer to wait, if the cause still holds. */
async function letWait(
  pool: Pool,
  wait: { transferId: string; reason: string; holds: (client: PoolClient) => Promise<boolean> },
): Promise<void> {
  const { transferId, reason, holds } = wait;
  await inTransaction(pool, async (client) => {
    await lockTransfer(client, transferId);
    if (await hasPayoutBegun(client, transferId)) return;
    if (await holds(client)) await moveTransfer(client, { transferId, from: ["PENDING"], to: "WAITING", reason });
  });
}
