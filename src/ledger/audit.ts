// The audit: every invariant of the ledger, asked of the database in SQL. Accounts are read in short chunks, one statement
// and so one snapshot each: a long snapshot would keep dead rows from being cleaned and slow the request path down.

import type { Pool } from "pg";
import { systemAccounts } from "./system-accounts.ts";

/** Something that must never be. `subject` is the id it was found at. */
export type Violation = { readonly check: string; readonly subject: string; readonly detail: string };

export type AuditReport = { readonly ok: boolean; readonly violations: readonly Violation[] };

const ACCOUNTS_PER_CHUNK = 200;
const POSTINGS_PER_CHUNK = 5_000;
/** A chunk with a very busy account takes its time; nobody's request waits for it. */
const ANSWER_WITHIN_MS = 600_000;
/** How many violations of one check are told. */
const MAX_VIOLATIONS_PER_CHECK = 100;

/** A check over a range of accounts: $1 is the last id of the chunk before, $2 the last id of this one. */
const ACCOUNT_CHECKS: Readonly<Record<string, string>> = {
  "posted = sum of postings, held = sum of open holds, available >= 0": `
    SELECT a.id AS subject, format('posted %s, postings %s; held %s, holds %s', a.posted, e.total, a.held, h.total) AS detail
    FROM account a
    CROSS JOIN LATERAL (
      SELECT (SELECT coalesce(sum(amount), 0) FROM posting WHERE credit = a.id)
           - (SELECT coalesce(sum(amount), 0) FROM posting WHERE debit = a.id)
           - (SELECT coalesce(sum(charge), 0) FROM usage_record WHERE account_id = a.id) AS total
    ) e
    CROSS JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS total FROM hold WHERE account_id = a.id) h
    WHERE a.id > $1 AND a.id <= $2 AND (a.posted <> e.total OR a.held <> h.total OR a.posted < a.held OR a.held < 0)`,
  "a hold is resolved once": `
    SELECT h.id AS subject, 'an open hold has a usage record' AS detail
    FROM hold h JOIN usage_record u ON u.account_id = h.account_id AND u.request_id = h.id
    WHERE h.account_id > $1 AND h.account_id <= $2`,
  "a cost is recomputed from tokens and prices": `
    SELECT u.request_id AS subject, format('cost %s, recomputed %s', u.cost, r.cost) AS detail
    FROM usage_record u
    CROSS JOIN LATERAL (
      SELECT ceil((u.input_tokens_uncached::numeric * u.input_price
                 + u.input_tokens_cached::numeric * coalesce(u.cache_hit_price, u.input_price)
                 + u.output_tokens::numeric * u.output_price) / 1000000) AS cost
    ) r
    WHERE u.account_id > $1 AND u.account_id <= $2 AND u.cost <> r.cost`,
  "what was cut off a charge is booked as our loss": `
    SELECT u.request_id AS subject, format('cost %s, charge %s, booked %s', u.cost, u.charge, p.total) AS detail
    FROM usage_record u
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0) AS total FROM posting
      WHERE debit = '${systemAccounts.operatorLoss}' AND id = u.request_id AND reason = 'uncollected'
    ) p
    WHERE u.account_id > $1 AND u.account_id <= $2 AND u.cost - u.charge <> p.total`,
  "the billing day is the day of the request": `
    SELECT u.request_id AS subject, format('billed on %s', u.billing_day) AS detail
    FROM usage_record u
    WHERE u.account_id > $1 AND u.account_id <= $2
      AND u.billing_day <> (uuid_time(u.request_id) AT TIME ZONE 'Asia/Jakarta')::date`,
};

