-- Admits a single request. A request that is refused for money takes a slot of the window; every other refused one takes none.
--
-- It locks before it reads: accounts first, in id order, then keys in order, then holds. Balances are written absolutely from the
-- locked rows. The clock is read after the lock of its key. The reasons are in ledger/group-commit/README.md.
--
-- The row: kind ('s'ettlement, 'e'xtension, 'a'dmission), its number within the kind (from 1), the outcome, an amount (cost;
-- whole hold; granted), a second amount (charge; holds of other requests; available) and the key's window. A request without a
-- row: nothing was written for it, because its hold is gone or because there is no such account or key. An account cannot spend
-- its debt: available is greatest(0, posted - held - owed). A key with a budget holds no more than is left of it, and neither does one
-- whose maker has a budget (`member_budget`). What a version before has no outcome for has one that it knows, and a mark in wait_ms:
-- 'refused' with the second amount left of a key's budget for all time (1), of a day (2) or a month (3), or of its maker's (5, 6, 7), and
-- as the amount the moment at which that budget begins again, in milliseconds of Unix time, 0 for never; 'revoked' for a model that the key
-- may not ask (4).
--
-- `tokens` is what the hold was sized for. Where the key has a limit of tokens, the row has the limit and what is left of it. Without
-- `tokens` there is the function of the version before, which gets 'limited' in place of 'token_limited'.

