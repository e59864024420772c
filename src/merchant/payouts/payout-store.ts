// SQL of payouts and their attempts. What must happen once is decided by the row count of one statement: a stored attempt by
// the number of those before it, an end by the payout's being open.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";
import { type Asset, scaleOf } from "../../kernel/money.ts";
import type { Coin, Network } from "../chains/currencies.ts";
import type { SignedTransaction, FeeOffer, MinedTransaction } from "../chains/payout-chain.ts";
import type { TransferStatus } from "../transfers/transfer.ts";
import { isSameOrder } from "./taken-names.ts";
import type { Attempt, AttemptKind, AttemptState, ENDED_STATES, JournaledTransfer, OpenPayout } from "./payout.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const OPEN = `p.state IN ('chosen', 'signed', 'broadcast')`;
const NO_LIVING_PAYOUT = `(SELECT count(*) FROM payout p WHERE p.transfer_id = t.id AND p.state <> 'displaced') = 0`;
// A transfer that was ordered before its account was frozen waits as well.
const OWNER_SERVED = `(
  SELECT frozen_at FROM account
  WHERE id = (SELECT account_id FROM merchant WHERE id = t.merchant_id)) IS NULL`;
const TRANSFER_COLUMNS = `t.id AS transfer_id, t.currency_code, t.network, t.asset, t.address, t.received, t.status`;

