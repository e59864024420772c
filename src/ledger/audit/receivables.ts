// Checks of debts. Few payments are ever given back, so all receivables are checked.

import { systemAccounts } from "../system-accounts.ts";
import type { Checks } from "./plugin.ts";

export const RECEIVABLE_CHECKS: Checks = {
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
  "the account of receivables is the sum of what is owed": `
    SELECT '${systemAccounts.receivables}' AS subject, format('owed %s, postings %s', o.total, p.total) AS detail
    FROM (SELECT coalesce(sum(amount - collected), 0) AS total FROM receivable) o
    CROSS JOIN LATERAL (
      SELECT (SELECT coalesce(sum(amount), 0) FROM posting WHERE debit = '${systemAccounts.receivables}')
           - (SELECT coalesce(sum(amount), 0) FROM posting WHERE credit = '${systemAccounts.receivables}') AS total
    ) p
    WHERE o.total <> p.total`,
};
