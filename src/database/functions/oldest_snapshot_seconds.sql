-- How long the oldest transaction has kept dead rows from being cleaned. The serving role cannot see sessions of other logins, so
-- this function runs with the owner's rights and returns the seconds only.

CREATE OR REPLACE FUNCTION oldest_snapshot_seconds() RETURNS float8
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT coalesce(max(extract(epoch FROM clock_timestamp() - since)), 0)::float8 FROM (
    SELECT xact_start FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
    UNION ALL
    SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
  ) open (since)
$$;
REVOKE ALL ON FUNCTION oldest_snapshot_seconds FROM public;
GRANT EXECUTE ON FUNCTION oldest_snapshot_seconds TO saldo_serve;
