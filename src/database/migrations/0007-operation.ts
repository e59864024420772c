import { Migration } from "@mikro-orm/migrations";

// What operating the service needs: where the audit stands, the switch that stops admissions, who ordered what.
export class Migration0007Operation extends Migration {
  override up(): void {
    // Up to where an account was audited: its usage records up to an id and its postings before an id come to `posted`.
    // Each row is true by itself, whoever wrote it last.
    this.addSql(`
      CREATE TABLE audit_checkpoint (
        account_id      uuid          NOT NULL PRIMARY KEY,
        posted          numeric(38,0) NOT NULL,
        usage_through   uuid          NOT NULL,
        looked_through  uuid          NOT NULL,
        postings_before uuid          NOT NULL
      ) WITH (fillfactor = 70)`);
    // The last run of each kind. covered_at: everything committed before it was looked at by the run that finished last.
    this.addSql(`
      CREATE TABLE audit_run (
        kind            text        NOT NULL PRIMARY KEY CHECK (kind IN ('incremental', 'full')),
        started_at      timestamptz,
        covered_at      timestamptz,
        finished_at     timestamptz,
        violations      int         NOT NULL DEFAULT 0,
        postings_before uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
      ) WITH (fillfactor = 50)`);
    this.addSql(`INSERT INTO audit_run (kind) VALUES ('incremental'), ('full')`);

    // One row: every process reads it now and then.
    this.addSql(`
      CREATE TABLE admission_switch (
        the_row    boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
        stopped_at timestamptz,
        reason     text,
        CHECK ((stopped_at IS NULL) = (reason IS NULL))
      )`);
    this.addSql(`INSERT INTO admission_switch DEFAULT VALUES`);

    this.addSql(`
      CREATE TABLE operator_action (
        id       uuid        NOT NULL PRIMARY KEY,
        operator text        NOT NULL,
        action   text        NOT NULL,
        subject  text,
        reason   text,
        facts    jsonb       NOT NULL DEFAULT '{}',
        done_at  timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(
      `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON operator_action FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(
      `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON operator_action FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(`ALTER TABLE operator_action ENABLE ALWAYS TRIGGER append_only`);
    this.addSql(`ALTER TABLE operator_action ENABLE ALWAYS TRIGGER append_only_truncate`);

    // How long the oldest transaction has kept dead rows from being cleaned. The serving role sees no other login's
    // sessions, so this runs with the owner's rights and tells nothing but the seconds.
    this.addSql(`
      CREATE FUNCTION oldest_snapshot_seconds() RETURNS float8
      LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog AS $$
        SELECT coalesce(max(extract(epoch FROM clock_timestamp() - since)), 0)::float8 FROM (
          SELECT xact_start FROM pg_stat_activity
          WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
          UNION ALL
          SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
        ) open (since)
      $$`);
    this.addSql(`REVOKE ALL ON FUNCTION oldest_snapshot_seconds FROM public`);
    this.addSql(`GRANT EXECUTE ON FUNCTION oldest_snapshot_seconds TO saldo_serve`);

    this.addSql(`GRANT SELECT, INSERT, UPDATE ON audit_checkpoint TO saldo_serve`);
    this.addSql(`GRANT SELECT, UPDATE ON audit_run, admission_switch TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT ON operator_action TO saldo_serve`);
  }
}
