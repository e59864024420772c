// SQL of payouts that have ended and are compared with their chain again, and of the head that was last believed.

import type { Pool, PoolClient } from "pg";
import { ValidationError } from "../../kernel/errors.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

// Behind the chain's own count are few: what has ended there has vanished, or the node lags.
const RECHECKS = `
SELECT p.id AS "payoutId", p.transfer_id AS "transferId", p.nonce, a.hash, a.block_number, a.block_hash
FROM (
  (SELECT id, transfer_id, nonce, state FROM payout WHERE wallet_id = $1::uuid AND recheck_at <= clock_timestamp()
   ORDER BY recheck_at LIMIT $3)
  UNION
  (SELECT id, transfer_id, nonce, state FROM payout WHERE wallet_id = $1::uuid AND nonce >= $2 ORDER BY nonce LIMIT $3)
) p
CROSS JOIN LATERAL (SELECT * FROM payout_attempt WHERE payout_id = p.id AND state = 'final' OFFSET 0) a
WHERE p.state IN ('confirmed', 'reverted', 'filled') ORDER BY p.nonce LIMIT $3`;
const HAS_RECHECKS = `
SELECT EXISTS (SELECT FROM payout WHERE wallet_id = $1::uuid AND recheck_at <= clock_timestamp()) AS has_rechecks`;
const NOTE_RECHECK = `
UPDATE payout SET recheck_at = CASE
  WHEN clock_timestamp() - ended_at < $2::float8 * interval '1 ms'
  THEN clock_timestamp() + greatest(interval '1 minute', clock_timestamp() - ended_at) END
WHERE id = $1::uuid AND recheck_at IS NOT NULL AND ended_at IS NOT NULL`;
// A payout that gave the funds back must not pay any more: its nonce is filled instead.
const REOPEN = `
UPDATE payout SET state = 'broadcast', final_hash = NULL, ended_at = NULL, recheck_at = NULL, reopened_at = clock_timestamp(),
  filling_reason = CASE WHEN state = 'confirmed' THEN NULL ELSE coalesce(filling_reason, $3) END
WHERE id = $1::uuid AND state IN ('confirmed', 'reverted', 'filled') AND final_hash = $2`;
const REOPEN_ATTEMPT = `
UPDATE payout_attempt SET state = 'signed', block_number = NULL, block_hash = NULL
WHERE payout_id = $1::uuid AND state = 'final'`;
const OPEN_PAYOUT = `
SELECT id, short_accepted_at IS NOT NULL AS is_accepted FROM payout
WHERE transfer_id = $1::uuid AND ended_at IS NULL FOR NO KEY UPDATE`;
const ACCEPT_SHORT = `UPDATE payout SET short_accepted_at = clock_timestamp() WHERE id = $1::uuid`;
const NOTE_HEAD = `
UPDATE wallet SET head_number = $2, head_at = clock_timestamp()
WHERE id = $1::uuid AND (head_number IS NULL OR ($2 > head_number
  AND $2 - head_number <= $3 + extract(epoch FROM clock_timestamp() - head_at) * 1000 / $4))`;
const READ_HEAD = `SELECT head_number AS "headNumber" FROM wallet WHERE id = $1::uuid`;

/** A payout that a final transaction of ours has ended. */
export type EndedPayout = {
  readonly payoutId: string;
  readonly transferId: string;
  readonly nonce: number;
  /** The transaction. */
  readonly hash: string;
  /** Its block. */
  readonly block: { readonly number: number; readonly hash: string };
};

/** The payouts to compare with the chain now: those that are due, and those that the chain's own count does not cover. */
export async function readRechecks(
  client: Queryable,
  { walletId, chainNonce, limit }: { walletId: string; chainNonce: number; limit: number },
): Promise<EndedPayout[]> {
  const { rows } = await client.query<Omit<EndedPayout, "block"> & { block_number: bigint; block_hash: string }>(
    RECHECKS,
    [walletId, chainNonce, limit],
  );
  return rows.map(({ block_number: number, block_hash: hash, ...payout }) => ({
    ...payout,
    block: { number: Number(number), hash },
  }));
}

/** Whether a payout of the wallet that has ended is to be compared with its chain again. */
export async function hasRechecks(client: Queryable, walletId: string): Promise<boolean> {
  const { rows } = await client.query<{ has_rechecks: boolean }>(HAS_RECHECKS, [walletId]);
  return rows[0]?.has_rechecks === true;
}

/** Notes that a payout is as it was. It is compared again after twice the time since its end, and no more after `forMs`. */
export async function noteRecheck(
  client: Queryable,
  { payoutId, forMs }: { payoutId: string; forMs: number },
): Promise<void> {
  await client.query(NOTE_RECHECK, [payoutId, forMs]);
}

/** Opens a payout again whose final transaction is gone. False: it is open, or has ended by another one. */
export async function reopenPayout(
  client: PoolClient,
  { payoutId, hash, fillingReason }: Pick<EndedPayout, "payoutId" | "hash"> & { fillingReason: string },
): Promise<boolean> {
  if ((await client.query(REOPEN, [payoutId, hash, fillingReason])).rowCount !== 1) return false;
  await client.query(REOPEN_ATTEMPT, [payoutId]);
  return true;
}

/**
 * Notes that a short delivery counts as the payment of a transfer. False: it was noted before. Errors: ValidationError when the
 * transfer has no open payout.
 */
export async function acceptShort(client: PoolClient, transferId: string): Promise<boolean> {
  const { rows } = await client.query<{ id: string; is_accepted: boolean }>(OPEN_PAYOUT, [transferId]);
  const [payout] = rows;
  if (payout === undefined) {
    const message = "must name a transfer whose payout is open";
    throw new ValidationError([{ field: "transferId", rule: "payout.open", message }]);
  }
  if (payout.is_accepted) return false;
  await client.query(ACCEPT_SHORT, [payout.id]);
  return true;
}

/** How fast the head of a chain may grow: so many blocks at once, and one more in each of so many milliseconds. */
export type HeadPace = { readonly blocksAtOnce: number; readonly msPerBlock: number };

/**
 * Notes how far a chain is. Returns the head that was believed last when the new one is further ahead of it than the chain can
 * have grown since; null: it is plausible.
 */
export async function noteHead(
  client: Queryable,
  { walletId, latest, pace }: { walletId: string; latest: number; pace: HeadPace },
): Promise<number | null> {
  const noted = await client.query(NOTE_HEAD, [walletId, latest, pace.blocksAtOnce, pace.msPerBlock]);
  if (noted.rowCount === 1) return null;
  const { rows } = await client.query<{ headNumber: bigint | null }>(READ_HEAD, [walletId]);
  const believed = Number(rows[0]?.headNumber ?? latest);
  return latest > believed ? believed : null;
}
