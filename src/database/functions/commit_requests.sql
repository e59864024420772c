-- Many requests at once: settlements first, because they free money, then extensions, then admissions, each decided as if it were
-- alone after the one before it. s_, e_ and a_ are lists of equal length; admissions are ordered by account and key. Long lists
-- are read by index and not through unnest, which creates a table for each of up to twenty-two lists.
--
-- It locks before it reads: accounts first, in id order, then keys in order, then holds. Balances are written absolutely from the
-- locked rows. The clock is read after the lock of its key. The reasons are in ledger/group-commit/README.md. The rows are those of
-- admit_request. An extension that a budget refuses has the period of the budget in reset_seconds: 1 total, 2 day, 3 month. In tokens_left it
-- has the moment at which the budget begins again, in milliseconds of Unix time.

CREATE OR REPLACE FUNCTION commit_requests(
  s_account uuid[], s_request uuid[], s_cost bigint[], s_input_uncached int[], s_input_cached int[], s_output int[],
  s_basis text[], s_day date[], s_upstream text[], s_upstream_model text[], s_upstream_request text[],
  s_upstream_cost bigint[], s_streamed boolean[], s_duration int[], s_first_byte int[], s_clamped boolean[],
  s_other_tokens jsonb[], s_metering jsonb[], s_unbilled bigint[], s_settled timestamptz[],
  e_account uuid[], e_request uuid[], e_amount bigint[], e_least bigint[], e_input int[], e_cached int[], e_output int[],
  a_account uuid[], a_key uuid[], a_request uuid[], a_owner uuid[], a_amount bigint[], a_least bigint[],
  a_model text[], a_input_price bigint[], a_output_price bigint[], a_cache_hit_price bigint[], a_other_prices jsonb[],
  a_tokens int[])