/** Checks that need no chunks: few rows, or the system's own catalog. */
const WHOLE_CHECKS: Readonly<Record<string, string>> = {
  "no hold of a dead or unknown process is older than 90 s": `
    SELECT h.id AS subject, format('owner %s, placed %s', h.owner, h.placed_at) AS detail
    FROM hold h LEFT JOIN process p ON p.id = h.owner
    WHERE h.placed_at < clock_timestamp() - interval '90 s'
      AND (p.id IS NULL OR p.dead_at < clock_timestamp() - interval '90 s')`,
  "every hold is on an account that exists": `
    SELECT h.id AS subject, 'no such account' AS detail FROM hold h
    WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = h.account_id)`,
  // Steps from one account with usage to the next by the key, past all its records.
  "every usage record is on an account that exists": `
    WITH RECURSIVE used(account_id) AS (
      (SELECT account_id FROM usage_record ORDER BY account_id LIMIT 1)
      UNION ALL
      SELECT (SELECT u.account_id FROM usage_record u WHERE u.account_id > used.account_id ORDER BY u.account_id LIMIT 1)
      FROM used WHERE used.account_id IS NOT NULL
    )
    SELECT account_id AS subject, 'no such account' AS detail FROM used
    WHERE account_id IS NOT NULL AND NOT EXISTS (SELECT FROM account a WHERE a.id = used.account_id)`,
  "a merchant's fund is the sum of its postings": `
    SELECT f.id AS subject, format('posted %s, postings %s', f.posted, e.total) AS detail
    FROM merchant_fund f
    CROSS JOIN LATERAL (
      SELECT (SELECT coalesce(sum(amount), 0) FROM posting WHERE credit = f.id AND asset = f.asset)
           - (SELECT coalesce(sum(amount), 0) FROM posting WHERE debit = f.id AND asset = f.asset) AS total
    ) e
    WHERE f.posted <> e.total OR f.held < 0 OR f.posted < f.held`,
  "nothing posted can be changed": `
    SELECT c.relname AS subject, 'its append-only triggers are missing or not always on' AS detail
    FROM pg_class c
    WHERE (c.oid IN ('posting'::regclass, 'usage_record'::regclass)
           OR c.oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'usage_record'::regclass))
      AND 2 <> (SELECT count(*) FROM pg_trigger t
                WHERE t.tgrelid = c.oid AND t.tgenabled = 'A' AND t.tgname IN ('append_only', 'append_only_truncate'))`,
  "usage lies in its month's partition": `
    SELECT request_id AS subject, 'in the default partition' AS detail FROM usage_record_default`,
};

/** A check over a range of postings by their key: $1 and $2 are the last debit and id of the chunk before, $3 and $4 of this one. */
const POSTING_CHECKS: Readonly<Record<string, string>> = {
  "every posting is between ledger accounts that exist": `
    SELECT p.id AS subject, format('%s -> %s', p.debit, p.credit) AS detail
    FROM posting p CROSS JOIN LATERAL (VALUES (p.debit), (p.credit)) AS side(id)
    WHERE (p.debit, p.id) > ($1, $2) AND (p.debit, p.id) <= ($3, $4)
      AND side.id::text NOT LIKE '00000000-0000-7000-8000-%'
      AND NOT EXISTS (SELECT FROM account a WHERE a.id = side.id)
      AND NOT EXISTS (SELECT FROM merchant_fund f WHERE f.id = side.id AND f.asset = p.asset)`,
};

const NEXT_POSTINGS = `
SELECT debit, id FROM (SELECT debit, id FROM posting WHERE (debit, id) > ($1, $2) ORDER BY debit, id LIMIT ${POSTINGS_PER_CHUNK}) chunk
ORDER BY debit DESC, id DESC LIMIT 1`;
const NEXT_CHUNK = `
SELECT id AS last FROM (SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT ${ACCOUNTS_PER_CHUNK}) chunk ORDER BY id DESC LIMIT 1`;
const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

/** Runs every check over everything. */
export async function audit(pool: Pool): Promise<AuditReport> {
  const violations: Violation[] = [];
  const run = async (check: string, text: string, values: unknown[] = []): Promise<void> => {
    const query = { text: `${text} LIMIT ${MAX_VIOLATIONS_PER_CHECK}`, values, query_timeout: ANSWER_WITHIN_MS };
    const { rows } = await pool.query<{ subject: string; detail: string }>(query);
    for (const { subject, detail } of rows) violations.push({ check, subject, detail });
  };
  for (const [check, text] of Object.entries(WHOLE_CHECKS)) await run(check, text);
  for (let after = BEFORE_ALL_IDS; ;) {
    const { rows } = await pool.query<{ last: string }>(NEXT_CHUNK, [after]);
    const last = rows[0]?.last;
    if (last === undefined) break;
    for (const [check, text] of Object.entries(ACCOUNT_CHECKS)) await run(check, text, [after, last]);
    after = last;
  }
  for (let after = [BEFORE_ALL_IDS, BEFORE_ALL_IDS]; ;) {
    const { rows } = await pool.query<{ debit: string; id: string }>(NEXT_POSTINGS, after);
    if (rows[0] === undefined) break;
    const last = [rows[0].debit, rows[0].id];
    for (const [check, text] of Object.entries(POSTING_CHECKS)) await run(check, text, [...after, ...last]);
    after = last;
  }
  return { ok: violations.length === 0, violations };
}
