import { Migration } from "@mikro-orm/migrations";

// Sums of usage that summaries are read from. A worker makes them out of the records; src/billing/README.md says how they
// stay equal to them. Sums are of a quarter of an hour in UTC, because every time zone's days begin at one.
export class Migration0013UsageRollUp extends Migration {
  override up(): void {
    // Which quarter of an hour since 1970 a request is of, and the smallest id of a quarter.
    this.addSql(`
      CREATE FUNCTION quarter_of(id uuid) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT (('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 900000)::int
      $$`);
    this.addSql(`
      CREATE FUNCTION quarter_floor(quarter int) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT rpad(lpad(to_hex(quarter::bigint * 900000), 12, '0'), 32, '0')::uuid
      $$`);
    // What the cached tokens of a request would have cost more as other input: whole units, so that sums of it are exact.
    this.addSql(`
      CREATE FUNCTION saved_by_cache(uncached int, cached int, output int, input_price bigint, output_price bigint,
                                     cache_hit_price bigint, cost bigint)
      RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT CASE WHEN cached = 0 OR cache_hit_price IS NULL THEN 0
          ELSE ceil(((uncached::numeric + cached) * input_price + output::numeric * output_price) / 1000000) - cost END
      $$`);

    this.addSql(`
      CREATE TABLE usage_roll_up (
        account_id            uuid   NOT NULL,
        quarter               int    NOT NULL,
        model                 text   NOT NULL,
        key_id                uuid   NOT NULL,
        basis                 text   NOT NULL,
        requests              int    NOT NULL,
        input_tokens_uncached bigint NOT NULL,
        input_tokens_cached   bigint NOT NULL,
        output_tokens         bigint NOT NULL,
        cost                  bigint NOT NULL,
        charge                bigint NOT NULL,
        saved_by_cache        bigint NOT NULL,
        PRIMARY KEY (account_id, quarter, model, key_id, basis)
      )`);
    // Up to which quarter an account is rolled up, and what its roll-ups come to in charges.
    this.addSql(`
      CREATE TABLE usage_rolled_up (
        account_id     uuid          NOT NULL PRIMARY KEY,
        before_quarter int           NOT NULL DEFAULT 0,
        charge         numeric(38,0) NOT NULL DEFAULT 0,
        rolled_at      timestamptz   NOT NULL DEFAULT clock_timestamp(),
        recounted_at   timestamptz
      ) WITH (fillfactor = 70)`);
    this.addSql(`GRANT SELECT, INSERT, DELETE ON usage_roll_up TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON usage_rolled_up TO saldo_serve`);

    // The mail that comes when a balance falls below a threshold: see src/billing/low-balance.ts.
    this.addSql(`
      CREATE TABLE low_balance_alert (
        account_id      uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
        threshold       bigint      NOT NULL CHECK (threshold > 0),
        is_below        boolean     NOT NULL,
        -- Set while a mail is owed: when to try it next, and how often it was tried.
        next_attempt_at timestamptz,
        attempts        int         NOT NULL DEFAULT 0,
        notified_at     timestamptz
      )`);
    this.addSql(
      `CREATE INDEX low_balance_alert_due ON low_balance_alert (next_attempt_at) WHERE next_attempt_at IS NOT NULL`,
    );
    this.addSql(`GRANT SELECT, INSERT, UPDATE, DELETE ON low_balance_alert TO saldo_serve`);

    // What operators set, by name. A change is a new version; the highest one holds.
    this.addSql(`
      CREATE TABLE operator_setting (
        name    text        NOT NULL,
        version int         NOT NULL CHECK (version > 0),
        value   text        NOT NULL,
        set_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (name, version)
      )`);
    this.addSql(
      `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON operator_setting FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(
      `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON operator_setting FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(`ALTER TABLE operator_setting ENABLE ALWAYS TRIGGER append_only`);
    this.addSql(`ALTER TABLE operator_setting ENABLE ALWAYS TRIGGER append_only_truncate`);
    this.addSql(`GRANT SELECT, INSERT ON operator_setting TO saldo_serve`);
  }
}
