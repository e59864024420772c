-- Settles a single request: deletes its hold, writes its usage record, and posts the uncovered cost and the unbilled cost as a
-- loss of the operator. Only the statement that deletes a hold settles. Beyond its hold a request is charged what is available
-- and left of the budgets of its key and of the key's maker.
--
-- It locks before it reads: accounts first, in id order, then keys in order, then holds. Balances are written absolutely from the
-- locked rows. The clock is read after the lock of its key. The reasons are in ledger/group-commit/README.md. The row is that of
-- admit_request.

CREATE OR REPLACE FUNCTION settle_request(
  account uuid, request uuid, cost bigint, input_tokens_uncached int, input_tokens_cached int, output_tokens int, basis text,
  billing_day date, upstream text, upstream_model text, upstream_request_id text, upstream_cost bigint, streamed boolean,
  duration_ms int, first_byte_ms int, clamped boolean, other_tokens jsonb, metering jsonb, unbilled_cost bigint, settled_at timestamptz,
  OUT kind text, OUT ord int, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit int, OUT remaining int,
  OUT reset_seconds int, OUT wait_ms int)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  posted bigint; held bigint; owed bigint; open_holds int; freed hold; charge bigint; budgeted bigint;
  budget bigint; period text; start timestamptz; zone text; until timestamptz; spent bigint; key_held bigint; member_left bigint;
BEGIN
  SELECT a.posted, a.held, a.owed, a.open_holds INTO posted, held, owed, open_holds
  FROM account a WHERE a.id = account FOR NO KEY UPDATE;
  DELETE FROM hold h WHERE h.account_id = account AND h.id = request RETURNING * INTO freed;
  IF NOT FOUND THEN RETURN; END IF;
  IF freed.member_id IS NOT NULL AND cost > freed.amount THEN
    member_left := member_budget_left(account, freed.member_id);
  END IF;
  IF freed.in_budget AND cost > freed.amount THEN
    SELECT k.budget, k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, k.budget_held
    INTO budget, period, start, zone, until, spent, key_held
    FROM api_key k WHERE k.account_id = account AND k.id = freed.key_id FOR NO KEY UPDATE;
    budgeted := budget_left(budget, period, start, zone, until, spent, key_held, clock_timestamp());
  END IF;
  charge := least(cost, freed.amount + greatest(0, least(posted - held - owed, budgeted, member_left))); -- least() leaves null out
  settled_at := clock_timestamp(); -- behind the lock: records have the order of commits, and no caller chooses it
  INSERT INTO usage_record (account_id, request_id, cost, charge,
    key_id, model, input_price, output_price, cache_hit_price, other_prices, input_tokens_uncached, input_tokens_cached,
    output_tokens, basis, billing_day, upstream, upstream_model, upstream_request_id, upstream_cost, streamed, duration_ms,
    first_byte_ms, clamped, other_tokens, metering, unbilled_cost, settled_at)
  VALUES (account, request, cost, charge, freed.key_id, freed.model, freed.input_price, freed.output_price,
          freed.cache_hit_price, freed.other_prices, input_tokens_uncached, input_tokens_cached, output_tokens, basis,
          billing_day, upstream, upstream_model, upstream_request_id, upstream_cost, streamed, duration_ms, first_byte_ms,
          clamped, other_tokens, metering, unbilled_cost, settled_at)
  ON CONFLICT DO NOTHING;
  IF FOUND THEN
    kind := 's'; ord := 1; outcome := 'settled'; amount := cost; other := charge;
    IF cost - charge + unbilled_cost > 0 THEN
      INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
      VALUES (account, request, request, 'IDR/6', '00000000-0000-7000-8000-000000000002', '00000000-0000-7000-8000-000000000001',
              cost - charge + unbilled_cost, 'uncollected');
    END IF;
  ELSE
    -- A hold that came back behind its settlement: it goes, and the record of the first stays.
    charge := 0;
  END IF;
  IF freed.member_id IS NOT NULL THEN PERFORM charge_member_budget(account, freed.member_id, freed.amount, charge); END IF;
  IF freed.in_budget THEN PERFORM charge_budget(account, freed.key_id, freed.amount, charge); END IF;
  IF freed.tokens > 0 THEN
    PERFORM count_tokens(account, freed.key_id, freed.tokens,
                         all_tokens(input_tokens_uncached, input_tokens_cached, output_tokens, other_tokens));
  END IF;
  UPDATE account a SET posted = posted - charge, held = held - freed.amount, open_holds = open_holds - 1 WHERE a.id = account;
  IF owed > 0 THEN PERFORM collect_owed(account, request); END IF;
END $$;
