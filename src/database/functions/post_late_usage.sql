-- Posts the cost of a request beyond the charge of recovery. It takes the parameters of settle_request, and whether the
-- difference must be posted in full or not at all. No row: recovery did not write the request's record. The account is locked
-- first, so a second call finds the result of the first. The cost includes recovery's charge, so the customer pays for each token
-- once. The loss has an id of its own: the id of the request is for the loss of the record's own charge.

CREATE OR REPLACE FUNCTION post_late_usage(
  account uuid, request uuid, cost bigint, input_tokens_uncached int, input_tokens_cached int, output_tokens int, basis text,
  billing_day date, upstream text, upstream_model text, upstream_request_id text, upstream_cost bigint, streamed boolean,
  duration_ms int, first_byte_ms int, clamped boolean, other_tokens jsonb, metering jsonb, unbilled_cost bigint, settled_at timestamptz,
  whole boolean,
  OUT outcome text, OUT charge bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  posted bigint; held bigint; owed bigint; key uuid; budgeted bigint;
  budget bigint; period text; start timestamptz; zone text; until timestamptz; spent bigint; key_held bigint; recovered_cost bigint; recovered_charge bigint; due bigint; late bigint; lost bigint;
  member uuid; member_left bigint;
BEGIN
  SELECT a.posted, a.held, a.owed INTO posted, held, owed FROM lock_accounts(ARRAY[account]) a;
  SELECT u.cost, u.charge, u.key_id INTO recovered_cost, recovered_charge, key FROM usage_record u
  WHERE u.account_id = account AND u.request_id = request AND u.basis = 'recovered';
  -- The month of the request may be in the archive. Of such records a copy stays at hand.
  IF NOT FOUND THEN
    SELECT k.cost, k.charge, k.key_id INTO recovered_cost, recovered_charge, key FROM usage_kept k
    WHERE k.account_id = account AND k.request_id = request AND k.basis = 'recovered';
  END IF;
  IF NOT FOUND THEN RETURN; END IF;

  SELECT l.charge INTO late FROM late_usage l WHERE l.account_id = account AND l.request_id = request;
  IF FOUND THEN outcome := 'posted'; charge := recovered_charge + late; RETURN; END IF;
  due := greatest(0, cost - recovered_cost);
  SELECT b.person_id INTO member FROM api_key k JOIN member_budget b ON b.account_id = k.account_id AND b.person_id = k.person_id
  WHERE k.account_id = account AND k.id = key;
  IF member IS NOT NULL THEN member_left := member_budget_left(account, member); END IF;
  SELECT k.budget, k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, k.budget_held
  INTO budget, period, start, zone, until, spent, key_held
  FROM api_key k WHERE k.account_id = account AND k.id = key FOR NO KEY UPDATE;
  budgeted := budget_left(budget, period, start, zone, until, spent, key_held, clock_timestamp());
  late := least(due, greatest(0, least(posted - held - owed, budgeted, member_left))); -- no budget is null, which least() leaves out
  IF whole AND late < due THEN outcome := 'refused'; charge := recovered_charge; RETURN; END IF;

  outcome := 'posted'; charge := recovered_charge + late;
  IF cost = 0 AND unbilled_cost = 0 THEN RETURN; END IF;
  INSERT INTO late_usage (account_id, request_id, cost, charge, input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens, metering,
    unbilled_cost, basis, upstream, upstream_model, upstream_request_id, upstream_cost, streamed, duration_ms, first_byte_ms,
    clamped, settled_at)
  VALUES (account, request, cost, late, input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens, metering,
    unbilled_cost, basis, upstream, upstream_model, upstream_request_id, upstream_cost, streamed, duration_ms, first_byte_ms,
    clamped, clock_timestamp());
  IF late > 0 THEN
    INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
    VALUES (account, new_uuidv7(), request, 'IDR/6', account, '00000000-0000-7000-8000-000000000001', late, 'late_usage',
            'late:' || request);
    UPDATE account a SET posted = posted - late, held = held WHERE a.id = account;
    IF member IS NOT NULL THEN PERFORM charge_member_budget(account, member, 0, late); END IF;
    IF budgeted IS NOT NULL THEN PERFORM charge_budget(account, key, 0, late); END IF;
  END IF;
  lost := due - late + unbilled_cost;
  IF lost > 0 THEN
    INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason, reference)
    VALUES (account, new_uuidv7(), request, 'IDR/6', '00000000-0000-7000-8000-000000000002',
            '00000000-0000-7000-8000-000000000001', lost, 'late_uncollected', 'late-loss:' || request);
  END IF;
END $$;
