// SQL of the sandbox chain: its mempool and its mined transactions.

import type { Pool } from "pg";
import { waitForLocks, withTransaction } from "../../../database/transactions.ts";

/** The most transactions that one round mines; the others follow with the next. */
const MOST_MINED_AT_ONCE = 500;

const ACCEPT = `
INSERT INTO sandbox_transaction (hash, nonce, fee, outcome, ready_at_ms)
SELECT $1, $2, $3::numeric, $4, $5::bigint FROM sandbox_wallet WHERE mined <= $2
ON CONFLICT (hash) DO UPDATE SET ready_at_ms = coalesce(sandbox_transaction.ready_at_ms, $6::bigint)`;
const LOCK_WALLET = `SELECT mined, last_mined_at_ms FROM sandbox_wallet FOR NO KEY UPDATE`;
const HAS_DUE = `SELECT EXISTS (SELECT FROM sandbox_transaction WHERE mined_at_ms IS NULL AND ready_at_ms <= $1
  AND nonce >= (SELECT mined FROM sandbox_wallet)) AS has_due`;
const MEMPOOL = `
SELECT DISTINCT ON (nonce) hash, nonce, ready_at_ms FROM sandbox_transaction
WHERE mined_at_ms IS NULL AND ready_at_ms <= $1 AND nonce >= $2 ORDER BY nonce, fee DESC, hash LIMIT ${MOST_MINED_AT_ONCE}`;
const MINE = `
UPDATE sandbox_transaction t SET mined_at_ms = m.at
FROM unnest($1::text[], $2::bigint[]) AS m(hash, at) WHERE t.hash = m.hash`;
const SET_MINED = `UPDATE sandbox_wallet SET mined = $1, last_mined_at_ms = $2`;
const COLUMNS = `hash, nonce, outcome, ready_at_ms, mined_at_ms`;
const BY_HASH = `SELECT ${COLUMNS} FROM sandbox_transaction WHERE hash = $1`;
const HOLDER = `SELECT ${COLUMNS} FROM sandbox_transaction WHERE nonce = $1 AND mined_at_ms IS NOT NULL`;
const MINED_COUNT = `SELECT mined FROM sandbox_wallet`;

/** A transaction the sandbox has seen. Moments are milliseconds of Unix time. */
export type SandboxTransaction = {
  readonly hash: string;
  readonly nonce: number;
  readonly outcome: string;
  /** When it can be mined; null: the node has dropped it. */
  readonly readyAtMs: number | null;
  readonly minedAtMs: number | null;
};

type Columns = {
  hash: string;
  nonce: number;
  outcome: string;
  ready_at_ms: bigint | null;
  mined_at_ms: bigint | null;
};

/** Adds a transaction to the mempool. A dropped one is then kept for good; one whose nonce is used up is not added. */
export async function acceptTransaction(
  pool: Pool,
  transaction: {
    hash: string;
    nonce: number;
    fee: bigint;
    outcome: string;
    firstReadyAtMs: number | null;
    readyAtMs: number;
  },
): Promise<void> {
  const { hash, nonce, fee, outcome, firstReadyAtMs, readyAtMs } = transaction;
  await pool.query(ACCEPT, [hash, nonce, fee, outcome, firstReadyAtMs, readyAtMs]);
}

/** Mines the transactions that are due by now, in the order of the nonces; of each nonce the one that pays most. */
export async function mineDue(pool: Pool, now: number): Promise<void> {
  const { rows } = await pool.query<{ has_due: boolean }>(HAS_DUE, [now]);
  if (rows[0]?.has_due !== true) return;
  await withTransaction({ pool }, async (client) => {
    await waitForLocks(client);
    const wallet = (await client.query<{ mined: number; last_mined_at_ms: bigint }>(LOCK_WALLET)).rows[0];
    if (wallet === undefined) return;
    let { mined } = wallet;
    let lastMs = Number(wallet.last_mined_at_ms);
    const due: { hash: string; at: number }[] = [];
    const mempool = await client.query<{ hash: string; nonce: number; ready_at_ms: bigint }>(MEMPOOL, [now, mined]);
    for (const { hash, nonce, ready_at_ms: readyAt } of mempool.rows) {
      if (nonce !== mined) break;
      lastMs = Math.max(lastMs, Number(readyAt));
      due.push({ hash, at: lastMs });
      mined += 1;
    }
    if (due.length === 0) return;
    await client.query(MINE, [due.map(({ hash }) => hash), due.map(({ at }) => at)]);
    await client.query(SET_MINED, [mined, lastMs]);
  });
}

/** A transaction by its hash. */
export async function readTransaction(pool: Pool, hash: string): Promise<SandboxTransaction | undefined> {
  return fromColumns((await pool.query<Columns>(BY_HASH, [hash])).rows[0]);
}

/** The mined transaction of a nonce. */
export async function readHolder(pool: Pool, nonce: number): Promise<SandboxTransaction | undefined> {
  return fromColumns((await pool.query<Columns>(HOLDER, [nonce])).rows[0]);
}

/** How many nonces are used up. */
export async function readMinedCount(pool: Pool): Promise<number> {
  return (await pool.query<{ mined: number }>(MINED_COUNT)).rows[0]?.mined ?? 0;
}

function fromColumns(row: Columns | undefined): SandboxTransaction | undefined {
  if (row === undefined) return undefined;
  const { hash, nonce, outcome, ready_at_ms: readyAt, mined_at_ms: minedAt } = row;
  return { hash, nonce, outcome, readyAtMs: numberOf(readyAt), minedAtMs: numberOf(minedAt) };
}

function numberOf(ms: bigint | null): number | null {
  return ms === null ? null : Number(ms);
}
