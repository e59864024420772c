-- The rate window of a person, a merchant's key pair or a service token, decided by the functions that also decide a key's
-- window. A pair or token that was revoked, or has expired, is refused here on its own row, so a revocation takes effect with its
-- commit, whatever a process remembers. A token's last use may be five minutes later than its row shows: each write is one more
-- version of the row.
--
-- kind: 'p'erson, 'm'erchant's pair, 's'ervice token. outcome: taken, limited (wait_ms: how long) or revoked.

CREATE OR REPLACE FUNCTION take_caller_slot(kind text, caller_id uuid, rate_limit int, OUT outcome text, OUT wait_ms int)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  slots timestamptz[]; slot_counts int[]; t timestamptz; used_at timestamptz;
BEGIN
  wait_ms := 0;
  IF kind = 'm' THEN
    PERFORM FROM merchant_credential c WHERE c.id = caller_id AND c.revoked_at IS NULL;
    IF NOT FOUND THEN outcome := 'revoked'; RETURN; END IF;
  ELSIF kind = 's' THEN
    SELECT s.last_used_at INTO used_at FROM service_token s
    WHERE s.id = caller_id AND s.revoked_at IS NULL AND s.expires_at > clock_timestamp();
    IF NOT FOUND THEN outcome := 'revoked'; RETURN; END IF;
    IF used_at IS NULL OR used_at < clock_timestamp() - interval '5 minutes' THEN
      UPDATE service_token s SET last_used_at = clock_timestamp() WHERE s.id = caller_id;
    END IF;
  END IF;
  outcome := 'taken';
  IF rate_limit = 0 THEN RETURN; END IF;

  LOOP
    SELECT w.slots, w.slot_counts INTO slots, slot_counts FROM caller_window w WHERE w.caller = caller_id FOR NO KEY UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO caller_window (caller) VALUES (caller_id) ON CONFLICT DO NOTHING;
  END LOOP;
  t := clock_timestamp(); -- behind the lock
  IF slots_used(slots, slot_counts, rate_limit, t) >= rate_limit THEN
    outcome := 'limited';
    wait_ms := slot_wait_ms(slots, slot_counts, rate_limit, t, 1);
    RETURN;
  END IF;
  UPDATE caller_window w SET slots = slots_after(slots, slot_counts, rate_limit, t, 1),
                             slot_counts = slot_counts_after(slots, slot_counts, rate_limit, t, 1)
  WHERE w.caller = caller_id;
END $$;