CREATE OR REPLACE FUNCTION admit_request(
  account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint,
  model text, input_price bigint, output_price bigint, cache_hit_price bigint, other_prices jsonb, tokens int,
  OUT kind text, OUT ord int, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit int, OUT remaining int,
  OUT reset_seconds int, OUT wait_ms int, OUT token_limit int, OUT tokens_left bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  posted bigint; held bigint; owed bigint; open_holds int; max_open_holds int; frozen boolean;
  slots timestamptz[]; slot_counts int[]; revoked boolean; used int := 0; t timestamptz;
  expires_at timestamptz; allowed text[]; budget bigint; period text; start timestamptz; zone text; until timestamptz; spent bigint; key_held bigint;
  budgeted bigint;
  key_tokens bigint; token_times timestamptz[]; token_counts bigint[];
  member_budgets int; member uuid; member_amount bigint; member_period text; member_start timestamptz; member_zone text;
  member_until timestamptz; member_spent bigint; member_held bigint; member_left bigint;
BEGIN
  SELECT a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL, a.member_budgets
  INTO posted, held, owed, open_holds, max_open_holds, frozen, member_budgets
  FROM account a WHERE a.id = account FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  IF member_budgets > 0 THEN
    SELECT b.person_id, b.budget, b.budget_period, b.budget_start, b.budget_zone, b.budget_until, b.budget_spent, b.budget_held
    INTO member, member_amount, member_period, member_start, member_zone, member_until, member_spent, member_held
    FROM member_budget b
    WHERE b.account_id = account AND b.person_id = (SELECT k.person_id FROM api_key k WHERE k.account_id = account AND k.id = key)
    FOR NO KEY UPDATE OF b;
  END IF;
  SELECT k.rate_limit, k.slots, k.slot_counts, k.revoked_at IS NOT NULL, k.expires_at, k.allowed_models,
         k.budget, k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, k.budget_held,
         nullif(k.token_limit, 0), k.tokens_held, k.token_times, k.token_counts
  INTO rate_limit, slots, slot_counts, revoked, expires_at, allowed, budget, period, start, zone, until, spent, key_held,
       token_limit, key_tokens, token_times, token_counts
  FROM api_key k WHERE k.account_id = account AND k.id = key FOR NO KEY UPDATE;
  IF NOT FOUND THEN RETURN; END IF;

  kind := 'a'; ord := 1; amount := 0; other := greatest(0, posted - held - owed); reset_seconds := 0;
  t := clock_timestamp();
  IF rate_limit > 0 THEN
    used := slots_used(slots, slot_counts, rate_limit, t);
    reset_seconds := slots_reset_seconds(slots, slot_counts, rate_limit, t);
  END IF;
  remaining := greatest(0, rate_limit - used);
  -- One where they are unknown: such a hold is counted when it ends.
  IF token_limit IS NULL THEN tokens := 0; ELSE
    tokens := greatest(1, tokens);
    tokens_left := token_limit - key_tokens - tokens_settled(token_times, token_counts, t);
  END IF;
  IF revoked OR expires_at <= t THEN outcome := 'revoked'; RETURN; END IF;
  IF frozen THEN outcome := 'frozen'; RETURN; END IF;
  IF NOT is_model_allowed(allowed, model) THEN outcome := 'revoked'; wait_ms := 4; RETURN; END IF;
  IF rate_limit > 0 AND used >= rate_limit THEN
    outcome := 'limited';
    wait_ms := slot_wait_ms(slots, slot_counts, rate_limit, t, 1);
    RETURN;
  END IF;
  IF max_open_holds > 0 AND open_holds >= max_open_holds THEN outcome := 'crowded'; RETURN; END IF;

  IF tokens > tokens_left THEN
    outcome := 'token_limited';
    wait_ms := CASE WHEN tokens > token_limit THEN 60000
               ELSE coalesce(token_wait_ms(token_times, token_counts, tokens - tokens_left, t), 5000) END;
    tokens_left := greatest(0, tokens_left);
    RETURN;
  END IF;

  budgeted := budget_left(budget, period, start, zone, until, spent, key_held, t);
  IF member IS NOT NULL THEN
    member_left := budget_left(member_amount, member_period, member_start, member_zone, member_until, member_spent, member_held, t);
  END IF;
  IF other < least_amount THEN
    -- What is owed goes out in place of an amount: it may be why nothing is available.
    outcome := 'refused'; amount := owed;
  ELSIF budgeted < least_amount THEN
    outcome := 'refused'; other := greatest(0, budgeted); wait_ms := array_position(ARRAY['total', 'day', 'month'], period);
    amount := budget_end_ms(period, zone, until, t);
    PERFORM note_used_up_key(account, key, 0, least_amount);
  ELSIF member_left < least_amount THEN
    outcome := 'refused'; other := greatest(0, member_left);
    wait_ms := 4 + array_position(ARRAY['total', 'day', 'month'], member_period);
    amount := budget_end_ms(member_period, member_zone, member_until, t);
    PERFORM note_used_up_member(account, member, 0, least_amount);
  ELSE
    outcome := 'granted';
    amount := least(wanted, other, budgeted, member_left); -- no budget is null, which least() leaves out
    key_held := key_held + amount;
    key_tokens := key_tokens + tokens;
    tokens_left := tokens_left - tokens;
  END IF;
  IF rate_limit > 0 THEN
    remaining := remaining - 1;
    UPDATE api_key k SET slots = slots_after(slots, slot_counts, rate_limit, t, 1),
                         slot_counts = slot_counts_after(slots, slot_counts, rate_limit, t, 1),
                         budget_held = CASE WHEN budget IS NULL THEN k.budget_held ELSE key_held END, tokens_held = key_tokens
    WHERE k.account_id = account AND k.id = key;
  ELSIF (budget IS NOT NULL OR token_limit > 0) AND outcome = 'granted' THEN
    UPDATE api_key k SET budget_held = CASE WHEN budget IS NULL THEN k.budget_held ELSE key_held END, tokens_held = key_tokens
    WHERE k.account_id = account AND k.id = key;
  END IF;
  IF outcome = 'refused' THEN RETURN; END IF;
  IF member IS NOT NULL THEN
    UPDATE member_budget b SET budget_held = member_held + amount WHERE b.account_id = account AND b.person_id = member;
  END IF;
  INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price, cache_hit_price, other_prices, in_budget,
                    tokens, member_id)
  VALUES (account, request, owner, amount, key, model, input_price, output_price, cache_hit_price, other_prices, budget IS NOT NULL,
          tokens, member);
  UPDATE account a SET posted = posted, held = held + amount, open_holds = open_holds + 1 WHERE a.id = account;
END $$;

-- For the version before.
CREATE OR REPLACE FUNCTION admit_request(
  account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint,
  model text, input_price bigint, output_price bigint, cache_hit_price bigint, other_prices jsonb,
  OUT kind text, OUT ord int, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit int, OUT remaining int,
  OUT reset_seconds int, OUT wait_ms int)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  SELECT r.kind, r.ord, CASE r.outcome WHEN 'token_limited' THEN 'limited' ELSE r.outcome END, r.amount, r.other, r.rate_limit,
         r.remaining, r.reset_seconds, r.wait_ms
  INTO kind, ord, outcome, amount, other, rate_limit, remaining, reset_seconds, wait_ms
  FROM admit_request(account, key, request, owner, wanted, least_amount, model, input_price, output_price, cache_hit_price,
                     other_prices, NULL::int) r;
END $$;
