-- The zone in whose days and months an account's budgets are counted; null is Asia/Jakarta. `budget_until` is set by a change of the zone: the
-- period that ran then lasts until that moment. `budget_began_in` is the zone in which that period began (functions/budget_zone.sql).

ALTER TABLE account ADD COLUMN budget_zone text;
ALTER TABLE api_key ADD COLUMN budget_zone text, ADD COLUMN budget_until timestamptz, ADD COLUMN budget_began_in text;
ALTER TABLE member_budget ADD COLUMN budget_zone text, ADD COLUMN budget_until timestamptz, ADD COLUMN budget_began_in text;
