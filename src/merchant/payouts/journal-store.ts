// SQL of the journals of signed transactions: in which history each was compared with the books, and what the books lacked.

import type { Pool, PoolClient } from "pg";
import type { History } from "../../database/history.ts";
import type { AttemptKind, JournaledTransfer } from "./payout.ts";
import type { JournalContents } from "./signed-journal.ts";

type Queryable = Pick<Pool | PoolClient, "query">;

const ADD_LOST = `
INSERT INTO payout_lost_attempt (hash, wallet_id, journal_id, nonce, transfer_id, number, kind, raw, fee_most, fee_priority, transfer)
SELECT e.hash, $1::uuid, $2::uuid, e.nonce, e."transferId", e.number, e.kind, e.raw, e."feeMost", e."feePriority", e.transfer
FROM jsonb_to_recordset($3::jsonb) AS e(hash text, nonce int, "transferId" uuid, number int, kind text, raw text,
                                        "feeMost" numeric, "feePriority" numeric, transfer jsonb)
WHERE NOT EXISTS (SELECT FROM payout_attempt a WHERE a.hash = e.hash)
ON CONFLICT (hash) DO NOTHING RETURNING nonce`;
const REGISTER = `
INSERT INTO payout_journal (wallet_id, id, host, final_nonce, system_identifier, timeline, books, owner, owned_at)
VALUES ($1::uuid, $2::uuid, $3, $4, $5, $6, $7, $8::uuid, clock_timestamp())
ON CONFLICT (wallet_id, id) DO UPDATE SET host = excluded.host, final_nonce = greatest(payout_journal.final_nonce, excluded.final_nonce),
  system_identifier = excluded.system_identifier, timeline = excluded.timeline, books = excluded.books,
  owner = excluded.owner, owned_at = excluded.owned_at, compared_at = clock_timestamp()`;
// $5: what a version before the column of books has written counts as far as it goes.
const IS_ELSEWHERE = `(system_identifier, timeline, CASE WHEN $5::boolean THEN coalesce(books, $4) ELSE books END)
  IS DISTINCT FROM ($2, $3::int, $4)`;
const ELSEWHERE = `SELECT id, host FROM payout_journal WHERE wallet_id = $1::uuid AND ${IS_ELSEWHERE} ORDER BY host, id`;
const FORGET_ELSEWHERE = `DELETE FROM payout_journal WHERE wallet_id = $1::uuid AND ${IS_ELSEWHERE}`;
const BY_ID = `
SELECT host, owner, system_identifier AS system, timeline, books FROM payout_journal WHERE wallet_id = $1::uuid AND id = $2::uuid`;
const OWN = `
UPDATE payout_journal SET owner = $3::uuid, owned_at = clock_timestamp() WHERE wallet_id = $1::uuid AND id = $2::uuid`;
const FINAL_NONCE = `SELECT max(final_nonce) AS "finalNonce" FROM payout_journal WHERE wallet_id = $1::uuid`;
const LOST = `
SELECT hash, nonce, transfer_id AS "transferId", number, kind, raw, fee_most AS "feeMost", fee_priority AS "feePriority",
  transfer
FROM payout_lost_attempt WHERE wallet_id = $1::uuid AND resolved_at IS NULL ORDER BY nonce, number, found_at`;
const ALL_LOST = `
SELECT w.chain, w.address, l.nonce, l.transfer_id AS "transferId", l.kind, l.hash, j.host
FROM payout_lost_attempt l JOIN wallet w ON w.id = l.wallet_id
LEFT JOIN payout_journal j ON j.wallet_id = l.wallet_id AND j.id = l.journal_id
WHERE l.resolved_at IS NULL ORDER BY w.chain, w.address, l.nonce, l.number`;
const HAS_PAID = `
SELECT EXISTS (SELECT FROM payout WHERE wallet_id = $1::uuid)
  OR EXISTS (SELECT FROM payout_journal WHERE wallet_id = $1::uuid AND final_nonce IS NOT NULL)
  OR EXISTS (SELECT FROM payout_lost_attempt WHERE wallet_id = $1::uuid) AS "hasPaid"`;
const RESOLVE = `
UPDATE payout_lost_attempt SET resolved_at = clock_timestamp() WHERE wallet_id = $1::uuid AND resolved_at IS NULL`;
// What is reopened goes out again: its bytes stay in the journal until it has ended again.
const ENDED = `
SELECT a.hash FROM payout_attempt a JOIN payout p ON p.id = a.payout_id
WHERE a.hash = ANY ($1::text[]) AND p.ended_at IS NOT NULL AND p.recheck_at IS NULL
UNION SELECT l.hash FROM payout_lost_attempt l
WHERE l.hash = ANY ($1::text[]) AND l.resolved_at IS NOT NULL AND NOT EXISTS (SELECT FROM payout_attempt a WHERE a.hash = l.hash)`;

