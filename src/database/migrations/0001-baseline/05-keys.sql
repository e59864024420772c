-- API keys, rate windows of all callers, and names of requests.

-- slots and slot_counts are the rate window: see functions/rate_window.sql. rate_limit is requests a minute; 0: no limit.
-- is_playground: the key that stands for an account's own people in the dashboard's playground. Its secret is kept by no one.
CREATE TABLE api_key (
  account_id    uuid          NOT NULL,
  id            uuid          NOT NULL,
  digest        bytea         NOT NULL,
  name          text          NOT NULL,
  prefix        text          NOT NULL,
  last_four     text          NOT NULL,
  rate_limit    int           NOT NULL DEFAULT 60 CHECK (rate_limit BETWEEN 0 AND 1000000),
  slots         timestamptz[] NOT NULL DEFAULT '{}',
  slot_counts   int[]         NOT NULL DEFAULT '{}',
  created_at    timestamptz   NOT NULL DEFAULT clock_timestamp(),
  revoked_at    timestamptz,
  is_playground boolean       NOT NULL DEFAULT false,
  PRIMARY KEY (account_id, id)
) WITH (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.5);
ALTER TABLE api_key ALTER COLUMN slots SET STORAGE MAIN;
CREATE UNIQUE INDEX api_key_digest ON api_key (digest);
CREATE UNIQUE INDEX api_key_id ON api_key (id);
CREATE UNIQUE INDEX api_key_playground ON api_key (account_id) WHERE is_playground;

-- The rate windows of people, merchant pairs and service tokens. A window is worth a minute, so the table is unlogged: a slot
-- costs no wait for the disk or a standby, and a crash of the server empties it.
CREATE UNLOGGED TABLE caller_window (
  caller      uuid          NOT NULL PRIMARY KEY,
  slots       timestamptz[] NOT NULL DEFAULT '{}',
  slot_counts int[]         NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

-- Which request took a client's name for one.
CREATE TABLE idempotency_key (
  account_id  uuid        NOT NULL,
  key_id      uuid        NOT NULL,
  name        text        NOT NULL CHECK (length(name) BETWEEN 1 AND 255),
  request_id  uuid        NOT NULL,
  body_digest bytea       NOT NULL,
  taken_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (account_id, key_id, name)
);
CREATE INDEX idempotency_key_taken ON idempotency_key (taken_at);

-- An answer as it was sent, for retries, encrypted by the service: the database never has its text.
CREATE TABLE kept_answer (
  account_id uuid        NOT NULL,
  request_id uuid        NOT NULL,
  sealed     bytea       NOT NULL CHECK (octet_length(sealed) <= 1100000),
  kept_until timestamptz NOT NULL,
  PRIMARY KEY (account_id, request_id)
);
CREATE INDEX kept_answer_until ON kept_answer (kept_until);

GRANT SELECT, INSERT, UPDATE ON api_key TO saldo_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON caller_window, idempotency_key, kept_answer TO saldo_serve;
