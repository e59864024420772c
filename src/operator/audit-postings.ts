// The audit of money that operators moved: each posting is what a line of their log orders.

import type { AuditPlugin } from "../ledger/audit/plugin.ts";
import { systemAccounts } from "../ledger/system-accounts.ts";

export const operatorPostingAudit: AuditPlugin = {
  postings: {
    // Lines have rupiah, postings micro-rupiah; a correction that takes money off is negative in its line.
    "money that an operator moved has its line in the operators' log": `
    SELECT p.id AS subject, format('%s of %s for %s', p.reason, p.amount, p.account_id) AS detail
    FROM posting p
    CROSS JOIN LATERAL (
      SELECT CASE p.reason
        WHEN 'operator_credit' THEN 'account credit' WHEN 'operator_adjustment' THEN 'account adjust' WHEN 'credit_note' THEN 'usage credit'
        WHEN 'transfer_uncovered' THEN 'payout cover'
      END AS action, CASE WHEN p.reason = 'credit_note' THEN p.group_id ELSE p.account_id END::text AS subject,
      CASE WHEN p.debit = p.account_id THEN -p.amount ELSE p.amount END AS amount
    ) l
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid
      AND ('${systemAccounts.operatorAdjustments}' IN (p.debit, p.credit) OR p.reason = 'credit_note')
      AND NOT (p.reference = 'demo-clear:' || p.account_id || ':' || p.credit AND p.debit = p.account_id AND EXISTS (
        -- A demo's play money is taken back in the transaction that makes its database production's.
        SELECT FROM database_purpose WHERE purpose = 'production' AND p.posted_at BETWEEN since - interval '1 hour' AND since + interval '1 minute'))
      AND NOT (p.reason = 'transfer_uncovered_back' AND EXISTS (
        -- What we bore of a transfer comes back when it is not paid.
        SELECT FROM posting c WHERE c.account_id = p.account_id AND c.reason = 'transfer_uncovered' AND c.amount = p.amount
          AND c.reference || '_back' = p.reference AND c.credit = p.debit))
      AND NOT EXISTS (
        SELECT FROM operator_action o
        WHERE o.subject = l.subject AND o.action = l.action AND o.facts ->> 'postingId' = p.id::text
          AND (p.reason = 'transfer_uncovered' AND (o.facts ->> 'units')::numeric = l.amount
            OR (o.facts ->> 'amount')::numeric * 1000000 = l.amount))`,
  },
};
