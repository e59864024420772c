// Rolling usage up: sums of whole quarters of an hour, made by a worker out of the records, so that settling a request writes
// nothing for them. A stretch of quarters is always made whole, from all of its records, so making it again changes nothing.
//
// How far an account is rolled up: a record appears when its hold goes, with the id its request got when it came. So behind
// the oldest open hold nothing can still come, but from a request that has an id and no hold yet; those take minutes at most,
// and the mark stays ten behind the clock. What comes even later (a machine paused in between) moves the account's
// balance past what its roll-ups and the records behind the mark charge. Readers see that in their own snapshot and sum the
// records instead; the worker sees it too and makes the account's roll-ups again. A record that is late and charges nothing
// moves no balance: the audit, which compares every roll-up with its records, finds it.

import type { Pool, PoolClient } from "pg";
import { waitForLocks, withTransaction } from "../../database/transactions.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { invariant } from "../../kernel/invariant.ts";
import { FIRST_ID_AT_HAND } from "../../ledger/archived-usage.ts";
import { BY_KEY, createLook, type Look, restAfter } from "../../database/throttled-reader.ts";
import { OTHER_KINDS } from "../../ledger/group-commit/token-columns.ts";
import { OTHER_TOKENS_OF_RECORD, SAVED_OF_RECORD } from "./store.ts";

/** Records that one transaction rolls up, more only where a quarter of an hour has more. */
const RECORDS_PER_STRETCH = 20_000;
const ACCOUNTS_PER_PAGE = 200;
/** A quarter of an hour may have millions of them. */
const ANSWER_WITHIN_MS = 600_000;

export type RollUpOptions = {
  /** The part of its time that the database works for it; default 1. */
  readonly share?: number;
  readonly signal?: AbortSignal;
};

/** What a round did. */
export type RollUpReport = {
  /** Stretches that were made. */
  readonly stretches: number;
  /** Accounts whose roll-ups had missed a record and were made again. */
  readonly recounted: readonly string[];
};

type Work = RollUpOptions & { readonly pool: Pool; readonly share: number; readonly look: Look };
/** The quarters from `from` to before `before`. */
type Stretch = { readonly from: number; readonly before: number };

// For a page of accounts: the quarter of the first record that is not rolled up, and the quarter in which one may still come.
const ACCOUNTS = `
SELECT a.id, quarter_of(r.first) AS first, greatest(m.before_quarter, quarter_of(${FIRST_ID_AT_HAND})) AS before,
       least(floor(extract(epoch FROM clock_timestamp() - interval '10 minutes') / 900)::int, quarter_of(h.oldest)) AS horizon
FROM (SELECT id FROM account WHERE id > $1::uuid ORDER BY id LIMIT ${ACCOUNTS_PER_PAGE}) a
LEFT JOIN usage_rolled_up m ON m.account_id = a.id
CROSS JOIN LATERAL (SELECT (
  SELECT request_id FROM usage_record
  WHERE account_id = a.id AND request_id >= greatest(quarter_floor(coalesce(m.before_quarter, 0)), ${FIRST_ID_AT_HAND}) ORDER BY request_id LIMIT 1) AS first
) r
CROSS JOIN LATERAL (SELECT (SELECT id FROM hold WHERE account_id = a.id ORDER BY id LIMIT 1) AS oldest) h
ORDER BY a.id`;

// The quarter of the record that is one too many for the stretch that begins at $2.
const NEXT_STRETCH = `
SELECT quarter_of(request_id) AS quarter FROM usage_record
WHERE account_id = $1::uuid AND request_id >= quarter_floor($2::int) ORDER BY request_id OFFSET ${RECORDS_PER_STRETCH} LIMIT 1`;

const KINDS = Object.values(OTHER_KINDS);

const BEGIN_MARK = `INSERT INTO usage_rolled_up (account_id) VALUES ($1::uuid) ON CONFLICT DO NOTHING`;
const LOCK_MARK = `SELECT FROM usage_rolled_up WHERE account_id = $1::uuid FOR NO KEY UPDATE`;
const UNMAKE = `
WITH gone AS (
  DELETE FROM usage_roll_up WHERE account_id = $1::uuid AND quarter >= $2::int AND quarter < $3::int RETURNING charge
) SELECT coalesce(sum(charge), 0) AS charge FROM gone`;
const MAKE = `
WITH made AS (
  INSERT INTO usage_roll_up (account_id, quarter, model, key_id, basis, requests, input_tokens_uncached, input_tokens_cached,
                             output_tokens, ${KINDS.join(", ")}, cost, charge, saved_by_cache)
  SELECT account_id, quarter, model, key_id, basis, count(*), sum(input_tokens_uncached), sum(input_tokens_cached),
         sum(output_tokens), ${KINDS.map((kind) => `sum(${kind})`).join(", ")}, sum(cost), sum(charge), sum(saved_by_cache)
  FROM (
    SELECT account_id, quarter_of(request_id) AS quarter, model, key_id, basis, input_tokens_uncached, input_tokens_cached,
           output_tokens, ${OTHER_TOKENS_OF_RECORD}, cost, charge, ${SAVED_OF_RECORD} AS saved_by_cache
    FROM usage_record
    WHERE account_id = $1::uuid AND request_id >= quarter_floor($2::int) AND request_id < quarter_floor($3::int)
  ) records
  GROUP BY 1, 2, 3, 4, 5
  RETURNING charge
) SELECT coalesce(sum(charge), 0) AS charge FROM made`;
const MOVE_MARK = `
UPDATE usage_rolled_up
SET before_quarter = greatest(before_quarter, $2::int), charge = charge + $3::numeric, rolled_at = clock_timestamp()
WHERE account_id = $1::uuid`;