RETURNS TABLE (
  kind text, ord int, outcome text, amount bigint, other bigint, rate_limit int, remaining int, reset_seconds int, wait_ms int,
  token_limit int, tokens_left bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  settlements int := cardinality(s_request); extensions int := cardinality(e_request); admissions int := cardinality(a_request);
  -- The locked accounts, and their columns at the same places.
  account uuid[]; posted bigint[]; held bigint[]; owed bigint[]; open_holds int[]; max_open_holds int[]; frozen boolean[];
  here int; i int; changed boolean := false;
  -- What the deleted holds kept, at the places of their settlements.
  freed record; charge bigint[]; key_id uuid[]; model text[]; input_price bigint[]; output_price bigint[]; cache_hit_price bigint[];
  other_prices jsonb[];
  deleted int := 0; above_hold boolean := false; more bigint; lost boolean := false;
  extended bigint; key record; used int; taken int; t timestamptz; granted boolean[]; any_granted boolean := false;
  -- The limited keys that took slots or held of a budget, when, how many and how much.
  used_keys uuid[] := '{}'; used_at timestamptz[] := '{}'; used_slots int[] := '{}'; used_budget bigint[] := '{}';
  -- Of settlements whose hold counts in the budget of its key, at their places: the key and the freed hold. Then those keys, and what is
  -- left of their budgets.
  budget_key uuid[]; budget_freed bigint[] := NULL; limited_key uuid[] := '{}'; limited_left bigint[] := '{}';
  any_budget boolean := false; b int; budgeted bigint; budget_taken bigint; room bigint; hold_key uuid; hold_in_budget boolean;
  in_budget boolean[];
  -- The same of holds that count in the tokens of their key, and of admissions.
  tokens_key uuid[]; tokens_freed int[]; any_tokens boolean := false; tokens int; tokens_taken bigint; used_tokens bigint[] := '{}';
  held_tokens int[];
  -- The same of the budgets of members: of settlements the member, at their places; then the locked budgets, by the names of their
  -- account and person in one text, with what is left of each and what admissions took of it; of admissions the member, at their places.
  limits_members boolean[]; budget_member uuid[]; any_member boolean := false; member record; m int; hold_member uuid;
  member_name text[] := '{}'; member_account uuid[] := '{}'; member_person uuid[] := '{}'; member_period text[] := '{}';
  member_left bigint[] := '{}'; member_taken bigint[]; in_member uuid[];
BEGIN
  SELECT array_agg(l.id), array_agg(l.posted), array_agg(l.held), array_agg(l.owed), array_agg(l.open_holds),
         array_agg(l.max_open_holds), array_agg(l.frozen), array_agg(l.limits_members)
  INTO account, posted, held, owed, open_holds, max_open_holds, frozen, limits_members
  FROM (SELECT a.id, a.posted, a.held, a.owed, a.open_holds, a.max_open_holds, a.frozen_at IS NOT NULL AS frozen,
               a.member_budgets > 0 AS limits_members FROM account a
        WHERE a.id = ANY (s_account || e_account || a_account) ORDER BY a.id FOR NO KEY UPDATE) l;

  IF settlements > 0 THEN
    key_id := array_fill(NULL::uuid, ARRAY[settlements]);
    model := array_fill(NULL::text, ARRAY[settlements]);
    charge := array_fill(NULL::bigint, ARRAY[settlements]);
    input_price := charge; output_price := charge; cache_hit_price := charge;
    other_prices := array_fill(NULL::jsonb, ARRAY[settlements]);
    -- Each takes from its own hold first.
    FOR freed IN DELETE FROM hold h WHERE h.account_id = ANY (s_account) AND h.id = ANY (s_request) RETURNING h.* LOOP
      i := array_position(s_request, freed.id);
      -- Lists that are not as long, or do not begin at 1, would free a hold and leave no record of it.
      IF i NOT BETWEEN 1 AND settlements OR s_account[i] IS DISTINCT FROM freed.account_id OR (s_cost[i] >= 0) IS NOT TRUE THEN
        RAISE EXCEPTION 'a settlement names its own hold, and costs nothing or more' USING ERRCODE = 'check_violation';
      END IF;
      here := array_position(account, freed.account_id);
      charge[i] := least(s_cost[i], freed.amount);
      above_hold := above_hold OR s_cost[i] > freed.amount;
      posted[here] := posted[here] - charge[i];
      held[here] := held[here] - freed.amount;
      open_holds[here] := open_holds[here] - 1;
      key_id[i] := freed.key_id; model[i] := freed.model; input_price[i] := freed.input_price;
      output_price[i] := freed.output_price; cache_hit_price[i] := freed.cache_hit_price;
      other_prices[i] := freed.other_prices;
      IF freed.in_budget OR freed.member_id IS NOT NULL THEN
        IF budget_freed IS NULL THEN
          budget_key := array_fill(NULL::uuid, ARRAY[settlements]);
          budget_member := budget_key;
          budget_freed := array_fill(NULL::bigint, ARRAY[settlements]);
        END IF;
        budget_freed[i] := freed.amount;
        IF freed.in_budget THEN any_budget := true; budget_key[i] := freed.key_id; END IF;
        IF freed.member_id IS NOT NULL THEN any_member := true; budget_member[i] := freed.member_id; END IF;
      END IF;
      IF freed.tokens > 0 THEN
        IF NOT any_tokens THEN
          any_tokens := true;
          tokens_key := array_fill(NULL::uuid, ARRAY[settlements]);
          tokens_freed := array_fill(0, ARRAY[settlements]);
        END IF;
        tokens_key[i] := freed.key_id; tokens_freed[i] := freed.tokens;
      END IF;
      lost := lost OR s_unbilled[i] > 0;
      deleted := deleted + 1;
    END LOOP;
    IF any_member AND above_hold THEN
      FOR member IN SELECT b.* FROM member_budget b WHERE b.account_id = ANY (s_account) AND b.person_id = ANY (budget_member)
                    ORDER BY b.account_id, b.person_id FOR NO KEY UPDATE LOOP
        member_name := member_name || (member.account_id::text || member.person_id::text);
        member_left := member_left || budget_left(member.budget, member.budget_period, member.budget_start, member.budget_zone,
                                                  member.budget_until, member.budget_spent, member.budget_held, clock_timestamp());
      END LOOP;
      FOR i IN 1 .. settlements LOOP
        CONTINUE WHEN budget_member[i] IS NULL;
        m := array_position(member_name, s_account[i]::text || budget_member[i]::text);
        member_left[m] := member_left[m] + budget_freed[i] - charge[i];
      END LOOP;
    END IF;
    IF any_budget AND above_hold THEN
      FOR key IN SELECT k.id, k.budget, k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, k.budget_held FROM api_key k
                 WHERE k.account_id = ANY (s_account) AND k.id = ANY (budget_key) ORDER BY k.account_id, k.id FOR NO KEY UPDATE LOOP
        t := clock_timestamp();
        limited_key := limited_key || key.id;
        limited_left := limited_left || budget_left(key.budget, key.budget_period, key.budget_start, key.budget_zone, key.budget_until, key.budget_spent,
                                                    key.budget_held, t);
      END LOOP;
      FOR i IN 1 .. settlements LOOP
        CONTINUE WHEN budget_key[i] IS NULL;
        b := array_position(limited_key, budget_key[i]);
        limited_left[b] := limited_left[b] + budget_freed[i] - charge[i];
      END LOOP;
    END IF;
    -- Then those that cost more than their hold take from what is available, and left of the budgets of their key and its maker.
    IF above_hold THEN
      FOR i IN 1 .. settlements LOOP
        CONTINUE WHEN key_id[i] IS NULL OR charge[i] = s_cost[i];
        here := array_position(account, s_account[i]);
        more := least(s_cost[i] - charge[i], greatest(0, posted[here] - held[here] - owed[here]));
        IF budget_member[i] IS NOT NULL THEN
          m := array_position(member_name, s_account[i]::text || budget_member[i]::text);
          more := greatest(0, least(more, member_left[m]));
        END IF;
        IF budget_key[i] IS NOT NULL THEN
          b := array_position(limited_key, budget_key[i]);
          more := greatest(0, least(more, limited_left[b]));
          limited_left[b] := limited_left[b] - more;
        END IF;
        IF budget_member[i] IS NOT NULL THEN member_left[m] := member_left[m] - more; END IF;
        charge[i] := charge[i] + more;
        posted[here] := posted[here] - more;
        lost := lost OR charge[i] < s_cost[i];
      END LOOP;
    END IF;
    IF deleted > 0 THEN
      changed := true;
      INSERT INTO usage_record (account_id, request_id, cost, charge,
        key_id, model, input_price, output_price, cache_hit_price, other_prices, input_tokens_uncached, input_tokens_cached,
        output_tokens, basis, billing_day, upstream, upstream_model, upstream_request_id, upstream_cost, streamed, duration_ms,
        first_byte_ms, clamped, other_tokens, metering, unbilled_cost, settled_at)
      SELECT s_account[n], s_request[n], s_cost[n], charge[n], key_id[n], model[n], input_price[n], output_price[n],
             cache_hit_price[n], other_prices[n], s_input_uncached[n], s_input_cached[n], s_output[n], s_basis[n], s_day[n], s_upstream[n],
             s_upstream_model[n], s_upstream_request[n], s_upstream_cost[n], s_streamed[n], s_duration[n],
             s_first_byte[n], s_clamped[n], s_other_tokens[n], s_metering[n], s_unbilled[n],
             clock_timestamp()
      FROM generate_series(1, settlements) n
      WHERE key_id[n] IS NOT NULL; -- a hold that came back behind its settlement fails here; alone it is distinguished
      IF any_member THEN
        -- charge_member_budget, once for all.
        t := clock_timestamp();
        UPDATE member_budget b
        SET budget_held = b.budget_held - ended.held,
            budget_spent = budget_spent_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, b.budget_spent, t) + ended.charge,
            budget_start = budget_start_at(b.budget_period, b.budget_start, b.budget_zone, b.budget_until, t)
        FROM (
          SELECT s_account[n] AS account_id, budget_member[n] AS person_id, sum(budget_freed[n])::bigint AS held, sum(charge[n])::bigint AS charge
          FROM generate_series(1, settlements) n WHERE budget_member[n] IS NOT NULL GROUP BY 1, 2
        ) ended
        WHERE b.account_id = ended.account_id AND b.person_id = ended.person_id
          AND b.account_id = ANY (s_account) AND b.person_id = ANY (budget_member);
      END IF;
      IF any_budget THEN
        -- charge_budget, once for all.
        t := clock_timestamp();
        UPDATE api_key k
        SET budget_held = k.budget_held - ended.held,
            budget_spent = CASE WHEN k.budget IS NULL THEN 0
                                ELSE budget_spent_at(k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, t) + ended.charge END,
            budget_start = budget_start_at(k.budget_period, k.budget_start, k.budget_zone, k.budget_until, t)
        FROM (
          SELECT s_account[n] AS account_id, budget_key[n] AS key_id, sum(budget_freed[n])::bigint AS held, sum(charge[n])::bigint AS charge
          FROM generate_series(1, settlements) n WHERE budget_key[n] IS NOT NULL GROUP BY 1, 2
        ) ended
        WHERE k.account_id = ended.account_id AND k.id = ended.key_id
          AND k.account_id = ANY (s_account) AND k.id = ANY (budget_key);
      END IF;
      IF any_tokens THEN
        PERFORM count_tokens(s_account[n], tokens_key[n], tokens_freed[n],
                             all_tokens(s_input_uncached[n], s_input_cached[n], s_output[n], s_other_tokens[n]))
        FROM generate_series(1, settlements) n WHERE tokens_key[n] IS NOT NULL;
      END IF;
      IF lost THEN
        INSERT INTO posting (account_id, id, group_id, asset, debit, credit, amount, reason)
        SELECT s_account[n], s_request[n], s_request[n], 'IDR/6', '00000000-0000-7000-8000-000000000002',
               '00000000-0000-7000-8000-000000000001', s_cost[n] - charge[n] + s_unbilled[n], 'uncollected'
        FROM generate_series(1, settlements) n WHERE s_cost[n] - charge[n] + s_unbilled[n] > 0;
      END IF;
      kind := 's'; outcome := 'settled';
      FOR i IN 1 .. settlements LOOP
        CONTINUE WHEN key_id[i] IS NULL;
        ord := i; amount := s_cost[i]; other := charge[i];
        RETURN NEXT;
      END LOOP;
    END IF;
  END IF;

  kind := 'e';
  FOR i IN 1 .. extensions LOOP
    SELECT h.amount, h.key_id, h.in_budget, h.member_id INTO extended, hold_key, hold_in_budget, hold_member
    FROM hold h WHERE h.account_id = e_account[i] AND h.id = e_request[i] FOR NO KEY UPDATE;
    CONTINUE WHEN NOT FOUND;
    here := array_position(account, e_account[i]);
    ord := i; amount := extended; other := held[here] - extended; wait_ms := NULL; reset_seconds := NULL;
    tokens_left := NULL;
    room := greatest(0, posted[here] - held[here] - owed[here]);
    outcome := CASE WHEN extended + room >= e_least[i] THEN 'granted' ELSE 'refused' END;
    IF hold_member IS NOT NULL AND outcome = 'granted' THEN
      SELECT b.* INTO member FROM member_budget b WHERE b.account_id = e_account[i] AND b.person_id = hold_member FOR NO KEY UPDATE;
      room := greatest(0, least(room, budget_left(member.budget, member.budget_period, member.budget_start, member.budget_zone,
                                                  member.budget_until, member.budget_spent, member.budget_held, clock_timestamp())));
      -- Holds of other members cannot free this budget.
      IF extended + room < e_least[i] THEN
        outcome := 'refused'; wait_ms := 2; other := member.budget_held - extended;
        reset_seconds := array_position(ARRAY['total', 'day', 'month'], member.budget_period);
        tokens_left := budget_end_ms(member.budget_period, member.budget_zone, member.budget_until, clock_timestamp());
        PERFORM note_used_up_member(e_account[i], hold_member, extended, e_least[i] - extended);
      END IF;
    END IF;
    IF hold_in_budget AND outcome = 'granted' THEN
      SELECT k.budget, k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, k.budget_held INTO key
      FROM api_key k WHERE k.account_id = e_account[i] AND k.id = hold_key FOR NO KEY UPDATE;
      t := clock_timestamp();
      room := greatest(0, least(room, budget_left(key.budget, key.budget_period, key.budget_start, key.budget_zone, key.budget_until, key.budget_spent,
                                                    key.budget_held, t)));
      -- Holds of other keys cannot free this budget.
      IF extended + room < e_least[i] THEN
        outcome := 'refused'; wait_ms := 1; other := key.budget_held - extended;
        reset_seconds := array_position(ARRAY['total', 'day', 'month'], key.budget_period);
        tokens_left := budget_end_ms(key.budget_period, key.budget_zone, key.budget_until, t);
        PERFORM note_used_up_key(e_account[i], hold_key, extended, e_least[i] - extended);
      END IF;
    END IF;
    IF outcome = 'granted' THEN
      amount := extended + least(greatest(e_amount[i] - extended, 0), room);
      held[here] := held[here] - extended + amount;
      IF hold_member IS NOT NULL THEN
        UPDATE member_budget b SET budget_held = b.budget_held + amount - extended
        WHERE b.account_id = e_account[i] AND b.person_id = hold_member;
      END IF;
      IF hold_in_budget THEN
        UPDATE api_key k SET budget_held = k.budget_held + amount - extended WHERE k.account_id = e_account[i] AND k.id = hold_key;
      END IF;
    END IF;
    UPDATE hold h SET amount = amount, progress_input_tokens = greatest(h.progress_input_tokens, e_input[i]),
                      progress_cached_tokens = greatest(h.progress_cached_tokens, e_cached[i]),
                      progress_output_tokens = greatest(h.progress_output_tokens, e_output[i])
    WHERE h.account_id = e_account[i] AND h.id = e_request[i];
    changed := true;
    RETURN NEXT;
  END LOOP;

  IF admissions > 0 THEN
    kind := 'a';
    granted := array_fill(false, ARRAY[admissions]);
    i := 1; here := 1;
    IF true = ANY (limits_members) THEN
      member_name := '{}'; member_left := '{}';
      FOR member IN SELECT b.* FROM (SELECT DISTINCT k.account_id, k.person_id FROM api_key k
                                     WHERE k.account_id = ANY (account) AND k.account_id = ANY (a_account) AND k.id = ANY (a_key)) maker
                    JOIN member_budget b ON b.account_id = maker.account_id AND b.person_id = maker.person_id
                    WHERE b.account_id = ANY (account) ORDER BY b.account_id, b.person_id FOR NO KEY UPDATE OF b LOOP
        member_name := member_name || (member.account_id::text || member.person_id::text);
        member_account := member_account || member.account_id; member_person := member_person || member.person_id;
        member_period := member_period || member.budget_period;
        member_left := member_left || budget_left(member.budget, member.budget_period, member.budget_start, member.budget_zone,
                                                  member.budget_until, member.budget_spent, member.budget_held, clock_timestamp());
      END LOOP;
      member_taken := array_fill(0::bigint, ARRAY[cardinality(member_name)]);
    END IF;
    FOR key IN SELECT k.account_id, k.id, k.person_id, k.rate_limit, k.slots, k.slot_counts, k.revoked_at IS NOT NULL AS revoked,
                      k.expires_at, k.allowed_models, k.budget, k.budget_period, k.budget_start, k.budget_zone, k.budget_until, k.budget_spent, k.budget_held,
                      k.token_limit, k.tokens_held, k.token_times, k.token_counts FROM api_key k
               WHERE k.account_id = ANY (account) AND k.account_id = ANY (a_account) AND k.id = ANY (a_key)
               ORDER BY k.account_id, k.id FOR NO KEY UPDATE LOOP
      WHILE i <= admissions AND (a_account[i], a_key[i]) < (key.account_id, key.id) LOOP i := i + 1; END LOOP;
      WHILE account[here] < key.account_id LOOP here := here + 1; END LOOP;
      used := 0; taken := 0; reset_seconds := 0;
      rate_limit := key.rate_limit;
      t := clock_timestamp();
      budget_taken := 0;
      budgeted := budget_left(key.budget, key.budget_period, key.budget_start, key.budget_zone, key.budget_until, key.budget_spent,
                                                    key.budget_held, t);
      m := CASE WHEN limits_members[here] THEN array_position(member_name, key.account_id::text || key.person_id::text) END;
      tokens_taken := 0;
      token_limit := nullif(key.token_limit, 0);
      tokens_left := NULL;
      IF token_limit > 0 THEN
        tokens_left := token_limit - key.tokens_held - tokens_settled(key.token_times, key.token_counts, t);
      END IF;
      IF rate_limit > 0 THEN
        used := slots_used(key.slots, key.slot_counts, rate_limit, t);
        reset_seconds := slots_reset_seconds(key.slots, key.slot_counts, rate_limit, t);
      END IF;
      WHILE i <= admissions AND a_key[i] = key.id AND a_account[i] = key.account_id LOOP
        ord := i; amount := 0; wait_ms := NULL;
        other := greatest(0, posted[here] - held[here] - owed[here]);
        tokens := CASE WHEN token_limit IS NULL THEN 0 ELSE greatest(1, a_tokens[i]) END;
        IF key.revoked OR key.expires_at <= t THEN outcome := 'revoked';
        ELSIF frozen[here] THEN outcome := 'frozen';
        ELSIF key.allowed_models IS NOT NULL AND NOT is_model_allowed(key.allowed_models, a_model[i]) THEN
          outcome := 'revoked'; wait_ms := 4;
        ELSIF rate_limit > 0 AND used + taken >= rate_limit THEN
          outcome := 'limited';
          wait_ms := slot_wait_ms(key.slots, key.slot_counts, rate_limit, t, taken + 1);
        ELSIF max_open_holds[here] > 0 AND open_holds[here] >= max_open_holds[here] THEN outcome := 'crowded';
        ELSIF tokens > tokens_left THEN
          outcome := 'token_limited';
          wait_ms := CASE WHEN tokens > token_limit THEN 60000
                     ELSE coalesce(token_wait_ms(key.token_times, key.token_counts, tokens - tokens_left, t), 5000) END;
        ELSE
          taken := taken + 1;
          IF other < a_least[i] THEN
            outcome := 'refused'; amount := owed[here];
          ELSIF budgeted < a_least[i] THEN
            outcome := 'refused'; other := greatest(0, budgeted);
            wait_ms := array_position(ARRAY['total', 'day', 'month'], key.budget_period);
            amount := budget_end_ms(key.budget_period, key.budget_zone, key.budget_until, t);
            PERFORM note_used_up_key(key.account_id, key.id, 0, a_least[i]);
          ELSIF member_left[m] < a_least[i] THEN
            outcome := 'refused'; other := greatest(0, member_left[m]);
            wait_ms := 4 + array_position(ARRAY['total', 'day', 'month'], member_period[m]);
            amount := (SELECT budget_end_ms(b.budget_period, b.budget_zone, b.budget_until, t) FROM member_budget b
                       WHERE b.account_id = key.account_id AND b.person_id = key.person_id);
            PERFORM note_used_up_member(key.account_id, key.person_id, 0, a_least[i]);
          ELSE
            outcome := 'granted';
            amount := least(a_amount[i], other, budgeted, member_left[m]); -- no budget is null, which least() leaves out
            IF m IS NOT NULL THEN
              member_left[m] := member_left[m] - amount;
              member_taken[m] := member_taken[m] + amount;
              in_member[i] := key.person_id;
            END IF;
            IF budgeted IS NOT NULL THEN
              budgeted := budgeted - amount;
              budget_taken := budget_taken + amount;
              in_budget[i] := true;
            END IF;
            tokens_left := tokens_left - tokens;
            tokens_taken := tokens_taken + tokens;
            held_tokens[i] := tokens;
            a_amount[i] := amount;
            held[here] := held[here] + amount;
            open_holds[here] := open_holds[here] + 1;
            granted[i] := true;
            any_granted := true;
          END IF;
        END IF;
        remaining := greatest(0, rate_limit - used - taken);
        RETURN NEXT;
        i := i + 1;
      END LOOP;
      IF budget_taken > 0 OR tokens_taken > 0 OR taken > 0 AND rate_limit > 0 THEN
        used_keys := used_keys || key.id; used_at := used_at || t; used_budget := used_budget || budget_taken;
        used_tokens := used_tokens || tokens_taken;
        used_slots := used_slots || CASE WHEN rate_limit > 0 THEN taken ELSE 0 END;
      END IF;
    END LOOP;
    IF 0 < ANY (member_taken) THEN
      UPDATE member_budget b SET budget_held = b.budget_held + member_taken[n] FROM generate_series(1, cardinality(member_taken)) n
      WHERE b.account_id = member_account[n] AND b.person_id = member_person[n] AND member_taken[n] > 0
        AND b.account_id = ANY (member_account) AND b.person_id = ANY (member_person);
    END IF;
    IF used_keys <> '{}' THEN
      UPDATE api_key k SET slots = CASE WHEN used_slots[n] = 0 THEN k.slots
                                   ELSE slots_after(k.slots, k.slot_counts, k.rate_limit, used_at[n], used_slots[n]) END,
                           slot_counts = CASE WHEN used_slots[n] = 0 THEN k.slot_counts
                                         ELSE slot_counts_after(k.slots, k.slot_counts, k.rate_limit, used_at[n], used_slots[n]) END,
                           budget_held = k.budget_held + used_budget[n], tokens_held = k.tokens_held + used_tokens[n]
      FROM generate_series(1, cardinality(used_keys)) n
      WHERE k.id = used_keys[n] AND k.account_id = ANY (account) AND k.id = ANY (used_keys);
    END IF;
    IF any_granted THEN
      changed := true;
      INSERT INTO hold (account_id, id, owner, amount, key_id, model, input_price, output_price, cache_hit_price, other_prices,
                        in_budget, tokens, member_id)
      SELECT a_account[n], a_request[n], a_owner[n], a_amount[n], a_key[n], a_model[n], a_input_price[n], a_output_price[n],
             a_cache_hit_price[n], a_other_prices[n], coalesce(in_budget[n], false), coalesce(held_tokens[n], 0),
             in_member[n]
      FROM generate_series(1, admissions) n WHERE granted[n];
    END IF;
  END IF;

  IF changed THEN
    UPDATE account a SET posted = posted[n], held = held[n], open_holds = open_holds[n]
    FROM generate_series(1, cardinality(account)) n WHERE a.id = account[n] AND a.id = ANY (account);
    -- Hardly any account owes something, and one comparison of all is cheaper than a loop.
    IF 0 < ANY (owed) THEN
      PERFORM collect_owed(d.id, new_uuidv7()) FROM unnest(account, owed) AS d(id, debt) WHERE d.debt > 0;
    END IF;
  END IF;
