-- How many attached standbys confirm commits; 0 where commits do not wait for any, and where fewer are attached than each commit waits
-- for: it is confirmed by none then. NULL where the owner may not see them: it is no superuser and lacks pg_monitor. The serving role
-- sees nothing of replication, so this function runs with the owner's rights.

CREATE OR REPLACE FUNCTION synchronous_standbys() RETURNS int
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT CASE WHEN names = '' THEN 0 WHEN hidden > 0 THEN NULL WHEN attached < coalesce(wanted, 1) THEN 0 ELSE attached END
  FROM (
    SELECT current_setting('synchronous_standby_names') AS names,
      -- FIRST 2 (a, b), ANY 2 (a, b), 2 (a, b); a bare list of names waits for one.
      substring(current_setting('synchronous_standby_names') FROM '(?i)^\s*(?:(?:first|any)\s+)?(\d+)\s*\(')::int AS wanted,
      (SELECT count(*)::int FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')) AS attached,
      (SELECT count(*) FROM pg_stat_replication WHERE state IS NULL) AS hidden
  ) AS now
$$;
REVOKE ALL ON FUNCTION synchronous_standbys FROM public;
GRANT EXECUTE ON FUNCTION synchronous_standbys TO saldo_serve;
