-- The security log keeps its lines: no login can change one, or delete one of the last seven days. Older lines are deleted
-- through one function.

CREATE OR REPLACE FUNCTION auth.oldest_kept_security_event(days int) RETURNS uuid
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - greatest(days, 7) * interval '1 day') * 1000)::bigint), 12, '0')
    || '70008000000000000000')::uuid
$$;

CREATE OR REPLACE FUNCTION auth.keep_security_event() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'ROW' THEN
    IF OLD.id < auth.oldest_kept_security_event(7) THEN
      RETURN OLD;
    END IF;
  END IF;
  RAISE EXCEPTION 'the security log keeps its lines' USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE FUNCTION auth.forget_security_events(days int, most int) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
  WITH forgotten AS (
    DELETE FROM auth.security_event WHERE id IN (
      SELECT id FROM auth.security_event WHERE id < auth.oldest_kept_security_event(days) ORDER BY id LIMIT most
    ) RETURNING 1
  )
  SELECT count(*) FROM forgotten
$$;
REVOKE ALL ON FUNCTION auth.forget_security_events FROM public;
GRANT EXECUTE ON FUNCTION auth.forget_security_events TO saldo_serve;