END $$;

-- For the version before.
CREATE OR REPLACE FUNCTION commit_requests(
  s_account uuid[], s_request uuid[], s_cost bigint[], s_input_uncached int[], s_input_cached int[], s_output int[],
  s_basis text[], s_day date[], s_upstream text[], s_upstream_model text[], s_upstream_request text[],
  s_upstream_cost bigint[], s_streamed boolean[], s_duration int[], s_first_byte int[], s_clamped boolean[],
  s_other_tokens jsonb[], s_metering jsonb[], s_unbilled bigint[], s_settled timestamptz[],
  e_account uuid[], e_request uuid[], e_amount bigint[], e_least bigint[], e_input int[], e_cached int[], e_output int[],
  a_account uuid[], a_key uuid[], a_request uuid[], a_owner uuid[], a_amount bigint[], a_least bigint[],
  a_model text[], a_input_price bigint[], a_output_price bigint[], a_cache_hit_price bigint[], a_other_prices jsonb[])
RETURNS TABLE (
  kind text, ord int, outcome text, amount bigint, other bigint, rate_limit int, remaining int, reset_seconds int, wait_ms int)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  RETURN QUERY SELECT r.kind, r.ord, CASE r.outcome WHEN 'token_limited' THEN 'limited' ELSE r.outcome END, r.amount, r.other,
                      r.rate_limit, r.remaining, r.reset_seconds, r.wait_ms
  FROM commit_requests(
    s_account, s_request, s_cost, s_input_uncached, s_input_cached, s_output, s_basis, s_day, s_upstream, s_upstream_model,
    s_upstream_request, s_upstream_cost, s_streamed, s_duration, s_first_byte, s_clamped, s_other_tokens, s_metering,
    s_unbilled, s_settled, e_account, e_request, e_amount, e_least, e_input, e_cached, e_output, a_account, a_key,
    a_request, a_owner, a_amount, a_least, a_model, a_input_price, a_output_price, a_cache_hit_price, a_other_prices,
    NULL::int[]) r;
END $$;