// Serving joins whole tables by default. OFFSET 0 makes the planner look each transfer up by its key.
const ITS_TRANSFER = `CROSS JOIN LATERAL (SELECT * FROM transfer WHERE id = p.transfer_id OFFSET 0) t`;
// Every open transfer has been looked at by id; those with a payout are few beside the others, and looked up by index.
const CANDIDATES = `
SELECT ${TRANSFER_COLUMNS} FROM transfer t
WHERE t.status IN ('PENDING', 'WAITING', 'SUBMITTED') AND NOT t.awaits_approval AND t.environment = $1
  AND ($2::text IS NULL OR t.network = $2) AND ($3::text[] IS NULL OR t.currency_code = ANY ($3)) AND ${NO_LIVING_PAYOUT}
  AND ${OWNER_SERVED}
ORDER BY t.id LIMIT $4`;
const CHOOSABLE = `
SELECT t.id FROM transfer t
WHERE t.id = $1::uuid AND t.status IN ('PENDING', 'SUBMITTED') AND NOT t.awaits_approval AND ${NO_LIVING_PAYOUT}
  AND ${OWNER_SERVED}
FOR NO KEY UPDATE SKIP LOCKED`;
const INSERT = `INSERT INTO payout (id, wallet_id, nonce, transfer_id, state) VALUES ($1::uuid, $2::uuid, $3, $4::uuid, 'chosen')`;
const ADOPT = `
INSERT INTO payout (id, wallet_id, nonce, state, final_hash, ended_at)
VALUES ($1::uuid, $2::uuid, $3, 'foreign', $4, clock_timestamp())`;
const OPEN_PAYOUTS = `
SELECT p.id, p.nonce, p.state, p.filling_reason, p.short_accepted_at IS NOT NULL AS is_short_accepted, t.confirmations,
       t.merchant_id, t.external_id, t.implied_network, t.ordered_address, t.fee, t.fee_id, ${TRANSFER_COLUMNS}
FROM payout p ${ITS_TRANSFER}
WHERE p.wallet_id = $1::uuid AND ${OPEN} AND ($2::uuid IS NULL OR p.id = $2) ORDER BY p.nonce`;
const ATTEMPTS = `
SELECT payout_id, number, kind, raw, hash, fee_most, fee_priority, state, block_hash, seen_at IS NOT NULL AS was_seen,
       (extract(epoch FROM clock_timestamp() - signed_at) * 1000)::float8 AS age_ms
FROM payout_attempt WHERE payout_id = ANY ($1::uuid[]) ORDER BY payout_id, number`;
// The attempt is stored only behind those the signer knew of, and only if the nonce is still meant for what was signed.
const STORE_ATTEMPT = `
WITH taken AS (
  UPDATE payout p SET attempts = $2, state = CASE WHEN p.state = 'chosen' THEN 'signed' ELSE p.state END
  WHERE p.id = $1::uuid AND ${OPEN} AND p.attempts = $2 - 1 AND (p.filling_reason IS NULL) = ($3 = 'payment')
  RETURNING p.id
)
INSERT INTO payout_attempt (payout_id, number, kind, raw, hash, fee_most, fee_priority)
SELECT id, $2, $3, $4, $5, $6::numeric, $7::numeric FROM taken`;
const NOTE_BROADCAST = `UPDATE payout_attempt SET broadcast_at = clock_timestamp() WHERE payout_id = $1::uuid AND number = $2`;
const NOTE_SEEN = `
UPDATE payout_attempt SET state = $3, seen_at = CASE WHEN $3 = 'signed' THEN seen_at ELSE clock_timestamp() END,
  block_number = $4, block_hash = $5
WHERE payout_id = $1::uuid AND number = $2 AND state <> 'final'`;
const SET_BROADCAST = `UPDATE payout p SET state = 'broadcast' WHERE p.id = $1::uuid AND p.state = 'signed'`;
const FILL = `UPDATE payout p SET filling_reason = $2 WHERE p.id = $1::uuid AND ${OPEN} AND p.filling_reason IS NULL`;
const END = `
UPDATE payout p SET state = $2, final_hash = $3, ended_at = clock_timestamp(),
  recheck_at = CASE WHEN $4 THEN clock_timestamp() + interval '1 minute' END
WHERE p.id = $1::uuid AND ${OPEN}`;
// Storing an attempt and ending the payout take this lock, too.
const LOCK_PAYOUT = `
SELECT p.id FROM payout p WHERE p.id = $1::uuid AND ${OPEN} AND p.attempts = $2 FOR NO KEY UPDATE`;
const IS_OWN = `SELECT EXISTS (SELECT FROM payout_attempt WHERE hash = $1) AS is_own`;
// Asked behind the wallet's lock, before it signs again: from the few nonces that were lost to the attempts by hash.
const ENDED_BY_OWN = `
SELECT p.nonce FROM payout p CROSS JOIN LATERAL (SELECT FROM payout_attempt WHERE hash = p.final_hash OFFSET 0) a
WHERE p.wallet_id = $1::uuid AND p.state IN ('displaced', 'foreign') ORDER BY p.nonce LIMIT 1`;
// Also where a journal has a signature that the books have lost: the chain may have paid it, if the order is the same.
const HAS_BEGUN = `
SELECT ${NO_LIVING_PAYOUT} AND NOT EXISTS (
  SELECT FROM payout_lost_attempt l WHERE l.resolved_at IS NULL AND (l.transfer_id = t.id
    OR l.transfer ->> 'merchantId' = t.merchant_id::text AND l.transfer ->> 'externalId' = t.external_id
    AND ${isSameOrder("t", "l.transfer")})) AS none
FROM transfer t WHERE t.id = $1::uuid`;
const IN_FLIGHT = `
SELECT t.asset, sum(t.received) AS units, count(*)::int AS count FROM payout p ${ITS_TRANSFER}
WHERE p.wallet_id = $1::uuid AND ${OPEN} GROUP BY t.asset`;

/** A transfer that a wallet could pay next. */
export type Candidate = {
  readonly transferId: string;
  readonly status: TransferStatus;
  readonly coin: Coin;
  readonly to: string;
  readonly units: bigint;
};

type TransferColumns = {
  transfer_id: string;
  currency_code: string;
  network: Network;
  asset: Asset;
  address: string;
  received: string;
  status: TransferStatus;
};

type JournaledColumns = {
  merchant_id: string;
  external_id: string;
  implied_network: boolean;
  ordered_address: string;
  fee: string;
  fee_id: string;
};