// Accounts that charge something else than their roll-ups and the records behind them. Where making them again did not help,
// the books are wrong and not the roll-ups: the audit reports it, and here it is tried again an hour later.
const MISSED = `
SELECT m.account_id AS id FROM usage_rolled_up m JOIN account a ON a.id = m.account_id
WHERE m.account_id = ANY ($1::uuid[]) AND (m.recounted_at IS NULL OR m.recounted_at < clock_timestamp() - interval '1 hour')
  AND a.posted <> (SELECT coalesce(sum(CASE m.account_id WHEN credit THEN amount WHEN debit THEN -amount END), 0) FROM posting
       WHERE account_id = m.account_id)
    - m.charge
    - (SELECT coalesce(sum(charge), 0) FROM usage_record
       WHERE account_id = m.account_id AND request_id >= quarter_floor(m.before_quarter))`;
const RECOUNTED = `
UPDATE usage_rolled_up
SET recounted_at = clock_timestamp(),
    charge = (SELECT coalesce(sum(charge), 0) FROM usage_roll_up WHERE account_id = $1::uuid)
WHERE account_id = $1::uuid`;
const ARCHIVED = `SELECT quarter_of(${FIRST_ID_AT_HAND}) AS archived`;
const MARK = `SELECT before_quarter AS before, quarter_of(${FIRST_ID_AT_HAND}) AS archived FROM usage_rolled_up WHERE account_id = $1::uuid`;

/** Rolls up what is new of every account, and makes those again that missed a record. */
export async function rollUpUsage(pool: Pool, { share = 1, signal }: RollUpOptions = {}): Promise<RollUpReport> {
  const gently = { share, ...(signal === undefined ? {} : { signal }) };
  const work: Work = { pool, ...gently, look: createLook(pool, gently) };
  const recounted: string[] = [];
  let stretches = 0;
  for (let after = BEFORE_ALL_IDS; ;) {
    const accounts = await work.look<{ id: string; first: number | null; before: number; horizon: number }>(ACCOUNTS, [
      after,
    ]);
    const last = accounts.at(-1);
    if (last === undefined) return { stretches, recounted };
    for (const { id, first, before, horizon } of accounts) {
      if (first !== null && first < horizon) stretches += await rollUp(work, id, { from: before, before: horizon });
    }
    const missed = await work.look<{ id: string }>(MISSED, [accounts.map(({ id }) => id)]);
    for (const { id } of missed) {
      stretches += await recount(work, id);
      recounted.push(id);
    }
    after = last.id;
  }
}

/** Makes all roll-ups of an account again and returns the number of stretches. Readers are right meanwhile. */
export function recountUsage(pool: Pool, accountId: string): Promise<number> {
  return recount({ pool, share: 1, look: createLook(pool, { share: 1 }) }, accountId);
}

async function recount(work: Work, accountId: string): Promise<number> {
  const [mark] = await work.look<{ before: number; archived: number }>(MARK, [accountId]);
  if (mark === undefined) return 0;
  // The roll-ups of archived months stay.
  const stretches = await rollUp(work, accountId, { from: mark.archived, before: mark.before });
  await withTransaction(work, async (client) => {
    await client.query(LOCK_MARK, [accountId]);
    await client.query(RECOUNTED, [accountId]);
  });
  return stretches;
}

/** Makes the quarters of a range, stretch by stretch, and gives the number of stretches. */
async function rollUp(work: Work, accountId: string, { from, before }: Stretch): Promise<number> {
  let stretches = 0;
  for (let begin = from; begin < before; stretches += 1) {
    work.signal?.throwIfAborted();
    const [next] = await work.look<{ quarter: number }>(NEXT_STRETCH, [accountId, begin]);
    const end = Math.min(before, Math.max(next?.quarter ?? before, begin + 1));
    const stretch = { from: begin, before: end };
    await restAfter(() => withTransaction(work, (client) => makeStretch(client, accountId, stretch)), work);
    begin = end;
  }
  return stretches;
}

async function makeStretch(client: PoolClient, accountId: string, { from, before }: Stretch): Promise<void> {
  await waitForLocks(client);
  await client.query(BY_KEY);
  await client.query(BEGIN_MARK, [accountId]);
  // Two workers take turns at an account, and the second makes again what the first has made.
  await client.query(LOCK_MARK, [accountId]);
  // The month may have been archived since the work began. Its records stay until all transactions have ended that began before.
  const [mark] = (await client.query<{ archived: number }>(ARCHIVED)).rows;
  invariant(from >= (mark?.archived ?? 0), "roll-ups of archived months stay as they are");
  const range = { values: [accountId, from, before], query_timeout: ANSWER_WITHIN_MS };
  const [gone] = (await client.query<{ charge: string }>({ text: UNMAKE, ...range })).rows;
  const [made] = (await client.query<{ charge: string }>({ text: MAKE, ...range })).rows;
  const more = BigInt(made?.charge ?? 0) - BigInt(gone?.charge ?? 0);
  await client.query(MOVE_MARK, [accountId, before, more]);
}
