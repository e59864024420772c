// The audit of merchants' transfers: the funds' holds against the open transfers, and every ended transfer against the
// ledger. Like the rest of the audit it queries the database in short statements and does not rely on code. An
// incremental run checks recent rows, a full one all.

import { missingConstraints, unprotectedTables } from "../../database/schema-checks.ts";
import { VIOLATIONS_TO_READ } from "../../ledger/audit/findings.ts";
import type { AuditPlugin, Checks } from "../../ledger/audit/plugin.ts";
import { systemAccounts } from "../../ledger/system-accounts.ts";
import { wrongFees } from "./audit-fees.ts";
import { auditPages, lastOfPage, pagesOfTransfers } from "./audit-pages.ts";

/** They read little: funds, open transfers, and the database's own catalog. */
const WHOLE_CHECKS: Checks = {
  "what a fund holds is the total of its open transfers": `
    SELECT coalesce(f.id::text, o.merchant_id || ' ' || o.asset) AS subject,
           format('held %s, open transfers %s', f.held, coalesce(o.total, 0)) AS detail
    FROM merchant_fund f
    FULL JOIN (
      SELECT merchant_id, asset, sum(total) AS total FROM transfer
      WHERE status IN ('PENDING', 'WAITING', 'SUBMITTED') GROUP BY merchant_id, asset
    ) o ON o.merchant_id = f.merchant_id AND o.asset = f.asset
    WHERE f.held IS DISTINCT FROM coalesce(o.total, 0)`,
  "the database refuses what must never be of a transfer": missingConstraints([
    ["transfer", "transfer_external_id"],
    ["transfer", "transfer_total"],
    ["transfer", "transfer_confirmed"],
    ["transfer", "transfer_approval"],
    ["transfer", "transfer_received_check"],
  ]),
  "no transfer is forgotten and no event of one changed": unprotectedTables(["transfer", "transfer_event"]),
};

/**
 * The legs that a transfer must have in the ledger, by its status and environment; any other leg of its references is
 * wrong.
 */
const wrongTransfers = (which: string): string => `
SELECT v.name AS "check", t.id AS subject, v.detail
FROM (${which}) page
JOIN transfer t ON t.id = page.id
JOIN merchant m ON m.id = t.merchant_id
LEFT JOIN merchant_fund f ON f.merchant_id = t.merchant_id AND f.asset = t.asset
LEFT JOIN posting payout ON payout.account_id = m.account_id AND payout.reference = 'transfer:' || t.id || ':payout'
LEFT JOIN posting sent ON sent.account_id = m.account_id AND sent.reference = 'transfer:' || t.id || ':sent'
LEFT JOIN posting fee ON fee.account_id = m.account_id AND fee.reference = 'transfer:' || t.id || ':fee'
CROSS JOIN LATERAL (SELECT
  CASE t.environment WHEN 'production' THEN '${systemAccounts.merchantClearing}' ELSE '${systemAccounts.sandbox}' END::uuid AS coins,
  CASE t.environment WHEN 'production' THEN '${systemAccounts.revenue}' ELSE '${systemAccounts.sandbox}' END::uuid AS fees) outside
CROSS JOIN LATERAL (SELECT status, transaction_hash FROM transfer_event e WHERE e.transfer_id = t.id ORDER BY e.id DESC LIMIT 1) last
CROSS JOIN LATERAL (VALUES
  ('a confirmed transfer is captured, and no other', format('%s, postings %s %s %s', t.status, payout.id, sent.id, fee.id),
   CASE WHEN t.status = 'CONFIRMED' THEN
     (payout.debit, payout.credit, payout.amount, payout.asset) IS DISTINCT FROM
       (f.id, '${systemAccounts.payoutClearing}'::uuid, t.received, t.asset)
     OR (sent.debit, sent.credit, sent.amount, sent.asset) IS DISTINCT FROM
       ('${systemAccounts.payoutClearing}'::uuid, outside.coins, t.received, t.asset)
     OR CASE WHEN t.fee = 0 THEN fee.id IS NOT NULL ELSE
          (fee.debit, fee.credit, fee.amount, fee.asset) IS DISTINCT FROM (f.id, outside.fees, t.fee, t.asset) END
   ELSE payout.id IS NOT NULL OR sent.id IS NOT NULL OR fee.id IS NOT NULL END),
  ('the last event of a transfer is its status', format('status %s, last event %s', t.status, last.status),
   last.status <> t.status),
  ('a transfer belongs to the environment of its merchant', t.environment,
   t.environment <> m.environment),
  ('total = received + fee', format('%s, %s + %s', t.total, t.received, t.fee), t.total <> t.received + t.fee)
) v(name, detail, is_broken)
WHERE v.is_broken LIMIT ${VIOLATIONS_TO_READ}`;

// Sides and legs of payout clearing: each amount leaves under the transfer under which it arrived.
const ofClearing = (side: "debit" | "credit"): string => `${side} = '${systemAccounts.payoutClearing}'`;
const wrongClearing = (side: "debit" | "credit", [own, other]: readonly [string, string]): string => `
SELECT 'payout clearing returns to zero' AS "check", p.id AS subject, format('%s of transfer %s', p.amount, p.group_id) AS detail
FROM posting p
LEFT JOIN posting back ON back.account_id = p.account_id AND back.reference = 'transfer:' || p.group_id || ':${other}'
WHERE p.${ofClearing(side)} AND p.id > $1::uuid AND p.id <= $2::uuid
  AND (p.reference IS DISTINCT FROM 'transfer:' || p.group_id || ':${own}'
    OR (back.${side === "debit" ? "credit" : "debit"}, back.amount, back.asset) IS DISTINCT FROM (p.${side}, p.amount, p.asset))
LIMIT ${VIOLATIONS_TO_READ}`;

/** The part of merchants' transfers in the ledger's audit. */
export const transferAudit: AuditPlugin = {
  whole: WHOLE_CHECKS,
  pages: (run) =>
    auditPages(run, [
      pagesOfTransfers(run.full, [wrongTransfers, wrongFees]),
      { lastOfPage: lastOfPage("posting", ofClearing("credit")), wrong: [wrongClearing("credit", ["payout", "sent"])] },
      { lastOfPage: lastOfPage("posting", ofClearing("debit")), wrong: [wrongClearing("debit", ["sent", "payout"])] },
    ]),
};
