-- The budget of a key, as functions of its row: the request path, the reads and the changes of a key decide by the same rules. A
-- budget is for calendar days or months of Jakarta, or for all time since it was set. Money that is held counts in whichever
-- period it is; a charge counts in the period in which its request is settled.
--
-- The functions that only compute are one expression each, so that the planner inlines them into the calling statement. The
-- last one is not read before it is called: where a former schema is taken over, functions come before columns.

-- The moment at which the present period began.
CREATE OR REPLACE FUNCTION budget_start_at(period text, start timestamptz, t timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE period WHEN 'day' THEN greatest(start, date_trunc('day', t, 'Asia/Jakarta'))
                     WHEN 'month' THEN greatest(start, date_trunc('month', t, 'Asia/Jakarta'))
                     ELSE start END
$$;

-- What was charged in the present period.
CREATE OR REPLACE FUNCTION budget_spent_at(period text, start timestamptz, spent bigint, t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN budget_start_at(period, start, t) > start THEN 0 ELSE spent END
$$;

-- What a key may still hold at the time t. Null: it has no budget. It is negative where a budget was lowered below what is spent
-- and held.
CREATE OR REPLACE FUNCTION budget_left(budget bigint, period text, start timestamptz, spent bigint, held bigint, t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT budget - budget_spent_at(period, start, spent, t) - held
$$;

CREATE OR REPLACE FUNCTION is_model_allowed_by_beginning(allowed text[], model text)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT EXISTS (SELECT FROM unnest(allowed) AS each (text) WHERE right(text, 1) = '*' AND starts_with(model, left(text, -1)))
$$;

-- Whether a key may ask a model. An allowed text is the id of a model, or the beginning of ids with an asterisk behind it.
CREATE OR REPLACE FUNCTION is_model_allowed(allowed text[], model text)
RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT allowed IS NULL OR model = ANY (allowed) OR is_model_allowed_by_beginning(allowed, model)
$$;

-- A hold of a key with a budget ends: what was held of it is free, and its charge is spent.
CREATE OR REPLACE FUNCTION charge_budget(account uuid, key uuid, held bigint, charge bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  t timestamptz := clock_timestamp();
BEGIN
  UPDATE api_key k
  SET budget_held = k.budget_held - held,
      budget_spent = CASE WHEN k.budget IS NULL THEN 0
                          ELSE budget_spent_at(k.budget_period, k.budget_start, k.budget_spent, t) + charge END,
      budget_start = budget_start_at(k.budget_period, k.budget_start, t)
  WHERE k.account_id = account AND k.id = key;
END $$;
