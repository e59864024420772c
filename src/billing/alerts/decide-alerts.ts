// Which alerts are due, decided from committed rows in the background: no request waits for it, and none pays for it. The fall of a
// balance is decided beside its mail (low-balance-alert.ts).

import type { Pool } from "pg";
import { createLook } from "../../database/throttled-reader.ts";
import { BEFORE_ALL_IDS } from "../../kernel/ids.ts";
import { MAKE_ALERTS, makeAlerts } from "./make-alerts.ts";

/** The part of its time that the database works for it beside requests. */
const SHARE = 0.2;
const ACCOUNTS_PER_PAGE = 200;
const TOP_UPS_PER_ROUND = 500;
/** How far back top-ups are looked for: longer than no process works. */
const TOP_UPS_OF = "3 days";
/** How many alerts of a budget are made in a day: three for each of four amounts. */
export const MOST_OF_BUDGET = 12;
const QUARTER_SECONDS = 900;
/** How long after its end a day is still looked at. */
const DAY_BEFORE_FOR = "1 hour";

/** The highest percent that is reached of a whole. */
const reached = (percents: string, spent: string, whole: string): string =>
  `(SELECT max(each.percent) FROM unnest(${percents}) AS each (percent) WHERE ${spent}::numeric * 100 >= ${whole}::numeric * each.percent)`;

const page = (columns: string, condition: string): string => `
page AS MATERIALIZED (
  SELECT account_id, ${columns} FROM alert_settings
  WHERE account_id > $1::uuid AND percents <> '{}' AND ${condition} ORDER BY account_id LIMIT ${ACCOUNTS_PER_PAGE}
)`;
const LAST = `SELECT max(account_id::text) AS last, count(*)::int AS seen FROM page`;

type BudgetRows = {
  readonly type: string;
  /** What has budgets, as b of the page p, with its conditions. */
  readonly join: string;
  readonly id: string;
  readonly facts: string;
};

// $1 the account to begin behind. What open requests hold is not spent yet. One moment for the start of a period and for what was spent in it,
// so that no spend of a period counts in the next one. A budget is reached in whole, too, where a request was refused because too little is
// left. Who changes a budget again and again makes no more rows than the bound.
const budgets = ({ type, join, id, facts }: BudgetRows): string => `
WITH now AS MATERIALIZED (SELECT clock_timestamp() AS moment), ${page("percents", "true")}, counted AS MATERIALIZED (
  SELECT p.account_id, p.percents, ${id} AS id, ${facts} AS facts, b.budget, b.budget_period AS period, b.budget_used_up_at AS used_up_at,
    budget_start_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, n.moment) AS start,
    budget_spent_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, b.budget_spent, n.moment) AS spent,
    budget_end_ms(b.budget_period, b.budget_zone, b.budget_until, n.moment) AS reset_ms
  FROM page p CROSS JOIN now n ${join}
), spent AS MATERIALIZED (
  SELECT *, coalesce(used_up_at >= start, false) AND spent < budget AND 100 = ANY (percents) AS refused FROM counted
), found AS (
  SELECT account_id, '${type}' AS type,
    format('${type}:%s:%s:%s:%s', id, period, budget, extract(epoch FROM start)) AS crossing, r.percent,
    facts || jsonb_build_object('period', period, 'percent', r.percent, 'budget', budget::text, 'spent', spent::text,
                                'refused', refused AND r.percent = 100, 'resetMs', reset_ms) AS data
  FROM spent s CROSS JOIN LATERAL (
    SELECT ${reached("percents", "CASE WHEN refused THEN budget ELSE spent END", "budget")} AS percent) r
  WHERE r.percent IS NOT NULL AND ${MOST_OF_BUDGET} > (
    SELECT count(*) FROM alert_event e WHERE e.account_id = s.account_id AND e.type = '${type}'
      AND starts_with(e.crossing, '${type}:' || s.id) AND e.created_at > clock_timestamp() - interval '1 day')
), ${MAKE_ALERTS}
${LAST}`;
const KEY_BUDGETS = budgets({
  type: "key.budget_reached",
  join: "JOIN api_key b ON b.account_id = p.account_id AND b.budget > 0 AND b.revoked_at IS NULL",
  id: "b.id",
  facts: "jsonb_build_object('keyId', b.id, 'keyName', b.name, 'personId', b.person_id)",
});
const MEMBER_BUDGETS = budgets({
  type: "member.budget_reached",
  join: "JOIN member_budget b ON b.account_id = p.account_id AND b.budget > 0",
  id: "b.person_id",
  facts: "jsonb_build_object('personId', b.person_id)",
});

