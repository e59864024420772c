// The audit of balance that is given away: a welcome credit is what an operator set at that time, and only a demo gives play money.

import type { AuditPlugin } from "../ledger/audit/plugin.ts";
import { systemAccounts } from "../ledger/system-accounts.ts";

export const giftAudit: AuditPlugin = {
  postings: {
    // Setting and posting are of transactions that overlap, so either may have the earlier time.
    "what is given away is the welcome credit of its time, or a demo's play money": `
    SELECT p.id AS subject, format('%s to %s as %s', p.amount, p.credit, p.reason) AS detail
    FROM posting p
    WHERE p.id >= $1::uuid AND p.id <= $2::uuid AND p.debit = '${systemAccounts.promotions}' AND CASE p.reason
      WHEN 'welcome_credit' THEN p.reference IS DISTINCT FROM 'welcome:' || p.credit OR NOT EXISTS (
        SELECT FROM operator_setting s
        LEFT JOIN operator_setting next ON next.name = s.name AND next.version = s.version + 1
        WHERE s.name = 'welcome_credit' AND s.value::numeric = p.amount
          AND s.set_at <= p.posted_at + interval '1 minute'
          AND (next.version IS NULL OR next.set_at >= p.posted_at - interval '1 minute'))
      -- Debts that are forgiven: only when a demo's database becomes production's.
      WHEN 'operator_adjustment' THEN NOT EXISTS (
        SELECT FROM database_purpose
        WHERE purpose = 'production' AND p.posted_at BETWEEN since - interval '1 hour' AND since + interval '1 minute')
      WHEN 'demo_credit' THEN EXISTS (SELECT FROM database_purpose WHERE purpose = 'production' AND since <= p.posted_at)
      ELSE true END`,
  },
};
