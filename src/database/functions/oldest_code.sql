-- The oldest code that may run on the schema, raised by what operators turn on. A process registers with the newest change that its
-- code knows; code of before "process-code" registers none. Both functions meet in a lock, so no process starts in between.

CREATE OR REPLACE FUNCTION check_process_code() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtextextended('oldest code', 0));
  IF coalesce(NEW.schema_code, 1) < (SELECT max(oldest_code) FROM public.schema_change) THEN
    RAISE EXCEPTION 'this version of Saldo is older than this database allows' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END $$;

-- Lets only code run from now on that knows a change, and returns the processes of older code that are not dead. The caller rolls back
-- where there is one. What was raised is never lowered. A process whose lease has run out may come back until it is declared dead.
CREATE OR REPLACE FUNCTION require_code(change_name text) RETURNS SETOF uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
DECLARE
  needed int := (SELECT number FROM public.schema_change WHERE name = change_name);
BEGIN
  IF needed IS NULL THEN
    RAISE EXCEPTION 'the schema has no change %', change_name;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('oldest code', 0));
  UPDATE public.schema_change SET oldest_code = number WHERE number = needed AND oldest_code < number;
  RETURN QUERY SELECT id FROM public.process WHERE dead_at IS NULL AND coalesce(schema_code, 1) < needed;
END $$;
REVOKE ALL ON FUNCTION require_code FROM public;
GRANT EXECUTE ON FUNCTION require_code TO saldo_serve;
