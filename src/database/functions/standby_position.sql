-- Up to where a standby has applied the log, and whose: the system, and the timeline that it receives. Null: this server is the primary,
-- or nothing is received. The serving role sees nothing of replication, so this function runs with the owner's rights. An owner that is no
-- superuser needs pg_monitor.

CREATE OR REPLACE FUNCTION standby_position(OUT system text, OUT timeline int, OUT lsn pg_lsn)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
  SELECT (SELECT system_identifier::text FROM pg_control_system()),
    (SELECT received_tli FROM pg_stat_wal_receiver),
    CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END
$$;
REVOKE ALL ON FUNCTION standby_position FROM public;
GRANT EXECUTE ON FUNCTION standby_position TO saldo_serve;