/** The transfers to pay next, oldest first. Absent networks or currencies: all. */
export async function readCandidates(
  client: Queryable,
  wanted: { environment: string; network: string | null; currencies: readonly string[] | null; limit: number },
): Promise<Candidate[]> {
  const values = [wanted.environment, wanted.network, wanted.currencies, wanted.limit];
  const { rows } = await client.query<TransferColumns>(CANDIDATES, values);
  return rows.map((row) => ({ transferId: row.transfer_id, status: row.status, ...paymentOf(row) }));
}

/** Locks a transfer that is to be paid and has no payout. False: it is not, or another process is moving it. */
export async function lockChoosable(client: PoolClient, transferId: string): Promise<boolean> {
  return (await client.query(CHOOSABLE, [transferId])).rowCount === 1;
}

/** Writes that a nonce is meant for a transfer. */
export async function insertPayout(
  client: PoolClient,
  { walletId, nonce, transferId }: { walletId: string; nonce: number; transferId: string },
): Promise<string> {
  const payoutId = uuidv7();
  await client.query(INSERT, [payoutId, walletId, nonce, transferId]);
  return payoutId;
}

/** Writes that a foreign transaction had used up a nonce before we chose it. */
export async function insertForeign(
  client: PoolClient,
  { walletId, nonce, hash }: { walletId: string; nonce: number; hash: string },
): Promise<void> {
  await client.query(ADOPT, [uuidv7(), walletId, nonce, hash]);
}

/** The payouts of a wallet that have not ended, by nonce; or one of them. */
export async function readOpenPayouts(
  client: Queryable,
  { walletId, payoutId }: { walletId: string; payoutId?: string },
): Promise<OpenPayout[]> {
  const { rows } = await client.query<
    TransferColumns &
      JournaledColumns & {
        id: string;
        nonce: number;
        state: OpenPayout["state"];
        filling_reason: string | null;
        is_short_accepted: boolean;
        confirmations: number;
      }
  >(OPEN_PAYOUTS, [walletId, payoutId ?? null]);
  const attempts = await readAttempts(
    client,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    payoutId: row.id,
    transferId: row.transfer_id,
    nonce: row.nonce,
    state: row.state,
    payment: paymentOf(row),
    transfer: journaledOf(row),
    attempts: attempts.get(row.id) ?? [],
    fillingReason: row.filling_reason,
    isShortAccepted: row.is_short_accepted,
    transferStatus: row.status,
    transferConfirmations: row.confirmations,
  }));
}

async function readAttempts(client: Queryable, payoutIds: readonly string[]): Promise<Map<string, Attempt[]>> {
  const found = new Map<string, Attempt[]>(payoutIds.map((id) => [id, []]));
  if (payoutIds.length === 0) return found;
  const { rows } = await client.query<AttemptColumns>(ATTEMPTS, [payoutIds]);
  for (const row of rows) {
    found.get(row.payout_id)?.push({
      number: row.number,
      kind: row.kind,
      raw: row.raw,
      hash: row.hash,
      fee: { most: BigInt(row.fee_most), priority: BigInt(row.fee_priority) },
      state: row.state,
      blockHash: row.block_hash,
      ageMs: row.age_ms,
      wasSeen: row.was_seen,
    });
  }
  return found;
}

type AttemptColumns = {
  payout_id: string;
  number: number;
  kind: AttemptKind;
  raw: string;
  hash: string;
  fee_most: string;
  fee_priority: string;
  state: AttemptState;
  block_hash: string | null;
  was_seen: boolean;
  age_ms: number;
};

/** Names an attempt. */
export type AttemptName = { readonly payoutId: string; readonly number: number };

/**
 * Stores what was signed as the next attempt of its payout. False: another attempt came first, or the nonce is no longer
 * meant for it; then these bytes must never be broadcast.
 */
export async function storeAttempt(
  client: Queryable,
  attempt: AttemptName & SignedTransaction & { kind: AttemptKind; fee: FeeOffer },
): Promise<boolean> {
  const { payoutId, number, kind, raw, hash, fee } = attempt;
  return (
    (await client.query(STORE_ATTEMPT, [payoutId, number, kind, raw, hash, fee.most, fee.priority])).rowCount === 1
  );
}

