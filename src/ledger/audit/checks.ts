// The checks beyond one customer's account: few rows, the database's own catalog, and postings by page.

import { usageAtHand } from "../archived-usage.ts";
import { LATE_DUE, LATE_USAGE_CHECKS } from "./late-usage.ts";
import { RECEIVABLE_CHECKS } from "./receivables.ts";
import { missingConstraints, unprotectedTables } from "../../database/schema-checks.ts";
import type { Checks } from "./plugin.ts";
import { systemAccounts } from "../system-accounts.ts";

const USAGE_TABLES = `(SELECT inhrelid FROM pg_inherits WHERE inhparent = 'usage_record'::regclass)`;

/** Whether a value of synchronous_commit acknowledges what a standby may not have stored, as the start checks it. */
const NOT_ON_STANDBY = `(setting = 'local'
      OR setting = 'remote_write' AND current_setting('synchronous_standby_names') <> '')`;

/** Checks without pages. Each returns a subject and a detail for each violation. */
export const WHOLE_CHECKS: Checks = {
  "no hold of a dead or unknown process is older than 90 s": `
    SELECT h.id AS subject, format('owner %s, placed %s', h.owner, h.placed_at) AS detail
    FROM hold h LEFT JOIN process p ON p.id = h.owner
    WHERE h.placed_at < clock_timestamp() - interval '90 s'
      AND (p.id IS NULL OR p.dead_at < clock_timestamp() - interval '90 s')`,
  "every hold is on an account that exists": `
    SELECT h.id AS subject, 'no such account' AS detail FROM hold h
    WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = h.account_id)`,
  "nothing posted can be changed": unprotectedTables([
    "posting",
    "usage_record",
    "late_usage",
    "usage_archive",
    "usage_archive_account",
    "usage_archive_file",
    "usage_kept",
  ]),
  "a request has one usage record, by its key": `
    SELECT c.relname AS subject, 'its primary key is missing or not valid' AS detail
    FROM pg_class c
    WHERE c.oid IN ${USAGE_TABLES}
      AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid AND i.indislive)`,
  "the database refuses what must never be": `
    ${missingConstraints([
      ["account", "account_never_negative"],
      ["merchant_fund", "merchant_fund_never_negative"],
      ["posting", "posting_amount_check"],
      ["posting", "posting_check"],
      ["posting", "posting_pkey"],
      ["hold", "hold_amount_check"],
      ["usage_record", "usage_record_check"],
      ["usage_record", "usage_record_tokens_check"],
    ])}
    UNION ALL
    SELECT 'posting.posting_reference', 'the index is missing, not unique or not valid'
    WHERE NOT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('posting_reference') AND indisunique AND indisvalid)`,
  "what was acknowledged is durable": `
    SELECT name AS subject, 'is off' AS detail FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off'
    UNION ALL
    SELECT 'synchronous_commit', format('is %s', setting) FROM pg_settings
    WHERE name = 'synchronous_commit' AND ${NOT_ON_STANDBY}
    UNION ALL
    SELECT 'synchronous_commit', format('is %s for a role or this database', setting)
    FROM pg_db_role_setting s
    CROSS JOIN LATERAL (
      SELECT split_part(line, '=', 2) AS setting FROM unnest(s.setconfig) AS line WHERE line LIKE 'synchronous_commit=%'
    ) laid
    WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
      AND (setting = 'off' OR ${NOT_ON_STANDBY})`,
  ...RECEIVABLE_CHECKS,
  ...LATE_USAGE_CHECKS,
  // A far id is never behind the horizon. Nodes refuse such requests by the database's clock.
  "no posting has an id of the future": `
    SELECT id AS subject, format('id of %s, posted at %s', uuid_time(id), posted_at) AS detail
    FROM posting WHERE id > uuid_floor(clock_timestamp() + interval '10 minutes')`,
  "usage lies in its month's partition": `
    SELECT request_id AS subject, 'in the default partition' AS detail FROM usage_record_default`,
};

/** How many accounts one statement steps through. */
export const STEPS_PER_PAGE = 1_000;
export const POSTINGS_PER_PAGE = 5_000;

/** Steps from one account with usage to the next by the key, past all its records. $1: the account to begin behind. */
export const USED_ACCOUNTS = `
WITH RECURSIVE used(account_id, step) AS (
  (SELECT account_id, 1 FROM usage_record WHERE account_id > $1::uuid ORDER BY account_id LIMIT 1)
  UNION ALL
  SELECT (SELECT u.account_id FROM usage_record u WHERE u.account_id > used.account_id ORDER BY u.account_id LIMIT 1), step + 1
  FROM used WHERE used.account_id IS NOT NULL AND step < ${STEPS_PER_PAGE}
)
SELECT account_id AS id, (SELECT count(*) FROM account a WHERE a.id = used.account_id) = 1 AS is_known
FROM used WHERE account_id IS NOT NULL`;

