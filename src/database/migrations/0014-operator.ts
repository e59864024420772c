import { Migration } from "@mikro-orm/migrations";

// What operators look at: versions of the catalog, how upstreams do, what audits found, and ways to find postings and actions.
export class Migration0014Operator extends Migration {
  override up(): void {
    // Every catalog that was published, whole. The next number is taken under the lock of the catalog.
    this.addSql(`
      CREATE TABLE catalog_version (
        number       int         NOT NULL PRIMARY KEY CHECK (number > 0),
        operator     text        NOT NULL,
        reason       text,
        yaml         text        NOT NULL,
        published_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`ALTER TABLE catalog_change ADD COLUMN version int, ADD COLUMN price_difference jsonb`);
    this.addSql(`CREATE INDEX catalog_change_version ON catalog_change (version, id)`);
    for (const table of ["catalog_version", "catalog_change"]) {
      this.addSql(
        `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
      );
      this.addSql(
        `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
      );
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_truncate`);
    }
    this.addSql(`GRANT SELECT, INSERT ON catalog_version TO saldo_serve`);

    // How calls to each upstream went, by the minute: every process adds its counts. first_byte holds how many answers began
    // within each class of times. Rows go after a day.
    this.addSql(`
      CREATE TABLE upstream_minute (
        upstream       text        NOT NULL,
        minute         timestamptz NOT NULL,
        answered       bigint      NOT NULL,
        failed         bigint      NOT NULL,
        first_byte     bigint[]    NOT NULL,
        last_failed_at timestamptz,
        last_failure   text,
        PRIMARY KEY (upstream, minute)
      ) WITH (fillfactor = 70)`);
    this.addSql(`CREATE INDEX upstream_minute_minute ON upstream_minute (minute)`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE, DELETE ON upstream_minute TO saldo_serve`);

    // What the last run of each kind of audit found, beside how much.
    this.addSql(`ALTER TABLE audit_run ADD COLUMN found jsonb NOT NULL DEFAULT '[]'`);

    this.addSql(`CREATE INDEX posting_id ON posting (id)`);
    this.addSql(`CREATE INDEX posting_group ON posting (group_id, id)`);
    this.addSql(`CREATE INDEX operator_action_subject ON operator_action (subject, id)`);
    this.addSql(`CREATE INDEX operator_action_operator ON operator_action (operator, id)`);
  }
}
