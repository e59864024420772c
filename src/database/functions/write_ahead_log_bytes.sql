-- The room that the write-ahead log takes on the server. The serving role cannot list that folder, so this function runs with the
-- owner's rights. An owner that is no superuser needs pg_monitor; without it the answer is null.

CREATE OR REPLACE FUNCTION write_ahead_log_bytes() RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
BEGIN
  RETURN (SELECT coalesce(sum(size), 0)::bigint FROM pg_ls_waldir());
EXCEPTION WHEN insufficient_privilege THEN
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION write_ahead_log_bytes FROM public;
GRANT EXECUTE ON FUNCTION write_ahead_log_bytes TO saldo_serve;
