// SQL of wallets: their next nonce, who works on them, and whether they may sign.

import type { Pool, PoolClient } from "pg";
import { uuidv7 } from "../../kernel/ids.ts";
import { type History, HISTORY_COLUMNS, isSameHistory } from "../../database/history.ts";
import { invariant } from "../../kernel/invariant.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const OPEN = `
INSERT INTO wallet (id, chain, address, first_nonce, next_nonce, halted_at, halt_reason, system_identifier, timeline, books)
SELECT $1::uuid, $2, $3, $4, $4, CASE WHEN $5::text IS NOT NULL THEN clock_timestamp() END, $5::text, h.system, h.timeline, h.books
FROM (SELECT ${HISTORY_COLUMNS}) h
ON CONFLICT ON CONSTRAINT wallet_address DO NOTHING`;
const COLUMNS = `id, chain, address, next_nonce, halted_at, halt_reason, system_identifier, timeline, books,
  coalesce(awaits_journals_at = halted_at, false) AS awaits_journals`;
const BY_ADDRESS = `SELECT ${COLUMNS} FROM wallet WHERE chain = $1 AND address = $2`;
const LOCK = `SELECT ${COLUMNS} FROM wallet WHERE id = $1::uuid FOR NO KEY UPDATE`;
// Every engine can take a lease that has run out. The row's lock decides between two that ask at once.
const LEASE = `
UPDATE wallet SET leased_by = $2::uuid, leased_until = clock_timestamp() + $3::float8 * interval '1 ms'
WHERE id = $1::uuid AND (leased_by IS NULL OR leased_by = $2::uuid OR leased_until <= clock_timestamp()) RETURNING id`;
const RESIGN = `UPDATE wallet SET leased_by = NULL, leased_until = NULL WHERE id = $1::uuid AND leased_by = $2::uuid`;
const HALT = `
UPDATE wallet SET halted_at = clock_timestamp(), halt_reason = concat_ws('; ', halt_reason, $2::text), awaits_journals_at = NULL
WHERE id = $1::uuid AND (halted_at IS NULL OR awaits_journals_at = halted_at)`;
// A stop with another reason is a new one: an operator who resumes must have seen both. Only one that has no other reason than journals
// out of reach, $3, ends by itself. A version before this changes the moment alone, and such a stop does not end by itself either.
const HALT_AGAIN = `
UPDATE wallet SET halted_at = n.at, halt_reason = concat_ws('; ', halt_reason, $2::text),
  awaits_journals_at = CASE WHEN $3::boolean AND (halted_at IS NULL OR awaits_journals_at = halted_at) THEN n.at END
FROM (SELECT clock_timestamp() AS at) n WHERE id = $1::uuid`;
const FOLLOW = `UPDATE wallet SET system_identifier = $2, timeline = $3, books = $4 WHERE id = $1::uuid`;
const RESUME = `
UPDATE wallet SET halted_at = NULL, halt_reason = NULL, awaits_journals_at = NULL WHERE id = $1::uuid AND halted_at IS NOT NULL`;
const AWAIT_NO_JOURNALS = `UPDATE wallet SET awaits_journals_at = NULL WHERE id = $1::uuid`;
const BEGIN = `UPDATE wallet SET first_nonce = $2, next_nonce = $2 WHERE id = $1::uuid AND next_nonce <= $2`;
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
  /** Whether it stopped only because journals are out of reach. */
  readonly awaitsJournals: boolean;
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
  books: string | null;
  awaits_journals: boolean;
};

/** The wallet of an address; undefined: it has never paid. */
export async function readWallet(
  client: Queryable,
  { chain, address }: Pick<Wallet, "chain" | "address">,
): Promise<Wallet | undefined> {
  const { rows } = await client.query<Columns>(BY_ADDRESS, [chain, address]);
  return rows[0] && fromColumns(rows[0]);
}

/** The wallet of an address. Where it is the first time, it begins at this nonce, stopped where there is a reason, in the books of now. */
export async function openWallet(
  client: Queryable,
  wallet: Pick<Wallet, "chain" | "address" | "nextNonce"> & Partial<Pick<Wallet, "haltReason">>,
): Promise<Wallet> {
  const { chain, address, nextNonce, haltReason = null } = wallet;
  await client.query(OPEN, [uuidv7(), chain, address, nextNonce, haltReason]);
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

/**
 * Stops signing with a locked wallet; one that is stopped already has this reason, too, and a new stop. `awaitsJournals`: the reason is
 * only that journals are out of reach.
 */
export async function haltAgain(
  client: PoolClient,
  walletId: string,
  { reason, awaitsJournals = false }: { reason: string; awaitsJournals?: boolean },
): Promise<void> {
  await client.query(HALT_AGAIN, [walletId, reason, awaitsJournals]);
}

/** A stop of a wallet for journals that are out of reach does not end by itself any more. */
export async function awaitNoJournals(client: Queryable, walletId: string): Promise<void> {
  await client.query(AWAIT_NO_JOURNALS, [walletId]);
}

/** Writes which history of the books a locked wallet pays in. */
export async function followHistory(client: PoolClient, walletId: string, history: History): Promise<void> {
  await client.query(FOLLOW, [walletId, history.system, history.timeline, history.books]);
}

/**
 * Whether the books that a wallet has paid in are those of now. `unrecorded`: as far as they are known, which is not whole, because a
 * version before this wrote them.
 */
export function booksOf({ history }: Pick<Wallet, "history">, now: History): "same" | "other" | "unrecorded" {
  if (history === null) return "unrecorded";
  if (!isSameHistory(history, now)) return "other";
  return history.books === now.books ? "same" : "unrecorded";
}

/** Ends a wallet's stop, so that it signs again. True: it was stopped. */
export async function resumeWallet(client: Queryable, walletId: string): Promise<boolean> {
  return (await client.query(RESUME, [walletId])).rowCount === 1;
}

/** Lets a locked wallet that has never paid begin at a later nonce. */
export async function beginAt(client: PoolClient, walletId: string, nonce: number): Promise<void> {
  invariant((await client.query(BEGIN, [walletId, nonce])).rowCount === 1, "a wallet begins behind its next nonce");
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
    awaitsJournals: row.awaits_journals,
    history:
      row.system_identifier === null || row.timeline === null
        ? null
        : { system: row.system_identifier, timeline: row.timeline, books: row.books },
  };
}
