-- The zone in whose days and months an account's budgets are counted. Null is Asia/Jakarta. Each budget has a copy, which the request path
-- reads with the row that it locks.

-- Until when a period lasts that began at `start` in a zone, and is counted in another one now: the first midnight there that is not before
-- the end that the period had where it began. So no change shortens the period that runs, and none gives its budget twice; a month after it
-- is two days shorter at most. It depends on no zone in between: going there and back changes nothing. Null: the budget has no periods.
CREATE OR REPLACE FUNCTION budget_until_in(period text, began_in text, start timestamptz, new_zone text) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_variable
DECLARE
  ends timestamptz := budget_end_at(period, began_in, NULL, start);
  first_day timestamp := date_trunc('day', ends AT TIME ZONE coalesce(began_in, 'Asia/Jakarta'));
  midnight timestamptz := zone_period_start('day', ends, new_zone);
BEGIN
  IF midnight < ends THEN midnight := zone_period_start('day', midnight + interval '36 hours', new_zone); END IF;
  -- Far in the west that midnight may be of a day before the one with which the next period begins.
  RETURN greatest(midnight, zone_period_start('day', first_day AT TIME ZONE new_zone + interval '12 hours', new_zone));
END $$;

-- A budget as it is at t, counted in another zone from then on. A period that was not extended by a change before began in the zone that the
-- budget has.
CREATE OR REPLACE FUNCTION budget_in_zone(
  period text, start timestamptz, zone text, until timestamptz, began_in text, spent bigint, new_zone text, t timestamptz,
  OUT new_start timestamptz, OUT new_until timestamptz, OUT new_began_in text, OUT new_spent bigint)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_variable
BEGIN
  new_start := budget_start_at(period, start, zone, until, t);
  new_spent := budget_spent_at(period, start, zone, until, spent, t);
  new_began_in := CASE WHEN new_start < until THEN began_in ELSE zone END;
  new_until := budget_until_in(period, new_began_in, new_start, new_zone);
END $$;

-- Sets the zone of an account behind its lock, and that of its budgets. Returns the former one; null: there is no such account.
CREATE OR REPLACE FUNCTION set_budget_zone(account uuid, new_zone text) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  former text; t timestamptz;
BEGIN
  PERFORM FROM lock_accounts(ARRAY[account]);
  SELECT coalesce(a.budget_zone, 'Asia/Jakarta') INTO former FROM account a WHERE a.id = account;
  IF former IS NULL OR former = new_zone THEN RETURN former; END IF;
  -- No request of the account is admitted, extended or settled meanwhile.
  t := clock_timestamp();
  UPDATE account a SET budget_zone = new_zone WHERE a.id = account;
  UPDATE member_budget b
  SET budget_start = n.new_start, budget_spent = n.new_spent, budget_until = n.new_until, budget_began_in = n.new_began_in,
      budget_zone = new_zone
  FROM member_budget m
  CROSS JOIN LATERAL budget_in_zone(m.budget_period, m.budget_start, m.budget_zone, m.budget_until, m.budget_began_in, m.budget_spent,
                                    new_zone, t) n
  WHERE b.account_id = account AND m.account_id = account AND m.person_id = b.person_id;
  UPDATE api_key k
  SET budget_start = n.new_start, budget_spent = n.new_spent, budget_until = n.new_until, budget_began_in = n.new_began_in,
      budget_zone = new_zone
  FROM api_key m
  CROSS JOIN LATERAL budget_in_zone(m.budget_period, m.budget_start, m.budget_zone, m.budget_until, m.budget_began_in, m.budget_spent,
                                    new_zone, t) n
  WHERE k.account_id = account AND m.account_id = account AND m.id = k.id AND m.budget IS NOT NULL;
  RETURN former;
END $$;
