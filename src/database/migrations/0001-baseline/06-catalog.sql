-- The catalog of models and upstreams, and what is learned of them while they answer.

CREATE TABLE catalog_upstream (
  id                    text        NOT NULL PRIMARY KEY,
  kind                  text        NOT NULL,
  base_url              text        NOT NULL,
  api_key_env           text,
  allow_private_address boolean     NOT NULL,
  connect_timeout_ms    int         NOT NULL,
  first_byte_timeout_ms int         NOT NULL,
  idle_timeout_ms       int         NOT NULL,
  state                 text        NOT NULL CHECK (state IN ('active', 'retired')),
  updated_at            timestamptz NOT NULL DEFAULT clock_timestamp(),
  charges_cache_writes  boolean     NOT NULL DEFAULT false,
  output_cap_field      text        NOT NULL DEFAULT 'max_tokens'
    CHECK (output_cap_field IN ('max_tokens', 'max_completion_tokens'))
);

-- Prices are micro-rupiah per million tokens. The order of routes is the order in which they are tried. media_tokens: how many
-- are held for one part, by kind. A retired model keeps its row: old usage records name it. hidden_output: the model writes
-- output that is not shown as it is produced, so its streams hold the whole bound instead of a slab at a time.
CREATE TABLE catalog_model (
  id                text        NOT NULL PRIMARY KEY,
  name              text        NOT NULL,
  description       text        NOT NULL,
  badge             text,
  input_modalities  text[]      NOT NULL,
  context_length    int         NOT NULL CHECK (context_length > 0),
  max_output_tokens int         NOT NULL CHECK (max_output_tokens > 0),
  input_price       bigint      NOT NULL CHECK (input_price BETWEEN 0 AND 1000000000000000),
  output_price      bigint      NOT NULL CHECK (output_price BETWEEN 0 AND 1000000000000000),
  cache_hit_price   bigint      CHECK (cache_hit_price BETWEEN 0 AND 1000000000000000),
  routes            jsonb       NOT NULL,
  media_tokens      jsonb       NOT NULL,
  state             text        NOT NULL CHECK (state IN ('active', 'retired')),
  created_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  hidden_output     boolean     NOT NULL DEFAULT false,
  other_prices      jsonb
);

-- What every apply changed, for ever: a subject such as `model:acme/large`, and how the file put it before and after.
CREATE TABLE catalog_change (
  id               uuid        NOT NULL PRIMARY KEY,
  subject          text        NOT NULL,
  change           text        NOT NULL CHECK (change IN ('added', 'changed', 'retired')),
  before           jsonb,
  after            jsonb,
  changed_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  version          int,
  price_difference jsonb
);
CREATE INDEX catalog_change_version ON catalog_change (version, id);

-- Every catalog that was published, whole. The next number is taken under the lock of the catalog.
CREATE TABLE catalog_version (
  number       int         NOT NULL PRIMARY KEY CHECK (number > 0),
  operator     text        NOT NULL,
  reason       text,
  yaml         text        NOT NULL,
  published_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- How calls to each upstream went, by the minute: every process adds its counts. first_byte holds how many answers began
-- within each class of times. Rows go after a day.
CREATE TABLE upstream_minute (
  upstream       text        NOT NULL,
  minute         timestamptz NOT NULL,
  answered       bigint      NOT NULL,
  failed         bigint      NOT NULL,
  first_byte     bigint[]    NOT NULL,
  last_failed_at timestamptz,
  last_failure   text,
  PRIMARY KEY (upstream, minute)
) WITH (fillfactor = 70);
CREATE INDEX upstream_minute_minute ON upstream_minute (minute);

-- Upstreams that sent bytes which answer no request. Rows go after a month.
CREATE TABLE upstream_mark (
  upstream    text        NOT NULL PRIMARY KEY,
  mixed_up_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Models that were billed for output that was not shown, with the answer that showed it.
CREATE TABLE learned_model (
  model               text        NOT NULL PRIMARY KEY,
  upstream            text        NOT NULL,
  request_id          uuid        NOT NULL,
  hidden_output_since timestamptz NOT NULL DEFAULT clock_timestamp()
);

GRANT SELECT, INSERT, UPDATE ON catalog_upstream, catalog_model TO saldo_serve;
GRANT SELECT, INSERT ON catalog_change, catalog_version, learned_model TO saldo_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON upstream_minute, upstream_mark TO saldo_serve;