/** A transaction that a journal has and the books lack. */
export type LostAttempt = {
  readonly hash: string;
  readonly nonce: number;
  readonly transferId: string;
  readonly number: number;
  readonly kind: AttemptKind;
  readonly raw: string;
  readonly feeMost: string;
  readonly feePriority: string;
  /** What its transfer is. Null: the journal does not have it. */
  readonly transfer: JournaledTransfer | null;
};

/** The same, for a report. `host` null: its journal is not registered. */
export type ReportedLost = Pick<LostAttempt, "nonce" | "transferId" | "kind" | "hash"> & {
  readonly chain: string;
  readonly address: string;
  readonly host: string | null;
};

type JournalOf = { readonly walletId: string; readonly journalId: string };

/** Records what a journal has and the books lack. Returns the nonces that were not known to be lost. */
export async function addLost(
  client: Queryable,
  { walletId, journalId }: JournalOf,
  { entries }: Pick<JournalContents, "entries">,
): Promise<readonly number[]> {
  if (entries.length === 0) return [];
  const { rows } = await client.query<{ nonce: number }>(ADD_LOST, [walletId, journalId, JSON.stringify(entries)]);
  return rows.map(({ nonce }) => nonce).toSorted((one, other) => one - other);
}

/** A journal as the books know it. `owner` null: it was registered by a version before this. */
export type RegisteredJournal = { readonly host: string; readonly owner: string | null; readonly history: History };

/** Reads what the books know of a journal. Null: nothing. */
export async function readJournal(
  client: Queryable,
  { walletId, journalId }: JournalOf,
): Promise<RegisteredJournal | null> {
  const { rows } = await client.query<History & Pick<RegisteredJournal, "host" | "owner">>(BY_ID, [
    walletId,
    journalId,
  ]);
  if (rows[0] === undefined) return null;
  const { host, owner, ...history } = rows[0];
  return { host, owner, history };
}

/** Writes by which name a journal's folder is known now. False: the books do not know the journal. */
export async function writeOwner(
  client: Queryable,
  { walletId, journalId }: JournalOf,
  owner: string,
): Promise<boolean> {
  return (await client.query(OWN, [walletId, journalId, owner])).rowCount === 1;
}

/** Writes that a journal was compared with the books of this history, and by which name its folder is known now. */
export async function registerJournal(
  client: Queryable,
  { walletId, journalId }: JournalOf,
  { host, finalNonce, history, owner }: { host: string; finalNonce: number | null; history: History; owner: string },
): Promise<void> {
  const { system, timeline, books } = history;
  await client.query(REGISTER, [walletId, journalId, host, finalNonce, system, timeline, books, owner]);
}

/**
 * The nodes whose journals were not compared with the books of this history. `trustsFormer`: what a version before this has compared
 * with books of the same server counts.
 */
export async function listUncompared(
  client: Queryable,
  walletId: string,
  { history: { system, timeline, books }, trustsFormer }: { history: History; trustsFormer: boolean },
): Promise<string[]> {
  const { rows } = await client.query<{ host: string }>(ELSEWHERE, [walletId, system, timeline, books, trustsFormer]);
  return rows.map(({ host }) => host);
}

/** Forgets the journals that were not compared: an operator has decided without them. One that comes back is compared then. */
export async function forgetUncompared(client: Queryable, walletId: string, history: History): Promise<void> {
  const { system, timeline, books } = history;
  await client.query(FORGET_ELSEWHERE, [walletId, system, timeline, books, true]);
}

/** The highest nonce that any journal has as final. Null: none has. */
export async function readFinalNonce(client: Queryable, walletId: string): Promise<number | null> {
  return (await client.query<{ finalNonce: number | null }>(FINAL_NONCE, [walletId])).rows[0]?.finalNonce ?? null;
}

/** Whether the books or a journal know a payment of the wallet. */
export async function hasPaid(client: Queryable, walletId: string): Promise<boolean> {
  return (await client.query<{ hasPaid: boolean }>(HAS_PAID, [walletId])).rows[0]?.hasPaid === true;
}

/** What a wallet's journals have and the books lack, by nonce and attempt. */
export async function readLost(client: Queryable, walletId: string): Promise<LostAttempt[]> {
  return (await client.query<LostAttempt>(LOST, [walletId])).rows;
}

/** The same of all wallets. */
export async function listLost(client: Queryable): Promise<ReportedLost[]> {
  return (await client.query<ReportedLost>(ALL_LOST)).rows;
}

/** Writes that all of it is decided. */
export async function resolveLost(client: Queryable, walletId: string): Promise<void> {
  await client.query(RESOLVE, [walletId]);
}

/** Those of these transactions whose payouts have ended for good. */
export async function findEnded(client: Queryable, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ hash: string }>(ENDED, [hashes]);
  return new Set(rows.map(({ hash }) => hash));
}
