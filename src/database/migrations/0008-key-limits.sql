-- Limits of keys: an end, the models that a key may ask, and a budget for a day, a month or altogether. `budget_spent` is what the key was
-- charged in the period that began at `budget_start`, `budget_held` is held by its open requests. A hold that counts there is marked,
-- so that requests of keys without a budget do not touch their key when they are settled.

ALTER TABLE api_key
  ADD COLUMN expires_at timestamptz,
  ADD COLUMN allowed_models text[],
  ADD COLUMN budget bigint,
  ADD COLUMN budget_period text,
  ADD COLUMN budget_start timestamptz,
  ADD COLUMN budget_spent bigint NOT NULL DEFAULT 0,
  ADD COLUMN budget_held bigint NOT NULL DEFAULT 0,
  ADD CONSTRAINT api_key_budget CHECK (
    num_nonnulls(budget, budget_period, budget_start) IN (0, 3) AND (budget IS NULL OR budget >= 0)
    AND (budget_period IS NULL OR budget_period IN ('total', 'day', 'month')) AND (budget IS NOT NULL OR budget_spent = 0)) NOT VALID,
  ADD CONSTRAINT api_key_budget_counts CHECK (budget_spent >= 0 AND budget_held >= 0) NOT VALID;

ALTER TABLE hold ADD COLUMN in_budget boolean NOT NULL DEFAULT false;
