-- A budget is used up where a request was refused because too little was left of it: `budget_used_up_at` is when that was first so in the period.
-- It is only written once in a period, by the statements that admit and extend (functions/used_up_budget.sql). Alerts of members' budgets, and
-- mails of an alert to several readers: `mailed_people` have had theirs.

ALTER TABLE api_key ADD COLUMN budget_used_up_at timestamptz;
ALTER TABLE member_budget ADD COLUMN budget_used_up_at timestamptz;
GRANT UPDATE (budget_used_up_at) ON api_key TO saldo_ledger;
GRANT UPDATE (budget_used_up_at) ON member_budget TO saldo_ledger;

ALTER TABLE alert_event ADD COLUMN mailed_people uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE auto_top_up_notice ADD COLUMN mailed_people uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE low_balance_alert ADD COLUMN mailed_people uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE alert_event DROP CONSTRAINT alert_event_type_check;
ALTER TABLE alert_event ADD CONSTRAINT alert_event_type_check
  CHECK (type IN ('balance.low', 'key.budget_reached', 'member.budget_reached', 'usage.daily', 'top_up.succeeded')) NOT VALID;
