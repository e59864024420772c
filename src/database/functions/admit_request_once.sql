-- An admission with a name. The name is free where no request took it within a day, or where the request with it was free of
-- charge. Otherwise nothing is written and the row describes that request: `amount` is its charge. The account is locked before
-- the name is read, so of parallel requests with one name one is admitted.

CREATE OR REPLACE FUNCTION admit_request_once(
  account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint, model text, input_price bigint,
  output_price bigint, cache_hit_price bigint, other_prices jsonb, once_name text, once_digest bytea, tokens int,
  OUT kind text, OUT ord int, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit int, OUT remaining int,
  OUT reset_seconds int, OUT wait_ms int, OUT token_limit int, OUT tokens_left bigint,
  OUT former uuid, OUT former_basis text, OUT keeps_answers boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  same_body boolean; is_running boolean;
BEGIN
  SELECT a.keeps_answers INTO keeps_answers FROM lock_accounts(ARRAY[account]) a;
  IF NOT FOUND THEN RETURN; END IF;
  SELECT i.request_id, i.body_digest = once_digest INTO former, same_body FROM idempotency_key i
  WHERE i.account_id = account AND i.key_id = key AND i.name = once_name AND i.request_id <> request
    AND i.taken_at > clock_timestamp() - interval '24 hours'
    AND NOT EXISTS (SELECT FROM api_key k WHERE k.account_id = account AND k.id = key
                      AND (k.revoked_at IS NOT NULL OR k.expires_at <= clock_timestamp()));
  IF FOUND THEN
    is_running := EXISTS (SELECT FROM hold h WHERE h.account_id = account AND h.id = former);
    SELECT u.basis, u.charge + coalesce((
      SELECT p.amount FROM posting p WHERE p.account_id = account AND p.reference = 'late:' || former), 0)
    INTO former_basis, amount FROM usage_record u WHERE u.account_id = account AND u.request_id = former;
    IF is_running OR former_basis <> 'free' THEN
      kind := 'a'; ord := 1; other := 0; amount := coalesce(amount, 0);
      rate_limit := 0; remaining := 0; reset_seconds := 0;
      outcome := CASE WHEN NOT same_body THEN 'other_body' WHEN is_running THEN 'running' ELSE 'answered' END;
      RETURN;
    END IF;
  END IF;
  SELECT r.kind, r.ord, r.outcome, r.amount, r.other, r.rate_limit, r.remaining, r.reset_seconds, r.wait_ms, r.token_limit,
         r.tokens_left
  INTO kind, ord, outcome, amount, other, rate_limit, remaining, reset_seconds, wait_ms, token_limit, tokens_left
  FROM admit_request(account, key, request, owner, wanted, least_amount, model, input_price, output_price, cache_hit_price,
                     other_prices, tokens) r;
  IF outcome = 'granted' THEN
    INSERT INTO idempotency_key (account_id, key_id, name, request_id, body_digest)
    VALUES (account, key, once_name, request, once_digest)
    ON CONFLICT ON CONSTRAINT idempotency_key_pkey DO UPDATE
    SET request_id = excluded.request_id, body_digest = excluded.body_digest, taken_at = clock_timestamp();
  END IF;
END $$;

-- For the version before.
CREATE OR REPLACE FUNCTION admit_request_once(
  account uuid, key uuid, request uuid, owner uuid, wanted bigint, least_amount bigint, model text, input_price bigint,
  output_price bigint, cache_hit_price bigint, other_prices jsonb, once_name text, once_digest bytea,
  OUT kind text, OUT ord int, OUT outcome text, OUT amount bigint, OUT other bigint, OUT rate_limit int, OUT remaining int,
  OUT reset_seconds int, OUT wait_ms int,
  OUT former uuid, OUT former_basis text, OUT keeps_answers boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  SELECT r.kind, r.ord, CASE r.outcome WHEN 'token_limited' THEN 'limited' ELSE r.outcome END, r.amount, r.other, r.rate_limit,
         r.remaining, r.reset_seconds, r.wait_ms, r.former, r.former_basis, r.keeps_answers
  INTO kind, ord, outcome, amount, other, rate_limit, remaining, reset_seconds, wait_ms, former, former_basis, keeps_answers
  FROM admit_request_once(account, key, request, owner, wanted, least_amount, model, input_price, output_price, cache_hit_price,
                          other_prices, once_name, once_digest, NULL::int) r;
END $$;
