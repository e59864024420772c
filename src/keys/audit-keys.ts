// The audit of budgets and tokens: what is held of them is what the key's open requests hold.

import type { AuditPlugin } from "../ledger/audit/plugin.ts";

export const keyAudit: AuditPlugin = {
  whole: {
    "what is held of a key's budget is the sum of its open holds": `
    SELECT k.id AS subject, format('held %s, holds %s', k.budget_held, h.total) AS detail
    FROM api_key k
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0) AS total FROM hold WHERE account_id = k.account_id AND key_id = k.id AND in_budget
    ) h
    WHERE (k.budget IS NOT NULL OR k.budget_held <> 0) AND k.budget_held <> h.total`,
    "what is held of a member's budget is the sum of its open holds": `
    SELECT b.person_id AS subject, format('account %s: held %s, holds %s', b.account_id, b.budget_held, h.total) AS detail
    FROM member_budget b
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(amount), 0) AS total FROM hold WHERE account_id = b.account_id AND member_id = b.person_id
    ) h
    WHERE b.budget_held <> h.total`,
    "a hold counts in the budget of the member who made its key where there is one, and nowhere else": `
    SELECT h.id AS subject, format('key %s', k.id) AS detail
    FROM hold h JOIN api_key k ON k.account_id = h.account_id AND k.id = h.key_id
    LEFT JOIN member_budget b ON b.account_id = h.account_id AND b.person_id = k.person_id
    WHERE h.member_id IS DISTINCT FROM b.person_id`,
    "an account knows how many of its members have a budget": `
    SELECT a.id AS subject, format('counted %s, has %s', a.member_budgets, b.total) AS detail
    FROM account a CROSS JOIN LATERAL (SELECT count(*) AS total FROM member_budget WHERE account_id = a.id) b
    WHERE (a.member_budgets <> 0 OR a.id IN (SELECT account_id FROM member_budget)) AND a.member_budgets <> b.total`,
    "a budget has the zone of its account": `
    SELECT b.id AS subject, format('has %s, account %s has %s', b.budget_zone, a.id, a.budget_zone) AS detail
    FROM (SELECT id, account_id, budget_zone FROM api_key WHERE budget IS NOT NULL
          UNION ALL SELECT person_id, account_id, budget_zone FROM member_budget) b
    JOIN account a ON a.id = b.account_id
    WHERE coalesce(b.budget_zone, 'Asia/Jakarta') <> coalesce(a.budget_zone, 'Asia/Jakarta')`,
    "what is held of a key's tokens is the sum of its open holds": `
    SELECT k.id AS subject, format('held %s, holds %s', k.tokens_held, h.total) AS detail
    FROM api_key k
    CROSS JOIN LATERAL (SELECT coalesce(sum(tokens), 0) AS total FROM hold WHERE account_id = k.account_id AND key_id = k.id) h
    WHERE (k.token_limit > 0 OR k.tokens_held <> 0) AND k.tokens_held <> h.total`,
    "a hold counts in the budget of its key where there is one, and nowhere else": `
    SELECT h.id AS subject, format('key %s', k.id) AS detail
    FROM hold h JOIN api_key k ON k.account_id = h.account_id AND k.id = h.key_id
    WHERE h.in_budget <> (k.budget IS NOT NULL)`,
  },
};
