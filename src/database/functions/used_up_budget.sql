-- A budget is used up where what is left of it does not cover a request that the whole would cover, and at least half of it is used. So neither
-- one request that is too large for it, nor what others hold at that moment, makes a budget used up. The moment is kept once in a period:
-- alerts are decided by it, and further refused requests write nothing.

CREATE OR REPLACE FUNCTION is_budget_used_up(budget bigint, used bigint, needed bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT needed <= budget AND budget - used < needed AND used >= budget - used
$$;

-- A request that needs so much beyond what it holds was refused for the budget of its key. The key is locked.
CREATE OR REPLACE FUNCTION note_used_up_key(account uuid, key uuid, own_hold bigint, needed bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  t timestamptz := clock_timestamp();
BEGIN
  UPDATE api_key k SET budget_used_up_at = t
  WHERE k.account_id = account AND k.id = key
    AND is_budget_used_up(k.budget, budget_spent_at(k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, t)
                                    + own_hold, needed)
    AND (k.budget_used_up_at IS NULL
         OR k.budget_used_up_at < budget_start_at(k.budget_period, k.budget_start, k.budget_zone, k.budget_until, t));
END $$;

-- The same for the budget of a member.
CREATE OR REPLACE FUNCTION note_used_up_member(account uuid, person uuid, own_hold bigint, needed bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  t timestamptz := clock_timestamp();
BEGIN
  UPDATE member_budget b SET budget_used_up_at = t
  WHERE b.account_id = account AND b.person_id = person
    AND is_budget_used_up(b.budget, budget_spent_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, b.budget_spent, t)
                                    + own_hold, needed)
    AND (b.budget_used_up_at IS NULL
         OR b.budget_used_up_at < budget_start_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, t));
END $$;
