// Transfers that were ordered before their account was frozen. They get no nonce (payout-store.ts); here their merchants are given
// the reason. Once the account is unfrozen, what waits goes on like everything else.

import type { Pool } from "pg";
import { lockTransfer, moveTransfer } from "../transfers/transfer-states.ts";
import { hasPayoutBegun } from "./payout-store.ts";
import { inTransaction } from "./payout-transaction.ts";

/** Why a transfer waits: an operator has frozen the account of its merchant. The merchant reads it. */
export const WAITS_FOR_ACCOUNT = "The account is frozen.";

/** How many one round moves. */
const AT_ONCE = 100;

const IS_FROZEN = `
  (SELECT frozen_at FROM account WHERE id = (SELECT account_id FROM merchant WHERE id = t.merchant_id)) IS NOT NULL`;
const FROZEN = `
SELECT t.id FROM transfer t
WHERE t.status = 'PENDING' AND t.environment = $1 AND ($2::text IS NULL OR t.network = $2) AND ${IS_FROZEN}
ORDER BY t.id LIMIT ${AT_ONCE}`;
const STILL_FROZEN = `SELECT FROM transfer t WHERE t.id = $1::uuid AND ${IS_FROZEN}`;

/** Lets the transfers of frozen accounts wait that are not signed, with that as their reason. */
export async function letFrozenWait(
  pool: Pool,
  { environment, network }: { readonly environment: string; readonly network: string | null },
): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(FROZEN, [environment, network]);
  for (const { id: transferId } of rows) {
    await inTransaction(pool, async (client) => {
      await lockTransfer(client, transferId);
      if (await hasPayoutBegun(client, transferId)) return;
      // It may have been unfrozen meanwhile.
      if ((await client.query(STILL_FROZEN, [transferId])).rowCount === 0) return;
      await moveTransfer(client, { transferId, from: ["PENDING"], to: "WAITING", reason: WAITS_FOR_ACCOUNT });
    });
  }
}
