import { Migration } from "@mikro-orm/migrations";
import { requestFunctions } from "./request-functions.ts";

// Sums of the rarer kinds of tokens, and when a request was settled, so that an account's statement follows its commits. Why the
// statement needs no full index by time is in src/billing/README.md.
export class Migration0029UsageKinds extends Migration {
  override up(): void {
    this.addSql(`
      ALTER TABLE usage_roll_up ADD COLUMN cache_write bigint NOT NULL DEFAULT 0, ADD COLUMN cache_write_1h bigint NOT NULL DEFAULT 0,
        ADD COLUMN audio_input bigint NOT NULL DEFAULT 0, ADD COLUMN image_input bigint NOT NULL DEFAULT 0,
        ADD COLUMN image_output bigint NOT NULL DEFAULT 0`);
    // Replaced in 0024 by one that knows all kinds.
    this.addSql(`DROP FUNCTION IF EXISTS saved_by_cache(int, int, int, bigint, bigint, bigint, bigint)`);

    // Older records keep null, so the table is not rewritten. The default is read after the statement has locked the account.
    this.addSql(`ALTER TABLE usage_record ADD COLUMN settled_at timestamptz`);
    this.addSql(`ALTER TABLE usage_record ALTER COLUMN settled_at SET DEFAULT clock_timestamp()`);
    for (const makeFunction of [REQUEST_TIME, SETTLED_TIME, SETTLED_LATE]) this.addSql(makeFunction);
    this.addSql(`
      CREATE INDEX usage_record_late ON usage_record (account_id, settled_at) WHERE settled_late(request_id, settled_at)`);

    this.addSql(`
      CREATE OR REPLACE VIEW ledger_entries AS
        SELECT debit AS account_id, id AS posting_id, group_id, asset, -amount AS amount, reason, posted_at FROM posting
        UNION ALL
        SELECT credit, id, group_id, asset, amount, reason, posted_at FROM posting
        UNION ALL
        SELECT account_id, request_id, request_id, 'IDR/6', -charge::numeric(38,0), 'usage',
          settled_time(request_id, settled_at)
        FROM usage_record WHERE charge > 0
        UNION ALL
        SELECT '00000000-0000-7000-8000-000000000001', request_id, request_id, 'IDR/6', charge::numeric(38,0), 'usage',
          settled_time(request_id, settled_at)
        FROM usage_record WHERE charge > 0`);

    // The functions that settle take one parameter more. Those of another number of parameters would be called no longer.
    this.addSql(`
      DO $$ DECLARE former regprocedure; BEGIN
        FOR former IN SELECT oid::regprocedure FROM pg_proc
          WHERE pronamespace = 'public'::regnamespace AND proname IN ('admit_request', 'settle_request', 'commit_requests') LOOP
          EXECUTE 'DROP FUNCTION ' || former;
        END LOOP;
      END $$`);
    for (const makeFunction of requestFunctions) this.addSql(makeFunction);
  }
}

// The moment a UUIDv7 was made, like uuid_time, of which PostgreSQL cannot write the expression into a statement or an index.
const REQUEST_TIME = `
CREATE FUNCTION request_time(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint / 1000.0::float8)
$$`;

// When a request was settled. It is never before the request's own time: clocks differ. A record of before has only that time,
// so the statements that customers have seen stay as they were.
const SETTLED_TIME = `
CREATE FUNCTION settled_time(id uuid, settled_at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(settled_at, request_time(id))
$$`;

// Whether a request was settled more than a minute after its own time. Few are: they have an index of their own. In PL/pgSQL,
// because every settlement asks: an expression would be prepared again by each statement that inserts a record. With the schema,
// because PostgreSQL makes an index with no search path.
const SETTLED_LATE = `
CREATE FUNCTION settled_late(id uuid, settled_at timestamptz) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN coalesce(settled_at - public.request_time(id) > interval '60 seconds', false);
END $$`;
