-- The budget of a member: what all keys that a person has made in an account may cost, by the rules of `key_budget.sql`. It is locked
-- behind the account and before the key.

-- Locks the budget of a member, and returns what is left of it. Null: the member has none.
CREATE OR REPLACE FUNCTION member_budget_left(account uuid, person uuid) RETURNS bigint LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  b record;
BEGIN
  SELECT m.* INTO b FROM member_budget m WHERE m.account_id = account AND m.person_id = person FOR NO KEY UPDATE;
  RETURN budget_left(b.budget, b.budget_period, b.budget_start, b.budget_zone, b.budget_until, b.budget_spent, b.budget_held,
                     clock_timestamp());
END $$;

-- A hold that counts in the budget of a member ends: what was held of it is free, and its charge is spent.
CREATE OR REPLACE FUNCTION charge_member_budget(account uuid, person uuid, held bigint, charge bigint) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  t timestamptz := clock_timestamp();
BEGIN
  UPDATE member_budget b
  SET budget_held = b.budget_held - held,
      budget_spent = budget_spent_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, b.budget_spent, t) + charge,
      budget_start = budget_start_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, t)
  WHERE b.account_id = account AND b.person_id = person;
END $$;

-- Sets, changes or removes the budget of a member behind the lock of the account; a null budget removes it. What was spent
-- stays where only the amount changes; a new budget, and one with another period, counts from now on. Open requests of all keys that
-- the member has made count with what they hold.
CREATE OR REPLACE FUNCTION set_member_budget(account uuid, person uuid, new_budget bigint, new_period text) RETURNS void
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  former text; held bigint;
BEGIN
  PERFORM FROM lock_accounts(ARRAY[account]);
  SELECT b.budget_period INTO former FROM member_budget b WHERE b.account_id = account AND b.person_id = person FOR NO KEY UPDATE;
  IF new_budget IS NULL THEN
    UPDATE hold h SET member_id = NULL WHERE h.account_id = account AND h.member_id = person;
    DELETE FROM member_budget b WHERE b.account_id = account AND b.person_id = person;
  ELSIF former = new_period THEN
    UPDATE member_budget b
    SET budget = new_budget, budget_used_up_at = CASE WHEN b.budget = new_budget THEN b.budget_used_up_at END
    WHERE b.account_id = account AND b.person_id = person;
    PERFORM recount_key_budgets(account);
  ELSE
    UPDATE hold h SET member_id = person
    WHERE h.account_id = account
      AND h.key_id IN (SELECT k.id FROM api_key k WHERE k.account_id = account AND k.person_id = person);
    SELECT coalesce(sum(h.amount), 0) INTO held FROM hold h WHERE h.account_id = account AND h.member_id = person;
    INSERT INTO member_budget (account_id, person_id, budget, budget_period, budget_start, budget_held, budget_zone)
    VALUES (account, person, new_budget, new_period, clock_timestamp(), held, (SELECT a.budget_zone FROM account a WHERE a.id = account))
    ON CONFLICT (account_id, person_id) DO UPDATE
    SET budget = excluded.budget, budget_period = excluded.budget_period, budget_start = excluded.budget_start, budget_spent = 0,
        budget_held = excluded.budget_held, budget_zone = excluded.budget_zone, budget_until = NULL, budget_began_in = NULL,
        budget_used_up_at = NULL;
  END IF;
  UPDATE account a SET member_budgets = (SELECT count(*) FROM member_budget b WHERE b.account_id = account) WHERE a.id = account;
END $$;
