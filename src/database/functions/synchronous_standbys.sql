-- How many attached standbys confirm commits; 0 also where commits do not wait for any. The serving role sees nothing of
-- replication, so this function runs with the owner's rights. An owner that is no superuser needs pg_monitor.

CREATE OR REPLACE FUNCTION synchronous_standbys() RETURNS int
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN 0 ELSE
    (SELECT count(*)::int FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')) END
$$;
REVOKE ALL ON FUNCTION synchronous_standbys FROM public;
GRANT EXECUTE ON FUNCTION synchronous_standbys TO saldo_serve;