/** Accounts with usage that do not exist, of those that open holds and postings from $1 on name. */
export const UNKNOWN_NAMED = `
SELECT n.account_id AS id FROM (SELECT account_id FROM hold UNION SELECT account_id FROM posting WHERE id >= $1::uuid) n
WHERE NOT EXISTS (SELECT FROM account a WHERE a.id = n.account_id)
  AND EXISTS (SELECT FROM usage_record u WHERE u.account_id = n.account_id)`;

/** The last posting of a page that begins with the id $1. */
export const LAST_OF_PAGE = `
SELECT id FROM (SELECT id FROM posting WHERE id >= $1::uuid ORDER BY id LIMIT ${POSTINGS_PER_PAGE}) page
ORDER BY id DESC LIMIT 1`;

const AT_HAND = usageAtHand("account_id, request_id, cost, charge, unbilled_cost");

/** Checks over a page of postings: $1 the first id, $2 the last. */
export const POSTING_CHECKS: Checks = {
  "every posting is between ledger accounts that exist": `
    SELECT p.id AS subject, format('%s -> %s', p.debit, p.credit) AS detail
    FROM posting p CROSS JOIN LATERAL (VALUES (p.debit), (p.credit)) AS side(id)
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid
      AND side.id::text NOT LIKE '00000000-0000-7000-8000-%'
      AND NOT EXISTS (SELECT FROM account a WHERE a.id = side.id)
      AND NOT EXISTS (SELECT FROM merchant_fund f WHERE f.id = side.id AND f.asset = p.asset)`,
  "every posting is under the account that it is about": `
    SELECT p.id AS subject, format('%s -> %s under %s', p.debit, p.credit, p.account_id) AS detail
    FROM posting p
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid
      AND (NOT EXISTS (SELECT FROM account a WHERE a.id = p.account_id)
        OR EXISTS (SELECT FROM account a WHERE a.id IN (p.debit, p.credit) AND a.id <> p.account_id)
        OR EXISTS (SELECT FROM merchant_fund f WHERE f.id IN (p.debit, p.credit) AND f.account_id <> p.account_id))`,
  "a loss of ours is what was cut off a charge": `
    SELECT p.id AS subject, format('booked %s, cut off %s', p.amount, coalesce(e.loss::text, 'nothing')) AS detail
    FROM posting p
    LEFT JOIN ${AT_HAND} u ON u.account_id = p.account_id AND u.request_id = p.group_id
    LEFT JOIN late_usage l ON l.account_id = p.account_id AND l.request_id = p.group_id AND p.reason = 'late_uncollected'
    CROSS JOIN LATERAL (
      SELECT CASE WHEN p.reason = 'late_uncollected' THEN ${LATE_DUE} - l.charge + l.unbilled_cost
                  WHEN p.id = p.group_id THEN u.cost - u.charge + u.unbilled_cost END AS loss
    ) e
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid AND p.debit = '${systemAccounts.operatorLoss}'
      AND p.amount IS DISTINCT FROM e.loss`,
  "credit notes of a request are at most its charge": `
    SELECT p.id AS subject, format('notes %s, charge %s', n.total, coalesce(u.charge, 0) + coalesce(l.charge, 0)) AS detail
    FROM posting p
    LEFT JOIN ${AT_HAND} u ON u.account_id = p.credit AND u.request_id = p.group_id
    LEFT JOIN late_usage l ON l.account_id = p.credit AND l.request_id = p.group_id
    CROSS JOIN LATERAL (
      SELECT sum(amount) AS total FROM posting
      WHERE account_id = p.account_id AND credit = p.credit AND debit = p.debit AND group_id = p.group_id AND reason = 'credit_note'
    ) n
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid
      AND p.debit = '${systemAccounts.revenue}' AND (p.reason <> 'credit_note' OR n.total > coalesce(u.charge, 0) + coalesce(l.charge, 0))`,
  "a charge of late usage has its late usage": `
    SELECT p.id AS subject, format('%s of %s as %s', p.amount, p.debit, p.reference) AS detail
    FROM posting p LEFT JOIN late_usage l ON l.account_id = p.debit AND l.request_id = p.group_id
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid AND p.reason = 'late_usage'
      AND (l.charge IS DISTINCT FROM p.amount OR p.reference IS DISTINCT FROM 'late:' || p.group_id)`,
};
