// SQL of wallets: their next nonce, who works on them, and whether they may sign.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";
import { type History, isSameHistory } from "../../database/history.ts";
import { invariant } from "../../kernel/invariant.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const OPEN = `
INSERT INTO wallet (id, chain, address, first_nonce, next_nonce) VALUES ($1::uuid, $2, $3, $4, $4)
ON CONFLICT ON CONSTRAINT wallet_address DO NOTHING`;
const COLUMNS = `id, chain, address, next_nonce, halted_at, halt_reason, system_identifier, timeline`;
const BY_ADDRESS = `SELECT ${COLUMNS} FROM wallet WHERE chain = $1 AND address = $2`;
const LOCK = `SELECT ${COLUMNS} FROM wallet WHERE id = $1::uuid FOR NO KEY UPDATE`;
// Every engine can take a lease that has run out. The row's lock decides between two that ask at once.
const LEASE = `
UPDATE wallet SET leased_by = $2::uuid, leased_until = clock_timestamp() + $3::float8 * interval '1 ms'
WHERE id = $1::uuid AND (leased_by IS NULL OR leased_by = $2::uuid OR leased_until <= clock_timestamp()) RETURNING id`;
const RESIGN = `UPDATE wallet SET leased_by = NULL, leased_until = NULL WHERE id = $1::uuid AND leased_by = $2::uuid`;
const HALT = `
UPDATE wallet SET halted_at = coalesce(halted_at, clock_timestamp()), halt_reason = coalesce(halt_reason, $2)
WHERE id = $1::uuid AND halted_at IS NULL`;
// A stop with another reason is a new one: an operator who resumes must have seen both.
const HALT_AGAIN = `
UPDATE wallet SET halted_at = clock_timestamp(), halt_reason = concat_ws('; ', halt_reason, $2::text) WHERE id = $1::uuid`;
const FOLLOW = `UPDATE wallet SET system_identifier = $2, timeline = $3 WHERE id = $1::uuid`;
const RESUME = `UPDATE wallet SET halted_at = NULL, halt_reason = NULL WHERE id = $1::uuid AND halted_at IS NOT NULL`;
const SET_NEXT_NONCE = `UPDATE wallet SET next_nonce = $2 WHERE id = $1::uuid`;

/** A wallet of ours on a chain. */
export type Wallet = {
  readonly walletId: string;
  readonly chain: string;
  readonly address: string;
  /** The nonce the next payout gets. */
  readonly nextNonce: number;
  /** Since when nothing is signed with it, which distinguishes one stop from the next. Null: it signs. */
  readonly haltedAt: Date | null;
  /** Why nothing is signed with it until an operator has looked. Null: it signs. */
  readonly haltReason: string | null;
  /** The history of the books in which it has paid last. Null: it has not paid since histories are stored. */
  readonly history: History | null;
};

type Columns = {
  id: string;
  chain: string;
  address: string;
  next_nonce: number;
  halted_at: Date | null;
  halt_reason: string | null;
  system_identifier: string | null;
  timeline: number | null;
};

/** The wallet of an address; undefined: it has never paid. */
export async function readWallet(
  client: Queryable,
  { chain, address }: Pick<Wallet, "chain" | "address">,
): Promise<Wallet | undefined> {
  const { rows } = await client.query<Columns>(BY_ADDRESS, [chain, address]);
  return rows[0] && fromColumns(rows[0]);
}

/** The wallet of an address, which begins at the chain's next nonce when it is the first time. */
export async function openWallet(
  client: Queryable,
  wallet: Pick<Wallet, "chain" | "address" | "nextNonce">,
): Promise<Wallet> {
  await client.query(OPEN, [uuidv7(), wallet.chain, wallet.address, wallet.nextNonce]);
  const opened = await readWallet(client, wallet);
  invariant(opened !== undefined, "a wallet that was just opened is there");
  return opened;
}

/** Locks a wallet: who holds it takes the next nonce, or stops and resumes it. */
export async function lockWallet(client: PoolClient, walletId: string): Promise<Wallet> {
  const { rows } = await client.query<Columns>(LOCK, [walletId]);
  invariant(rows[0] !== undefined, "a wallet is never deleted");
  return fromColumns(rows[0]);
}

/** Takes or renews the lease of a wallet for an engine. False: another engine has it. */
export async function leaseWallet(
  client: Queryable,
  { walletId, engineId, leaseMs }: { walletId: string; engineId: string; leaseMs: number },
): Promise<boolean> {
  return (await client.query(LEASE, [walletId, engineId, leaseMs])).rowCount === 1;
}

/** Gives the lease back, so that another engine need not wait for its end. */
export async function resignWallet(
  client: Queryable,
  { walletId, engineId }: { walletId: string; engineId: string },
): Promise<void> {
  await client.query(RESIGN, [walletId, engineId]);
}

/** Stops signing with a wallet. True: it was not stopped before. */
export async function haltWallet(client: Queryable, walletId: string, reason: string): Promise<boolean> {
  return (await client.query(HALT, [walletId, reason])).rowCount === 1;
}

/** Stops signing with a locked wallet; one that is stopped already has this reason, too, and a new stop. */
export async function haltAgain(client: PoolClient, walletId: string, reason: string): Promise<void> {
  await client.query(HALT_AGAIN, [walletId, reason]);
}

/** Writes which history of the books a locked wallet pays in. */
export async function followHistory(client: PoolClient, walletId: string, history: History): Promise<void> {
  await client.query(FOLLOW, [walletId, history.system, history.timeline]);
}

/** Whether a wallet has paid in this history, or in none. */
export function paysIn({ history }: Pick<Wallet, "history">, now: History): boolean {
  return history === null || isSameHistory(history, now);
}

/** Ends a wallet's stop, so that it signs again. True: it was stopped. */
export async function resumeWallet(client: Queryable, walletId: string): Promise<boolean> {
  return (await client.query(RESUME, [walletId])).rowCount === 1;
}

/** Writes the next nonce of a locked wallet. */
export async function writeNextNonce(client: PoolClient, walletId: string, nextNonce: number): Promise<void> {
  await client.query(SET_NEXT_NONCE, [walletId, nextNonce]);
}

function fromColumns(row: Columns): Wallet {
  return {
    walletId: row.id,
    chain: row.chain,
    address: row.address,
    nextNonce: row.next_nonce,
    haltedAt: row.halted_at,
    haltReason: row.halt_reason,
    history:
      row.system_identifier === null || row.timeline === null
        ? null
        : { system: row.system_identifier, timeline: row.timeline },
  };
}
