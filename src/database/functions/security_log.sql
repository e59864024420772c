-- The security log keeps the lines of the last seven days, whichever role asks: an embedded database serves with the login of the
-- owner, too. Older lines are forgotten through one function. The id of a line tells its time.

CREATE OR REPLACE FUNCTION oldest_kept_security_event(days int) RETURNS uuid
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - greatest(days, 7) * interval '1 day') * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid
$$;

CREATE OR REPLACE FUNCTION keep_security_event() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
    IF OLD.id < oldest_kept_security_event(7) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the security log keeps its lines' USING ERRCODE = 'restrict_violation';
END $$;

-- Removes at most so many lines that are older than so many days; returns how many.
CREATE OR REPLACE FUNCTION forget_security_events(days int, most int) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, public AS $$
  WITH forgotten AS (
    DELETE FROM auth.security_event WHERE id IN (
      SELECT id FROM auth.security_event WHERE id < oldest_kept_security_event(days) ORDER BY id LIMIT most
    ) RETURNING 1
  )
  SELECT count(*) FROM forgotten
$$;
REVOKE ALL ON FUNCTION forget_security_events(int, int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_security_events(int, int) TO saldo_serve;
