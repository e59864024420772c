-- Budgets of members, as those of keys: what all keys that a person has made in an account may cost in a day, a month or altogether.
-- `hold.member_id` is the person in whose budget a hold counts. `account.member_budgets` is how many the account has, so that requests of
-- accounts without one look at no other row.

CREATE TABLE member_budget (
  account_id    uuid        NOT NULL,
  person_id     uuid        NOT NULL,
  budget        bigint      NOT NULL CHECK (budget >= 0),
  budget_period text        NOT NULL CHECK (budget_period IN ('total', 'day', 'month')),
  budget_start  timestamptz NOT NULL,
  budget_spent  bigint      NOT NULL DEFAULT 0,
  budget_held   bigint      NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, person_id),
  CONSTRAINT member_budget_counts CHECK (budget_spent >= 0 AND budget_held >= 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0,
        autovacuum_analyze_scale_factor = 0.5);
GRANT SELECT, INSERT, UPDATE, DELETE ON member_budget TO saldo_serve;

ALTER TABLE account ADD COLUMN member_budgets int NOT NULL DEFAULT 0;
ALTER TABLE hold ADD COLUMN member_id uuid;
