-- The budget of a key, as functions of its row: the request path, the reads and the changes of a key decide by the same rules. A
-- budget is for calendar days or months of the zone of its account, or for all time since it was set. Money that is held counts in
-- whichever period it is; a charge counts in the period in which its request is settled.
--
-- A zone that is null is Asia/Jakarta. `until` is set where the zone was changed: the period that ran then lasts until that moment
-- (`budget_zone.sql`).
--
-- The functions that only compute are one expression each, so that the planner inlines them into the calling statement. The
-- last one is not read before it is called: where a former schema is taken over, functions come before columns.

-- The first moment of the day or month of t in a zone. Where clocks are put forward over midnight it is the moment after that; where they are
-- put back to midnight the day has its first hour twice, and begins with the first of the two.
CREATE OR REPLACE FUNCTION zone_period_start(period text, t timestamptz, zone text)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT date_trunc(period, t, zone)
    - CASE WHEN (date_trunc(period, t, zone) - interval '1 hour') AT TIME ZONE zone = date_trunc(period, t, zone) AT TIME ZONE zone
           THEN interval '1 hour' ELSE interval '0' END
$$;

-- The moment at which the present period began.
CREATE OR REPLACE FUNCTION budget_start_at(period text, start timestamptz, zone text, until timestamptz, t timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN period = 'total' OR t < until THEN start
              ELSE greatest(start, until, zone_period_start(period, t, coalesce(zone, 'Asia/Jakarta'))) END
$$;

-- The moment at which the present period ends. Null: never.
CREATE OR REPLACE FUNCTION budget_end_at(period text, zone text, until timestamptz, t timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  -- A day and a half behind the start of a day is in the next one, and forty days behind that of a month in the next one.
  SELECT CASE WHEN period = 'total' THEN NULL WHEN t < until THEN until
              ELSE zone_period_start(period, zone_period_start(period, t, coalesce(zone, 'Asia/Jakarta'))
                                             + CASE period WHEN 'day' THEN interval '36 hours' ELSE interval '960 hours' END,
                                     coalesce(zone, 'Asia/Jakarta')) END
$$;

-- The same in milliseconds of Unix time. 0: never.
CREATE OR REPLACE FUNCTION budget_end_ms(period text, zone text, until timestamptz, t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce((extract(epoch FROM budget_end_at(period, zone, until, t)) * 1000)::bigint, 0)
$$;

-- What was charged in the present period.
CREATE OR REPLACE FUNCTION budget_spent_at(period text, start timestamptz, zone text, until timestamptz, spent bigint, t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN budget_start_at(period, start, zone, until, t) > start THEN 0 ELSE spent END
$$;

-- What a key may still hold at the time t. Null: it has no budget. It is negative where a budget was lowered below what is spent
-- and held.
CREATE OR REPLACE FUNCTION budget_left(
  budget bigint, period text, start timestamptz, zone text, until timestamptz, spent bigint, held bigint, t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT budget - budget_spent_at(period, start, zone, until, spent, t) - held
$$;

-- For the version before, which decides alerts by them. No money is decided by these.
CREATE OR REPLACE FUNCTION budget_start_at(period text, start timestamptz, t timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT budget_start_at(period, start, NULL, NULL, t) $$;
CREATE OR REPLACE FUNCTION budget_spent_at(period text, start timestamptz, spent bigint, t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT budget_spent_at(period, start, NULL, NULL, spent, t) $$;
CREATE OR REPLACE FUNCTION budget_left(budget bigint, period text, start timestamptz, spent bigint, held bigint, t timestamptz)
RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$ SELECT budget_left(budget, period, start, NULL, NULL, spent, held, t) $$;

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
                          ELSE budget_spent_at(k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, t) + charge END,
      budget_start = budget_start_at(k.budget_period, k.budget_start, k.budget_zone, k.budget_until, t)
  WHERE k.account_id = account AND k.id = key;
END $$;
