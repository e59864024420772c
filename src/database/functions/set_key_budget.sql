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
    UPDATE api_key k
    SET budget = new_budget, budget_used_up_at = CASE WHEN k.budget = new_budget THEN k.budget_used_up_at END
    WHERE k.account_id = account AND k.id = key;
    PERFORM recount_key_budgets(account);
    RETURN true;
  END IF;
  UPDATE hold h SET in_budget = new_budget IS NOT NULL WHERE h.account_id = account AND h.key_id = key;
  IF new_budget IS NOT NULL THEN
    SELECT coalesce(sum(h.amount), 0) INTO held FROM hold h WHERE h.account_id = account AND h.key_id = key;
  END IF;
  UPDATE api_key k
  SET budget = new_budget, budget_period = new_period, budget_spent = 0, budget_held = held, budget_used_up_at = NULL,
      budget_start = CASE WHEN new_budget IS NULL THEN NULL ELSE clock_timestamp() END, budget_until = NULL, budget_began_in = NULL,
      budget_zone = CASE WHEN new_budget IS NULL THEN NULL ELSE (SELECT a.budget_zone FROM account a WHERE a.id = account) END
  WHERE k.account_id = account AND k.id = key;
  RETURN true;
END $$;

-- Counts again what the open requests of an account's keys and members hold of budgets and tokens: the version before recovers holds without them. The caller holds
-- the lock of the account. Returns how many were wrong.
CREATE OR REPLACE FUNCTION recount_key_budgets(account uuid) RETURNS int LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  wrong int; more int;
BEGIN
  UPDATE api_key k SET budget_held = h.total
  FROM (
    SELECT k.id, coalesce(sum(h.amount) FILTER (WHERE h.in_budget), 0) AS total
    FROM api_key k LEFT JOIN hold h ON h.account_id = k.account_id AND h.key_id = k.id
    WHERE k.account_id = account AND k.budget IS NOT NULL GROUP BY k.id
  ) h
  WHERE k.account_id = account AND k.id = h.id AND k.budget_held <> h.total;
  GET DIAGNOSTICS wrong = ROW_COUNT;
  UPDATE api_key k SET tokens_held = h.total
  FROM (
    SELECT k.id, coalesce(sum(h.tokens), 0) AS total
    FROM api_key k LEFT JOIN hold h ON h.account_id = k.account_id AND h.key_id = k.id
    WHERE k.account_id = account AND (k.token_limit > 0 OR k.tokens_held <> 0) GROUP BY k.id
  ) h
  WHERE k.account_id = account AND k.id = h.id AND k.tokens_held <> h.total;
  GET DIAGNOSTICS more = ROW_COUNT;
  wrong := wrong + more;
  UPDATE member_budget b SET budget_held = h.total
  FROM (
    SELECT b.person_id, coalesce(sum(h.amount), 0) AS total
    FROM member_budget b LEFT JOIN hold h ON h.account_id = b.account_id AND h.member_id = b.person_id
    WHERE b.account_id = account GROUP BY b.person_id
  ) h
  WHERE b.account_id = account AND b.person_id = h.person_id AND b.budget_held <> h.total;
  GET DIAGNOSTICS more = ROW_COUNT;
  wrong := wrong + more;
  RETURN wrong;
END $$;
