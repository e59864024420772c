// Lost transfers whose externalId another order has by now: their merchants have used it again, for something else or after its end. The
// books take a name once, so such a transfer comes back under another one.

import type { Pool, PoolClient } from "pg";

// $1: a wallet, or null for all. The same order under the same name is that transfer itself, unless it has ended without a payment.
const TAKEN = `
SELECT DISTINCT ON (w.chain, w.address, l.nonce, l.transfer_id) w.chain, w.address, l.nonce, l.transfer_id AS "transferId", o.merchant_id AS "merchantId",
  o.external_id AS "externalId", o.id AS "takenBy"
FROM payout_lost_attempt l JOIN wallet w ON w.id = l.wallet_id
JOIN transfer o ON o.merchant_id::text = l.transfer ->> 'merchantId' AND o.external_id = l.transfer ->> 'externalId'
  AND o.environment = 'production'
WHERE l.resolved_at IS NULL AND ($1::uuid IS NULL OR w.id = $1) AND NOT EXISTS (SELECT FROM transfer t WHERE t.id = l.transfer_id)
  AND NOT (${isSameOrder("o", "l.transfer")} AND o.status NOT IN ('CANCELED', 'REJECTED'))
ORDER BY w.chain, w.address, l.nonce, l.transfer_id`;

/** A lost transfer, and the one that has its name. */
export type TakenName = {
  readonly chain: string;
  readonly address: string;
  readonly nonce: number;
  readonly transferId: string;
  readonly merchantId: string;
  readonly externalId: string;
  readonly takenBy: string;
};

/** SQL: whether a transfer orders the payment that a journal has of another one. */
export function isSameOrder(transfer: string, journaled: string): string {
  const of = (field: string): string => `${journaled} ->> '${field}'`;
  return `((${transfer}.network, ${transfer}.currency_code, lower(${transfer}.address), ${transfer}.received)
    IS NOT DISTINCT FROM (${of("network")}, ${of("currencyCode")}, lower(${of("address")}), (${of("received")})::numeric))`;
}

/** Those of a wallet, or of all. */
export async function listTakenNames(
  client: Pick<Pool | PoolClient, "query">,
  walletId: string | null = null,
): Promise<TakenName[]> {
  return (await client.query<TakenName>(TAKEN, [walletId])).rows;
}

/** What an operator reads of it. */
export function takenNameText({ transferId, externalId, takenBy }: TakenName): string {
  return `the externalId ${JSON.stringify(externalId)} of the lost transfer ${transferId} is that of transfer ${takenBy} now`;
}
