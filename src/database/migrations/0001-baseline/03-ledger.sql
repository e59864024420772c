-- The ledger: customers' accounts, what is held of them, what was used. Why each is shaped so is in ledger/README.md. Money
-- is micro-rupiah. The storage parameters keep account, key and hold rows updatable in place under load.

-- posted: all that came in and went out. held: set aside for running requests. owed: the sum of the account's open receivables;
-- it is part of the row so that it is decided with the balance. open_holds is counted by whatever places or resolves a hold:
-- rows behind a lock cannot be counted exactly. max_open_holds 0: no limit.
CREATE TABLE account (
  id             uuid        NOT NULL PRIMARY KEY,
  posted         bigint      NOT NULL DEFAULT 0,
  held           bigint      NOT NULL DEFAULT 0,
  created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  frozen_at      timestamptz,
  open_holds     int         NOT NULL DEFAULT 0,
  max_open_holds int         NOT NULL DEFAULT 0 CHECK (max_open_holds >= 0),
  owed           bigint      NOT NULL DEFAULT 0 CONSTRAINT account_owed_not_negative CHECK (owed >= 0),
  keeps_answers  boolean     NOT NULL DEFAULT false,
  CONSTRAINT account_never_negative CHECK (held >= 0 AND posted >= held)
) WITH (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.5);
-- Neither posted nor held may be part of it: every request changes them, and PostgreSQL updates the row in place only
-- while no index names a changed column.
CREATE INDEX account_owed ON account (id) WHERE owed > 0;

-- Prices are micro-rupiah per million tokens, as they were when the request was admitted. Those of rarer kinds of tokens are a
-- JSON object of whole numbers as text, by the kind's name: null for most rows.
CREATE TABLE hold (
  account_id             uuid        NOT NULL,
  id                     uuid        NOT NULL,
  owner                  uuid        NOT NULL,
  amount                 bigint      NOT NULL CHECK (amount >= 0),
  key_id                 uuid        NOT NULL,
  model                  text        NOT NULL,
  input_price            bigint      NOT NULL,
  output_price           bigint      NOT NULL,
  cache_hit_price        bigint,
  progress_input_tokens  int         NOT NULL DEFAULT 0,
  progress_output_tokens int         NOT NULL DEFAULT 0,
  placed_at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  other_prices           jsonb,
  progress_cached_tokens int         NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, id)
) WITH (
  fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);

-- A record is the posting of its charge, from the customer to revenue. PostgreSQL reads the text of every constraint anew for
-- every statement, so there are few: that a cost is not negative follows from 0 <= charge <= cost. Months are partitions by
-- the id, which tells the time. settled_at is null in records of before the column.
CREATE TABLE usage_record (
  account_id            uuid        NOT NULL,
  request_id            uuid        NOT NULL,
  key_id                uuid        NOT NULL,
  model                 text        NOT NULL,
  input_tokens_uncached int         NOT NULL,
  input_tokens_cached   int         NOT NULL,
  output_tokens         int         NOT NULL,
  input_price           bigint      NOT NULL,
  output_price          bigint      NOT NULL,
  cache_hit_price       bigint,
  cost                  bigint      NOT NULL,
  charge                bigint      NOT NULL CONSTRAINT usage_record_check CHECK (charge BETWEEN 0 AND cost),
  basis                 text        NOT NULL,
  billing_day           date        NOT NULL,
  upstream              text,
  upstream_model        text,
  upstream_request_id   text,
  upstream_cost         bigint,
  streamed              boolean     NOT NULL,
  duration_ms           int         NOT NULL,
  first_byte_ms         int,
  clamped               boolean     NOT NULL DEFAULT false,
  other_tokens          jsonb,
  other_prices          jsonb,
  metering              jsonb,
  unbilled_cost         bigint      NOT NULL DEFAULT 0 CHECK (unbilled_cost >= 0),
  settled_at            timestamptz DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, request_id),
  CONSTRAINT usage_record_tokens_check CHECK (least(input_tokens_uncached, input_tokens_cached, output_tokens) >= 0)
) PARTITION BY RANGE (request_id);
CREATE INDEX usage_record_request ON usage_record USING brin (request_id);
CREATE INDEX usage_record_late ON usage_record (account_id, settled_at) WHERE settled_late(request_id, settled_at);
CREATE TABLE usage_record_default PARTITION OF usage_record DEFAULT;

-- What a request came to whose hold recovery had resolved before it was settled.
CREATE TABLE late_usage (
  account_id            uuid        NOT NULL,
  request_id            uuid        NOT NULL,
  cost                  bigint      NOT NULL CHECK (cost >= 0),
  charge                bigint      NOT NULL CHECK (charge >= 0 AND charge <= cost),
  input_tokens_uncached int         NOT NULL CHECK (input_tokens_uncached >= 0),
  input_tokens_cached   int         NOT NULL CHECK (input_tokens_cached >= 0),
  output_tokens         int         NOT NULL CHECK (output_tokens >= 0),
  other_tokens          jsonb,
  metering              jsonb,
  unbilled_cost         bigint      NOT NULL CHECK (unbilled_cost >= 0),
  basis                 text        NOT NULL,
  upstream              text,
  upstream_model        text,
  upstream_request_id   text,
  upstream_cost         bigint,
  streamed              boolean     NOT NULL,
  duration_ms           int         NOT NULL,
  first_byte_ms         int,
  clamped               boolean     NOT NULL,
  settled_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, request_id)
);

-- The serving processes. Only one whose renewals had no gap for a whole term may declare another dead.
CREATE TABLE process (
  id            uuid        NOT NULL PRIMARY KEY,
  started_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  renewed_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at    timestamptz NOT NULL,
  gapless_since timestamptz NOT NULL DEFAULT clock_timestamp(),
  dead_at       timestamptz
) WITH (fillfactor = 50);

-- Up to where an account was audited: its usage records up to an id and its postings before an id come to `posted`.
-- Each row is true by itself, whichever process wrote it last.
CREATE TABLE audit_checkpoint (
  account_id      uuid          NOT NULL PRIMARY KEY,
  posted          numeric(38,0) NOT NULL,
  usage_through   uuid          NOT NULL,
  looked_through  uuid          NOT NULL,
  postings_before uuid          NOT NULL
) WITH (fillfactor = 70);

-- The last run of each kind. covered_at: everything committed before it was looked at by the run that finished last.
CREATE TABLE audit_run (
  kind            text        NOT NULL PRIMARY KEY CHECK (kind IN ('incremental', 'full')),
  started_at      timestamptz,
  covered_at      timestamptz,
  finished_at     timestamptz,
  violations      int         NOT NULL DEFAULT 0,
  postings_before uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  found           jsonb       NOT NULL DEFAULT '[]'
) WITH (fillfactor = 50);
INSERT INTO audit_run (kind) VALUES ('incremental'), ('full');

-- One row: every process reads it now and then.
CREATE TABLE admission_switch (
  the_row    boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
  stopped_at timestamptz,
  reason     text,
  CHECK ((stopped_at IS NULL) = (reason IS NULL))
);
INSERT INTO admission_switch DEFAULT VALUES;

GRANT SELECT, INSERT, UPDATE ON account, audit_checkpoint TO saldo_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON hold, process TO saldo_serve;
GRANT SELECT, INSERT ON usage_record, late_usage TO saldo_serve;
GRANT SELECT ON usage_record_default TO saldo_serve;
GRANT SELECT, UPDATE ON audit_run, admission_switch TO saldo_serve;
