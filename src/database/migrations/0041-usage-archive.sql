-- Usage records of closed months that are files: billing/archive/README.md. The owner writes these tables, the serving role reads them.

-- A sealed month: what its records come to, as a signed text. Rows are never changed.
CREATE TABLE usage_archive (
  month      date        NOT NULL PRIMARY KEY CHECK (extract(day FROM month) = 1),
  text       text        NOT NULL,
  signatures jsonb       NOT NULL,
  sealed_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The sums of an account in a month, written before its seal, which has their digest. They count when the mark is behind the month.
CREATE TABLE usage_archive_account (
  account_id            uuid   NOT NULL REFERENCES account (id),
  month                 date   NOT NULL,
  requests              bigint NOT NULL CHECK (requests > 0),
  input_tokens_uncached bigint NOT NULL,
  input_tokens_cached   bigint NOT NULL,
  output_tokens         bigint NOT NULL,
  cost                  numeric(38,0) NOT NULL,
  charge                numeric(38,0) NOT NULL,
  loss                  numeric(38,0) NOT NULL,
  first_id              uuid   NOT NULL,
  last_id               uuid   NOT NULL,
  PRIMARY KEY (account_id, month)
);

-- A file of a sealed month: its manifest, as a signed text.
CREATE TABLE usage_archive_file (
  month      date        NOT NULL REFERENCES usage_archive (month),
  sha256     bytea       NOT NULL CHECK (octet_length(sha256) = 32),
  text       text        NOT NULL,
  signatures jsonb       NOT NULL,
  written_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (month, sha256)
);

-- What was done with a sealed month.
CREATE TABLE usage_archive_step (
  month   date        NOT NULL REFERENCES usage_archive (month),
  done_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  step    text        NOT NULL CHECK (step IN ('detached', 'dropped', 'restored')),
  PRIMARY KEY (month, done_at)
);

-- One row: all months before it are in the archive and not in usage_record. It changes in the transaction that detaches or attaches.
CREATE TABLE usage_archive_mark (
  one          boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (one),
  before_month date    NOT NULL,
  before_id    uuid    NOT NULL
);
INSERT INTO usage_archive_mark (before_month, before_id) VALUES ('1970-01-01', '00000000-0000-0000-0000-000000000000');

-- Copies of archived records that postings name, or that were settled in another month than they came in.
CREATE TABLE usage_kept (
  account_id            uuid   NOT NULL,
  request_id            uuid   NOT NULL,
  key_id                uuid   NOT NULL,
  model                 text   NOT NULL,
  input_tokens_uncached int    NOT NULL,
  input_tokens_cached   int    NOT NULL,
  output_tokens         int    NOT NULL,
  input_price           bigint NOT NULL,
  output_price          bigint NOT NULL,
  cache_hit_price       bigint,
  cost                  bigint NOT NULL,
  charge                bigint NOT NULL,
  basis                 text   NOT NULL,
  billing_day           date   NOT NULL,
  upstream              text,
  upstream_model        text,
  upstream_request_id   text,
  upstream_cost         bigint,
  streamed              boolean NOT NULL,
  duration_ms           int    NOT NULL,
  first_byte_ms         int,
  clamped               boolean NOT NULL DEFAULT false,
  other_tokens          jsonb,
  other_prices          jsonb,
  metering              jsonb,
  unbilled_cost         bigint NOT NULL DEFAULT 0,
  settled_at            timestamptz,
  PRIMARY KEY (account_id, request_id)
);
CREATE INDEX usage_kept_request ON usage_kept (request_id);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON usage_archive FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON usage_archive FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON usage_archive_account FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON usage_archive_account FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON usage_archive_file FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON usage_archive_file FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON usage_archive_step FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON usage_archive_step FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON usage_kept FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON usage_kept FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE usage_archive ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE usage_archive_account ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE usage_archive_file ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE usage_archive_step ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;
ALTER TABLE usage_kept ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;

GRANT SELECT ON usage_archive, usage_archive_account, usage_archive_file, usage_archive_step, usage_archive_mark, usage_kept TO saldo_serve;
-- A late settlement of an archived month finds the record of recovery here.
GRANT SELECT ON usage_kept TO saldo_ledger, saldo_request;
