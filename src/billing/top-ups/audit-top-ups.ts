// The audit of money that came in through payment providers: every order against what was posted for it, in pages by its id.

import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { missingConstraints, unprotectedTables } from "../../database/schema-checks.ts";
import { type Violation, VIOLATIONS_TO_READ } from "../../ledger/audit/findings.ts";
import type { AuditCheck, AuditPlugin, Checks } from "../../ledger/audit/plugin.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";

const TOP_UPS_PER_PAGE = 500;

/** Every order, or those that have changed in the last hour: each transaction that moves an order's money changes the order. */
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
    (SELECT coalesce(sum(amount), 0) FROM receivable WHERE top_up_id = t.id) AS owed,
    (SELECT coalesce(sum(amount), 0) FROM posting
     WHERE group_id = t.id AND credit = '${systemAccounts.taxPayable}' AND debit = '${systemAccounts.providerClearing}') AS taxed,
    (SELECT coalesce(sum(amount), 0) FROM posting
     WHERE group_id = t.id AND debit = '${systemAccounts.taxPayable}' AND credit = '${systemAccounts.providerClearing}') AS untaxed
) p
CROSS JOIN LATERAL (SELECT (t.given_back + coalesce(t.tax_given_back, 0))::numeric AS back, (t.amount + coalesce(t.tax, 0))::numeric AS paid) b
CROSS JOIN LATERAL (VALUES
  ('a paid top-up is credited once, with its own amount, and no other is',
   p.credited <> CASE WHEN t.paid_at IS NULL THEN 0 ELSE t.amount END,
   format('%s of %s, credited %s', t.state, t.amount, p.credited)),
  ('what was given back of a top-up was taken from its account or is owed', p.taken + p.owed <> t.given_back,
   format('given back %s, taken %s, owed %s', t.given_back, p.taken, p.owed)),
  ('the tax of a paid top-up is posted once, and goes back with the payment',
   p.taxed <> CASE WHEN t.paid_at IS NULL THEN 0 ELSE coalesce(t.tax, 0) END OR p.untaxed <> coalesce(t.tax_given_back, 0),
   format('tax %s, posted %s, given back %s, posted %s', t.tax, p.taxed, t.tax_given_back, p.untaxed)),
  -- As receipts/tax.ts splits it. A version before the tax gives back the net amount alone, and one of before 2026-11-27 parts of a rupiah,
  -- which later refunds round to a whole rupiah beside the nearest.
  ('what was given back of a taxed top-up has its part of the tax',
   t.tax > 0 AND coalesce(t.tax_given_back, 0) <> 1000000 * floor(
     (b.back * t.tax * 2 + b.paid * 1000000) / (b.paid * 2000000))
   AND NOT (abs(coalesce(t.tax_given_back, 0) * b.paid - b.back * t.tax) < 1000000 * b.paid AND EXISTS (
     SELECT FROM posting WHERE group_id = t.id AND debit = '${systemAccounts.taxPayable}' AND amount % 1000000 <> 0)),
   format('given back %s of %s, tax %s of %s', t.given_back, t.amount, t.tax_given_back, t.tax))
) v(name, is_broken, detail)
WHERE t.id = ANY ($1::uuid[]) AND v.is_broken LIMIT ${VIOLATIONS_TO_READ}`;

/** Compares all top-ups with the ledger, or those that changed lately. */
const auditPages: AuditCheck = async ({ look, findings, full }) => {
  for (let after = BEFORE_ALL_IDS; ;) {
    const page = await look<{ id: string }>(full ? PAGES.full : PAGES.recent, [after]);
    const last = page.at(-1);
    if (last === undefined) return;
    findings.add(await look<Violation>(WRONG_TOP_UPS, [page.map(({ id }) => id)]));
    after = last.id;
  }
};

const POSTING_CHECKS: Checks = {
  "what comes from a payment provider is a paid top-up's own amount": `
    SELECT p.id AS subject, format('%s to %s as %s', p.amount, p.credit, p.reference) AS detail
    FROM posting p LEFT JOIN top_up t ON t.id = p.group_id
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid AND p.debit = '${systemAccounts.providerClearing}'
      AND (t.paid_at IS NULL
        OR CASE WHEN p.credit = '${systemAccounts.overpayments}' THEN p.reference IS DISTINCT FROM 'top-up:' || t.id || ':overpaid'
           WHEN p.credit = '${systemAccounts.taxPayable}' THEN p.reference IS DISTINCT FROM 'top-up:' || t.id || ':tax'
           ELSE t.account_id <> p.credit OR t.amount <> p.amount OR p.reference IS DISTINCT FROM 'top-up:' || t.id END)`,
  "what a payment provider keeps is of a paid top-up": `
    SELECT p.id AS subject, format('%s to %s as %s', p.amount, p.credit, p.reference) AS detail
    FROM posting p LEFT JOIN top_up t ON t.id = p.group_id
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid AND p.debit = '${systemAccounts.providerFees}'
      AND (t.paid_at IS NULL OR p.credit <> '${systemAccounts.providerClearing}')`,
};

/** The part of top-ups in the ledger's audit. */
export const topUpAudit: AuditPlugin = {
  whole: {
    "no payment event can be changed": unprotectedTables(["payment_event"]),
    "the database refuses what must never be of a top-up": missingConstraints([
      ["top_up", "top_up_credited"],
      ["top_up", "top_up_given_back"],
      ["payment_event", "payment_event_once"],
    ]),
  },
  postings: POSTING_CHECKS,
  pages: auditPages,
};
