// Checks of late usage, which completes records that recovery wrote. There are few such rows, so all are checked.

import { usageAtHand } from "../archived-usage.ts";
import { systemAccounts } from "../system-accounts.ts";
import type { Checks } from "./plugin.ts";

const AT_HAND = usageAtHand(
  "account_id, request_id, basis, cost, input_price, output_price, cache_hit_price, other_prices",
);

/** The cost of late usage beyond its record: `l` is the late usage, `u` the record. Null: there is no record. */
export const LATE_DUE = "CASE WHEN u.cost IS NOT NULL THEN greatest(0, l.cost - u.cost) END";

const paidInFull = (debit: string, name: string, reason: string): string => `
  (SELECT coalesce(sum(p.amount), 0) FROM posting p
   WHERE p.account_id = l.account_id AND p.debit = ${debit} AND p.credit = '${systemAccounts.revenue}' AND p.group_id = l.request_id
     AND p.reference = '${name}:' || l.request_id AND p.reason = '${reason}')`;

/** Each check returns a subject and a detail for each violation. */
export const LATE_USAGE_CHECKS: Checks = {
  "late usage belongs to a record of recovery, and its cost is recomputed": `
    SELECT l.request_id AS subject, format('record of basis %s, cost %s, recomputed %s', coalesce(u.basis, 'none'), l.cost, r.cost) AS detail
    FROM late_usage l
    LEFT JOIN LATERAL (SELECT * FROM ${AT_HAND} u WHERE u.account_id = l.account_id AND u.request_id = l.request_id LIMIT 1) u ON true
    CROSS JOIN LATERAL (SELECT usage_cost(l.input_tokens_uncached, l.input_tokens_cached, l.output_tokens, l.other_tokens, u.input_price,
                                          u.output_price, u.cache_hit_price, u.other_prices) AS cost) r
    WHERE u.basis IS DISTINCT FROM 'recovered' OR l.cost IS DISTINCT FROM r.cost`,
  "late usage is posted once, to the customer and to our loss, and comes to what the record lacks": `
    SELECT l.request_id AS subject, format('lacks %s, charge %s, posted %s, loss %s', d.due, l.charge, d.paid, d.lost) AS detail
    FROM late_usage l
    LEFT JOIN LATERAL (SELECT * FROM ${AT_HAND} u WHERE u.account_id = l.account_id AND u.request_id = l.request_id LIMIT 1) u ON true
    CROSS JOIN LATERAL (SELECT ${LATE_DUE} AS due,
      ${paidInFull("l.account_id", "late", "late_usage")} AS paid,
      ${paidInFull(`'${systemAccounts.operatorLoss}'`, "late-loss", "late_uncollected")} AS lost OFFSET 0) d
    WHERE d.due IS NULL OR l.charge > d.due OR d.paid <> l.charge OR d.lost <> d.due - l.charge + l.unbilled_cost`,
};
