-- Sets, changes or removes the budget of a key; a null budget removes it. The caller holds the lock of the account, so no request is
-- admitted, extended or settled meanwhile. What was spent stays where only the amount changes; a new budget, and one with another
-- period, counts from now on. Open requests count with what they hold. False: the account has no such key.

CREATE OR REPLACE FUNCTION set_key_budget(account uuid, key uuid, new_budget bigint, new_period text) RETURNS boolean
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  former text; held bigint := 0;
BEGIN
  SELECT k.budget_period INTO former FROM api_key k
  WHERE k.account_id = account AND k.id = key AND NOT k.is_playground FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  IF former = new_period THEN
    UPDATE api_key k SET budget = new_budget WHERE k.account_id = account AND k.id = key;
    RETURN true;
  END IF;
  UPDATE hold h SET in_budget = new_budget IS NOT NULL WHERE h.account_id = account AND h.key_id = key;
  IF new_budget IS NOT NULL THEN
    SELECT coalesce(sum(h.amount), 0) INTO held FROM hold h WHERE h.account_id = account AND h.key_id = key;
  END IF;
  UPDATE api_key k
  SET budget = new_budget, budget_period = new_period, budget_spent = 0, budget_held = held,
      budget_start = CASE WHEN new_budget IS NULL THEN NULL ELSE clock_timestamp() END
  WHERE k.account_id = account AND k.id = key;
  RETURN true;
END $$;
