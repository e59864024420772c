// The audit of money that came in through payment providers: every order against what was posted for it, in pages by its id.

import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { type AuditFindings, type Violation, VIOLATIONS_TO_READ } from "./findings.ts";
import type { Look } from "../../database/throttled-reader.ts";
import { systemAccounts } from "../system-accounts.ts";

const TOP_UPS_PER_PAGE = 500;

/** Every order, or those that have changed in the last hour: whatever moves an order's money changes the order with it. */
const PAGES = {
  full: `SELECT id FROM top_up WHERE id > $1::uuid ORDER BY id LIMIT ${TOP_UPS_PER_PAGE}`,
  recent: `
WITH recent AS MATERIALIZED (SELECT id FROM top_up WHERE changed_at > clock_timestamp() - interval '1 hour')
SELECT id FROM recent WHERE id > $1::uuid ORDER BY id LIMIT ${TOP_UPS_PER_PAGE}`,
} as const;

// $1 orders. One snapshot: an order changes in the transaction that moves its money.
const WRONG_TOP_UPS = `
SELECT v.name AS "check", t.id AS subject, v.detail
FROM top_up t
CROSS JOIN LATERAL (
  SELECT
    (SELECT coalesce(sum(amount), 0) FROM posting
     WHERE account_id = t.account_id AND credit = t.account_id AND debit = '${systemAccounts.providerClearing}' AND group_id = t.id) AS credited,
    (SELECT coalesce(sum(amount), 0) FROM posting
     WHERE account_id = t.account_id AND debit = t.account_id AND credit = '${systemAccounts.providerClearing}' AND group_id = t.id) AS taken,
    (SELECT coalesce(sum(amount), 0) FROM receivable WHERE top_up_id = t.id) AS owed
) p
CROSS JOIN LATERAL (VALUES
  ('a paid top-up is credited once, with its own amount, and no other is',
   p.credited <> CASE WHEN t.paid_at IS NULL THEN 0 ELSE t.amount END,
   format('%s of %s, credited %s', t.state, t.amount, p.credited)),
  ('what was given back of a top-up was taken from its account or is owed', p.taken + p.owed <> t.given_back,
   format('given back %s, taken %s, owed %s', t.given_back, p.taken, p.owed))
) v(name, is_broken, detail)
WHERE t.id = ANY ($1::uuid[]) AND v.is_broken LIMIT ${VIOLATIONS_TO_READ}`;

/** Audits all top-ups, or those that changed lately. */
export async function auditTopUps({
  look,
  findings,
  full,
}: {
  look: Look;
  findings: AuditFindings;
  full: boolean;
}): Promise<void> {
  for (let after = BEFORE_ALL_IDS; ;) {
    const page = await look<{ id: string }>(full ? PAGES.full : PAGES.recent, [after]);
    const last = page.at(-1);
    if (last === undefined) return;
    findings.add(await look<Violation>(WRONG_TOP_UPS, [page.map(({ id }) => id)]));
    after = last.id;
  }
}

/** What needs no pages: few payments are ever given back. */
export const RECEIVABLE_CHECKS: Readonly<Record<string, string>> = {
  "what an account owes is what was booked and not collected": `
    SELECT r.id AS subject, format('owed %s, booked %s; collected %s, posted %s', r.amount, p.booked, r.collected, p.collected) AS detail
    FROM receivable r
    CROSS JOIN LATERAL (
      SELECT
        (SELECT coalesce(sum(amount), 0) FROM posting
         WHERE account_id = r.account_id AND reference = 'receivable:' || r.id AND debit = '${systemAccounts.receivables}') AS booked,
        (SELECT coalesce(sum(amount), 0) FROM posting
         WHERE account_id = r.account_id AND debit = r.account_id AND credit = '${systemAccounts.receivables}'
           AND reference LIKE 'receivable:' || r.id || ':%') AS collected
    ) p
    WHERE r.amount <> p.booked OR r.collected <> p.collected`,
  "an account's debt is the sum of its receivables": `
    SELECT coalesce(a.id, r.account_id) AS subject, format('owed %s, receivables %s', coalesce(a.owed, 0), coalesce(r.rest, 0)) AS detail
    FROM (SELECT id, owed FROM account WHERE owed > 0) a
    FULL JOIN (SELECT account_id, sum(amount - collected) AS rest FROM receivable WHERE collected < amount GROUP BY account_id) r
      ON r.account_id = a.id
    WHERE coalesce(a.owed, 0) <> coalesce(r.rest, 0)`,
  "the account of receivables stands at what is owed": `
    SELECT '${systemAccounts.receivables}' AS subject, format('owed %s, postings %s', o.total, p.total) AS detail
    FROM (SELECT coalesce(sum(amount - collected), 0) AS total FROM receivable) o
    CROSS JOIN LATERAL (
      SELECT (SELECT coalesce(sum(amount), 0) FROM posting WHERE debit = '${systemAccounts.receivables}')
           - (SELECT coalesce(sum(amount), 0) FROM posting WHERE credit = '${systemAccounts.receivables}') AS total
    ) p
    WHERE o.total <> p.total`,
};