/** Writes that an attempt was handed to the network. */
export async function noteBroadcast(client: Queryable, { payoutId, number }: AttemptName): Promise<void> {
  await client.query(NOTE_BROADCAST, [payoutId, number]);
}

/** Writes what the chain reports of an attempt. `block` null: it is in none. */
export async function noteSeen(
  client: Queryable,
  { payoutId, number }: AttemptName,
  { state, block }: { state: AttemptState; block: MinedTransaction["block"] | null },
): Promise<void> {
  await client.query(NOTE_SEEN, [payoutId, number, state, block?.number ?? null, block?.hash ?? null]);
}

/** Writes that the network has an attempt of a payout. */
export async function markBroadcast(client: Queryable, payoutId: string): Promise<void> {
  await client.query(SET_BROADCAST, [payoutId]);
}

/** Decides that the nonce is filled instead of paid. False: it was decided before, or the payout has ended. */
export async function markFilling(client: Queryable, payoutId: string, reason: string): Promise<boolean> {
  return (await client.query(FILL, [payoutId, reason])).rowCount === 1;
}

/** Ends an open payout, and lets it be compared with its chain later where that is wanted. False: it has ended. */
export async function endPayout(
  client: Queryable,
  end: { payoutId: string; state: (typeof ENDED_STATES)[number]; hash: string; isRechecked?: boolean },
): Promise<boolean> {
  const { payoutId, state, hash, isRechecked = false } = end;
  return (await client.query(END, [payoutId, state, hash, isRechecked])).rowCount === 1;
}

/** Locks an open payout that has so many attempts. False: it has ended, or has others. */
export async function lockPayout(
  client: PoolClient,
  { payoutId, attempts }: { payoutId: string; attempts: number },
): Promise<boolean> {
  return (await client.query(LOCK_PAYOUT, [payoutId, attempts])).rowCount === 1;
}

/** Whether we have signed a transaction: each one of ours that the network may know is stored. */
export async function isOwnTransaction(client: Queryable, hash: string): Promise<boolean> {
  const { rows } = await client.query<{ is_own: boolean }>(IS_OWN, [hash]);
  return rows[0]?.is_own !== false;
}

/** A nonce of a wallet that is recorded as foreign though our own transaction has it; null: there is none. */
export async function findWronglyForeign(client: Queryable, walletId: string): Promise<number | null> {
  const { rows } = await client.query<{ nonce: number }>(ENDED_BY_OWN, [walletId]);
  return rows[0]?.nonce ?? null;
}

/** Whether a nonce was taken for a transfer whose row the caller has locked: from then on it is not canceled. */
export async function hasPayoutBegun(client: Queryable, transferId: string): Promise<boolean> {
  const { rows } = await client.query<{ none: boolean }>(HAS_BEGUN, [transferId]);
  return rows[0]?.none === false;
}

/** The sums and the number of a wallet's open payouts, by asset. */
export async function readInFlight(
  client: Queryable,
  walletId: string,
): Promise<ReadonlyMap<Asset, { units: bigint; count: number }>> {
  const { rows } = await client.query<{ asset: Asset; units: string; count: number }>(IN_FLIGHT, [walletId]);
  return new Map(rows.map(({ asset, units, count }) => [asset, { units: BigInt(units), count }]));
}

function journaledOf(row: TransferColumns & JournaledColumns): JournaledTransfer {
  return {
    merchantId: row.merchant_id,
    externalId: row.external_id,
    network: row.network,
    currencyCode: row.currency_code,
    asset: row.asset,
    isNetworkImplied: row.implied_network,
    address: row.address,
    orderedAddress: row.ordered_address,
    received: row.received,
    fee: row.fee,
    feeRowId: row.fee_id,
  };
}

function paymentOf(row: TransferColumns): { coin: Coin; to: string; units: bigint } {
  const { currency_code: currencyCode, network, asset } = row;
  return {
    coin: { currencyCode, network, decimals: scaleOf(asset) },
    to: row.address,
    units: BigInt(row.received),
  };
}