// $1 the account to begin behind. The quarters that are rolled up, and the records behind them, in one snapshot. In its first hour a day has
// the one before beside it: what came in that one's last minutes is settled later, and the look before may have been longer ago.
const DAYS = `
WITH now AS MATERIALIZED (
  SELECT DISTINCT date_trunc('day', moment, 'Asia/Jakarta') AS day_start
  FROM (VALUES (clock_timestamp()), (clock_timestamp() - interval '${DAY_BEFORE_FOR}')) AS v (moment)
),
day AS MATERIALIZED (
  SELECT (extract(epoch FROM day_start) / ${QUARTER_SECONDS})::int AS quarter,
    (extract(epoch FROM day_start + interval '1 day') / ${QUARTER_SECONDS})::int AS next_quarter,
    to_char(day_start AT TIME ZONE 'Asia/Jakarta', 'YYYY-MM-DD') AS name
  FROM now
), ${page("percents, daily_spend", "daily_spend IS NOT NULL")}, spent AS MATERIALIZED (
  SELECT p.*, d.name AS day, (
    SELECT coalesce(sum(r.charge), 0) FROM usage_roll_up r
    WHERE r.account_id = p.account_id AND r.quarter >= d.quarter AND r.quarter < least(b.before_quarter, d.next_quarter)
  ) + (
    SELECT coalesce(sum(u.charge), 0) FROM usage_record u
    WHERE u.account_id = p.account_id AND u.request_id >= quarter_floor(greatest(b.before_quarter, d.quarter))
      AND u.request_id < quarter_floor(d.next_quarter)
  ) AS spent
  FROM page p CROSS JOIN day d CROSS JOIN LATERAL (
    SELECT coalesce(max(before_quarter), 0) AS before_quarter FROM usage_rolled_up WHERE account_id = p.account_id) b
), found AS (
  SELECT account_id, 'usage.daily' AS type, format('usage.daily:%s:%s', day, daily_spend) AS crossing, r.percent,
    jsonb_build_object('day', day, 'percent', r.percent, 'dailySpend', daily_spend::text, 'spent', trunc(spent)::text) AS data
  FROM spent CROSS JOIN LATERAL (SELECT ${reached("percents", "spent", "daily_spend")} AS percent) r WHERE r.percent IS NOT NULL
), ${MAKE_ALERTS}
${LAST}`;

// An automatic top-up has a mail of its own (auto-top-ups/notices.ts), so its alert is posted alone.
const TOP_UPS = `
WITH found AS MATERIALIZED (
  SELECT t.account_id, 'top_up.succeeded' AS type, 'top_up.succeeded:' || t.id AS crossing, 0 AS percent,
    t.method_id IS NULL AS mails, jsonb_build_object('topUpId', t.id, 'amount', t.amount::text, 'paidAt', t.paid_at) AS data
  FROM (SELECT * FROM top_up WHERE changed_at > clock_timestamp() - interval '${TOP_UPS_OF}' AND paid_at IS NOT NULL) t
    JOIN alert_settings s ON s.account_id = t.account_id AND t.paid_at >= s.since
  WHERE 'top_up.succeeded' = ANY (CASE WHEN t.method_id IS NULL THEN s.mail_types || s.webhook_types ELSE s.webhook_types END)
    AND NOT EXISTS (SELECT FROM alert_event e WHERE e.account_id = t.account_id AND e.crossing = 'top_up.succeeded:' || t.id)
  LIMIT ${TOP_UPS_PER_ROUND}
), ${makeAlerts("f.mails")}
SELECT count(*)::int AS seen FROM found`;

/** Makes the alerts that are due. The same alert is made once, whichever processes look for it. */
export async function decideAlerts(pool: Pool, signal?: AbortSignal): Promise<void> {
  const look = createLook(pool, { share: SHARE, ...(signal && { signal }) });
  for (const statement of [KEY_BUDGETS, MEMBER_BUDGETS, DAYS]) {
    for (let after = BEFORE_ALL_IDS; ;) {
      const [last] = await look<{ last: string | null; seen: number }>(statement, [after]);
      if (last?.last == null || last.seen < ACCOUNTS_PER_PAGE) break;
      after = last.last;
    }
  }
  for (;;) {
    const [round] = await look<{ seen: number }>(TOP_UPS);
    if ((round?.seen ?? 0) < TOP_UPS_PER_ROUND) return;
  }
}
