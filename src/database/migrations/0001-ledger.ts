import { Migration } from "@mikro-orm/migrations";
import { rateWindowFunctions } from "./0001-rate-window.ts";

// Tables of the money core. Why each is shaped so is said in ledger/README.md; the storage parameters keep account, key
// and hold rows updatable in place under load.
const HOT_ROW_STORAGE = `WITH (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.5)`;

export class Migration0001Ledger extends Migration {
  override up(): void {
    // The role that serves may read and add, and change only what the request path changes. Every start lays its settings
    // on it.
    this.addSql(`
      DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'saldo_serve') THEN CREATE ROLE saldo_serve LOGIN; END IF;
      EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; -- another database of this server was quicker
      END $$`);
    // An owner that is no superuser may become the serving role only as a member of it, and from PostgreSQL 16 on the
    // maker of a role is none by itself.
    this.addSql(`
      DO $$ BEGIN
        IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
          EXECUTE format('GRANT saldo_serve TO %I', current_user);
        END IF;
      END $$`);
    this.addSql(`GRANT USAGE ON SCHEMA public TO saldo_serve`);

    this.addSql(`
      CREATE TABLE account (
        id         uuid        NOT NULL PRIMARY KEY,
        posted     bigint      NOT NULL DEFAULT 0,
        held       bigint      NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT account_never_negative CHECK (held >= 0 AND posted >= held)
      ) ${HOT_ROW_STORAGE}`);

    this.addSql(`
      CREATE TABLE api_key (
        account_id  uuid          NOT NULL,
        id          uuid          NOT NULL,
        digest      bytea         NOT NULL,
        name        text          NOT NULL,
        prefix      text          NOT NULL,
        last_four   text          NOT NULL,
        rate_limit  int           NOT NULL DEFAULT 60 CHECK (rate_limit BETWEEN 0 AND 1000000),
        slots       timestamptz[] NOT NULL DEFAULT '{}',
        slot_counts int[]         NOT NULL DEFAULT '{}',
        created_at  timestamptz   NOT NULL DEFAULT clock_timestamp(),
        revoked_at  timestamptz,
        PRIMARY KEY (account_id, id)
      ) ${HOT_ROW_STORAGE}`);
    this.addSql(`CREATE UNIQUE INDEX api_key_digest ON api_key (digest)`);
    this.addSql(`CREATE UNIQUE INDEX api_key_id ON api_key (id)`);
    this.addSql(`ALTER TABLE api_key ALTER COLUMN slots SET STORAGE MAIN`);
    for (const makeFunction of rateWindowFunctions) this.addSql(makeFunction);

    this.addSql(`
      CREATE TABLE hold (
        account_id              uuid        NOT NULL,
        id                      uuid        NOT NULL,
        owner                   uuid        NOT NULL,
        amount                  bigint      NOT NULL CHECK (amount >= 0),
        key_id                  uuid        NOT NULL,
        model                   text        NOT NULL,
        input_price             bigint      NOT NULL,
        output_price            bigint      NOT NULL,
        cache_hit_price         bigint,
        progress_input_tokens   int         NOT NULL DEFAULT 0,
        progress_output_tokens  int         NOT NULL DEFAULT 0,
        placed_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (account_id, id)
      ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
              autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_insert_threshold = -1,
              autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000)`);

    this.addSql(`
      CREATE TABLE usage_record (
        account_id            uuid    NOT NULL,
        request_id            uuid    NOT NULL,
        key_id                uuid    NOT NULL,
        model                 text    NOT NULL,
        input_tokens_uncached int     NOT NULL CHECK (input_tokens_uncached >= 0),
        input_tokens_cached   int     NOT NULL CHECK (input_tokens_cached >= 0),
        output_tokens         int     NOT NULL CHECK (output_tokens >= 0),
        input_price           bigint  NOT NULL,
        output_price          bigint  NOT NULL,
        cache_hit_price       bigint,
        cost                  bigint  NOT NULL CHECK (cost >= 0),
        charge                bigint  NOT NULL CHECK (charge BETWEEN 0 AND cost),
        basis                 text    NOT NULL CHECK (basis IN ('exact', 'drained', 'estimated', 'recovered', 'free')),
        billing_day           date    NOT NULL,
        upstream              text,
        upstream_model        text,
        upstream_request_id   text,
        upstream_cost         bigint,
        streamed              boolean NOT NULL,
        duration_ms           int     NOT NULL,
        first_byte_ms         int,
        clamped               boolean NOT NULL DEFAULT false,
        PRIMARY KEY (account_id, request_id)
      ) PARTITION BY RANGE (request_id)`);
    this.addSql(`CREATE INDEX usage_record_request ON usage_record USING brin (request_id)`);
    this.addSql(`CREATE TABLE usage_record_default PARTITION OF usage_record DEFAULT`);

    this.addSql(`
      CREATE TABLE posting (
        id        uuid          NOT NULL,
        group_id  uuid          NOT NULL,
        asset     text          NOT NULL,
        debit     uuid          NOT NULL,
        credit    uuid          NOT NULL,
        amount    numeric(38,0) NOT NULL CHECK (amount > 0),
        reason    text          NOT NULL,
        reference text          UNIQUE,
        note      text,
        posted_at timestamptz   NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (debit, id),
        CHECK (debit <> credit)
      )`);
    this.addSql(`CREATE INDEX posting_credit ON posting (credit, id)`);

    this.addSql(`
      CREATE TABLE process (
        id            uuid        NOT NULL PRIMARY KEY,
        started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
        renewed_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at    timestamptz NOT NULL,
        gapless_since timestamptz NOT NULL DEFAULT clock_timestamp(),
        dead_at       timestamptz
      ) WITH (fillfactor = 50)`);

    // The moment a UUIDv7 was made, and the smallest id of a moment: partitions are ranges of ids, so ranges of time.
    this.addSql(`
      CREATE FUNCTION uuid_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT timestamptz 'epoch' + ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint * interval '1 millisecond'
      $$`);
    this.addSql(`
      CREATE FUNCTION uuid_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        SELECT rpad(lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
      $$`);

    // Nothing that was posted is ever changed. The triggers fire for replication roles too (ENABLE ALWAYS). TRUNCATE
    // triggers are not cloned to partitions, so ensure_usage_partitions adds them; the audit looks at each partition.
    this.addSql(`
      CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
      END $$`);
    for (const table of ["posting", "usage_record"]) {
      this.addSql(
        `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
      );
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);
    }
    for (const table of ["posting", "usage_record", "usage_record_default"]) {
      this.addSql(
        `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
      );
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_truncate`);
    }

    // Makes the partitions of the given months. It runs with the owner's rights, because the serving role's daily worker
    // calls it; the row trigger is cloned without ENABLE ALWAYS, so that is set again.
    this.addSql(`
      CREATE FUNCTION ensure_usage_partitions(first_month date, months int) RETURNS int
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public AS $$
      DECLARE
        month timestamptz; name text; made int := 0;
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('ensure_usage_partitions'));
        FOR i IN 0 .. least(months, 36) - 1 LOOP
          month := (date_trunc('month', first_month::timestamp) + make_interval(months => i)) AT TIME ZONE 'UTC';
          name := 'usage_record_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM');
          CONTINUE WHEN to_regclass('public.' || name) IS NOT NULL;
          EXECUTE format('CREATE TABLE public.%I PARTITION OF public.usage_record FOR VALUES FROM (%L) TO (%L)', name,
            public.uuid_floor(month), public.uuid_floor((month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'));
          EXECUTE format('CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.%I FOR EACH STATEMENT EXECUTE FUNCTION public.refuse_change()', name);
          EXECUTE format('ALTER TABLE public.%I ENABLE ALWAYS TRIGGER append_only_truncate', name);
          EXECUTE format('ALTER TABLE public.%I ENABLE ALWAYS TRIGGER append_only', name);
          made := made + 1;
        END LOOP;
        RETURN made;
      END $$`);
    this.addSql(`ALTER TABLE usage_record_default ENABLE ALWAYS TRIGGER append_only`);
    this.addSql(`SELECT ensure_usage_partitions((now() - interval '1 month')::date, 14)`);
    this.addSql(`REVOKE ALL ON FUNCTION ensure_usage_partitions FROM public`);
    this.addSql(`GRANT EXECUTE ON FUNCTION ensure_usage_partitions TO saldo_serve`);

    this.addSql(`
      CREATE VIEW ledger_entries AS
        SELECT debit AS account_id, id AS posting_id, group_id, asset, -amount AS amount, reason, posted_at FROM posting
        UNION ALL
        SELECT credit, id, group_id, asset, amount, reason, posted_at FROM posting
        UNION ALL
        SELECT account_id, request_id, request_id, 'IDR/6', -charge::numeric(38,0), 'usage', uuid_time(request_id)
        FROM usage_record WHERE charge > 0
        UNION ALL
        SELECT '00000000-0000-7000-8000-000000000001', request_id, request_id, 'IDR/6', charge::numeric(38,0), 'usage', uuid_time(request_id)
        FROM usage_record WHERE charge > 0`);

    this.addSql(`GRANT SELECT, UPDATE ON account, api_key TO saldo_serve`);
    this.addSql(`GRANT INSERT ON account, api_key TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE, DELETE ON hold TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT ON usage_record, posting TO saldo_serve`);
    this.addSql(`GRANT SELECT ON usage_record_default TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON process TO saldo_serve`);
    this.addSql(`GRANT SELECT ON ledger_entries TO saldo_serve`);
  }
}
