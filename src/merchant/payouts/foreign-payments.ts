// What foreign transactions of a wallet have paid. Behind a restore such a payment may be of an order that the books have lost. So a new order of
// the same payment waits until an operator has decided whether it is that one.

import type { Pool, PoolClient } from "pg";
import type { OrderedTransfer } from "../transfers/transfer.ts";
import type { UnknownPayment } from "./adopt-payments.ts";

/** How long orders wait for a payment: an order that is repeated comes much earlier. */
const WAITS_FOR = "interval '30 days'";

const ADD = `
INSERT INTO payout_foreign_payment (hash, wallet_id, nonce, network, currency_code, address, units)
VALUES ($1, $2::uuid, $3, $4, $5, $6, $7::numeric) ON CONFLICT (hash) DO NOTHING`;
const MATCHING = `
SELECT hash FROM payout_foreign_payment
WHERE network = $1 AND currency_code = $2 AND lower(address) = lower($3) AND units = $4::numeric
  AND found_at > clock_timestamp() - ${WAITS_FOR}
ORDER BY found_at DESC, hash LIMIT 1`;
const ALL = `
SELECT w.chain, f.nonce, f.hash, f.currency_code AS "currencyCode", f.address, f.units, f.found_at AS "foundAt"
FROM payout_foreign_payment f JOIN wallet w ON w.id = f.wallet_id
WHERE f.found_at > clock_timestamp() - ${WAITS_FOR} ORDER BY f.found_at, f.nonce`;
// Orders read behind a resume that writes payments, or are read by it.
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('foreign payments', 0))";
const LOCK_SHARED = "SELECT pg_advisory_xact_lock_shared(hashtextextended('foreign payments', 0))";

/** A foreign payment, for a report. `units`: in the smallest unit of its currency. */
export type ReportedForeign = {
  readonly chain: string;
  readonly nonce: number;
  readonly hash: string;
  readonly currencyCode: string;
  readonly address: string;
  readonly units: string;
  readonly foundAt: Date;
};

/** Waits for the orders under way, and lets new ones wait until the caller's transaction has ended. */
export async function lockForeignPayments(client: PoolClient): Promise<void> {
  await client.query(LOCK);
}

/** Writes what a foreign transaction has paid. One that paid nothing in a currency of ours is left out. */
export async function addForeignPayment(
  client: PoolClient,
  walletId: string,
  { nonce, hash, transaction }: UnknownPayment,
): Promise<void> {
  const payment = transaction?.payment ?? null;
  if (payment === null) return;
  const { coin, to, units } = payment;
  await client.query(ADD, [hash, walletId, nonce, coin.network, coin.currencyCode, to, units]);
}

/**
 * The foreign transaction that has paid what an order asks for. Null: there is none. Locks: before those of funds, until the end of the
 * caller's transaction.
 */
export async function findForeignPayment(client: PoolClient, order: OrderedTransfer): Promise<string | null> {
  const { environment, coin, address, received } = order;
  if (environment !== "production") return null;
  await client.query(LOCK_SHARED);
  const values = [coin.network, coin.currencyCode, address, received.units];
  const { rows } = await client.query<{ hash: string }>(MATCHING, values);
  return rows[0]?.hash ?? null;
}

/** The payments for which orders wait. */
export async function listForeignPayments(client: Pick<Pool, "query">): Promise<ReportedForeign[]> {
  return (await client.query<ReportedForeign>(ALL)).rows;
}
