-- Top-ups, what providers reported of them, what accounts owe after a refund, and sums of usage. Money is micro-rupiah.

-- next_check_at is the queue: when the provider is asked next, null when it need not be; failures counts how often in a row it
-- gave no answer. opening_until: a process is opening the order at the provider. revision grows with whatever a watcher is to
-- see. dispute: how its disputes stand together, while an operator has to look at them.
CREATE TABLE top_up (
  id                 uuid        NOT NULL PRIMARY KEY,
  account_id         uuid        NOT NULL REFERENCES account (id),
  idempotency_key    text        NOT NULL,
  amount             bigint      NOT NULL CHECK (amount > 0),
  provider           text        NOT NULL,
  state              text        NOT NULL DEFAULT 'created' CHECK (state IN ('created', 'pending', 'review', 'expired',
                                   'failed', 'canceled', 'paid', 'partially_refunded', 'refunded', 'charged_back')),
  provider_reference text,
  payment_url        text,
  given_back         bigint      NOT NULL DEFAULT 0 CHECK (given_back BETWEEN 0 AND amount),
  problem            text,
  revision           int         NOT NULL DEFAULT 1,
  failures           int         NOT NULL DEFAULT 0,
  next_check_at      timestamptz,
  opening_until      timestamptz,
  created_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at         timestamptz NOT NULL,
  paid_at            timestamptz,
  changed_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  dispute            text        CHECK (dispute IN ('open', 'lost')),
  UNIQUE (account_id, idempotency_key),
  CONSTRAINT top_up_credited CHECK (
    (paid_at IS NOT NULL) = (state IN ('paid', 'partially_refunded', 'refunded', 'charged_back'))),
  CONSTRAINT top_up_given_back CHECK (given_back = 0 OR paid_at IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX top_up_account ON top_up (account_id, id);
CREATE INDEX top_up_due ON top_up (next_check_at) WHERE next_check_at IS NOT NULL;
CREATE INDEX top_up_changed ON top_up (changed_at);
CREATE INDEX top_up_reference ON top_up (provider, provider_reference);
CREATE INDEX top_up_attention ON top_up (id) WHERE state = 'review' OR problem IS NOT NULL OR dispute IS NOT NULL;
CREATE INDEX top_up_by_state ON top_up (provider, state, id);

-- What providers reported, each once, as it was sent: no status in here is believed. Bodies are not kept, they name people.
CREATE TABLE payment_event (
  id          uuid        NOT NULL PRIMARY KEY,
  provider    text        NOT NULL,
  event_key   text        NOT NULL,
  order_id    text        NOT NULL,
  top_up_id   uuid        REFERENCES top_up (id),
  status      text        NOT NULL,
  amount      text        NOT NULL,
  finding     text        NOT NULL CHECK (finding IN ('as_ordered', 'unknown_order', 'other_provider', 'other_amount')),
  received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT payment_event_once UNIQUE (provider, event_key)
);
CREATE INDEX payment_event_top_up ON payment_event (top_up_id);

-- Disputes of payers, each by the provider's own name for it: a late report does not open one again that has ended.
CREATE TABLE payment_dispute (
  provider   text        NOT NULL,
  dispute_id text        NOT NULL,
  top_up_id  uuid        NOT NULL REFERENCES top_up (id),
  state      text        NOT NULL CHECK (state IN ('open', 'won', 'lost', 'settled')),
  told_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (provider, dispute_id)
);
CREATE INDEX payment_dispute_top_up ON payment_dispute (top_up_id);

-- What an account owes us: it was given back by the provider when the account no longer had it.
CREATE TABLE receivable (
  id         uuid        NOT NULL PRIMARY KEY,
  account_id uuid        NOT NULL REFERENCES account (id),
  top_up_id  uuid        NOT NULL REFERENCES top_up (id),
  amount     bigint      NOT NULL CHECK (amount > 0),
  collected  bigint      NOT NULL DEFAULT 0 CHECK (collected BETWEEN 0 AND amount),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX receivable_open ON receivable (account_id, id) WHERE collected < amount;
CREATE INDEX receivable_top_up ON receivable (top_up_id);
CREATE INDEX receivable_owed ON receivable (top_up_id) WHERE collected < amount;

-- The sandbox provider is a provider like any other, so this is its side of the world and not ours.
CREATE TABLE sandbox_payment (
  order_id   text        NOT NULL PRIMARY KEY,
  token      text        NOT NULL UNIQUE,
  amount     bigint      NOT NULL,
  paid       bigint      NOT NULL DEFAULT 0,
  given_back bigint      NOT NULL DEFAULT 0,
  status     text        NOT NULL DEFAULT 'pending',
  return_url text        NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE TABLE sandbox_provider (
  the_row        boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
  webhook_secret text    NOT NULL
);
-- Play money, so its secret may lie beside it; random, so that it cannot be found in the sources.
INSERT INTO sandbox_provider (webhook_secret)
SELECT encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex');

-- Sums of usage that summaries are read from. A worker makes them out of the records; billing/README.md says how they stay
-- equal to them. Sums are of a quarter of an hour in UTC, because every time zone's days begin at one.
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
  cache_write           bigint NOT NULL DEFAULT 0,
  cache_write_1h        bigint NOT NULL DEFAULT 0,
  audio_input           bigint NOT NULL DEFAULT 0,
  image_input           bigint NOT NULL DEFAULT 0,
  image_output          bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, quarter, model, key_id, basis)
);
-- Up to which quarter an account is rolled up, and what its roll-ups come to in charges.
CREATE TABLE usage_rolled_up (
  account_id     uuid          NOT NULL PRIMARY KEY,
  before_quarter int           NOT NULL DEFAULT 0,
  charge         numeric(38,0) NOT NULL DEFAULT 0,
  rolled_at      timestamptz   NOT NULL DEFAULT clock_timestamp(),
  recounted_at   timestamptz
) WITH (fillfactor = 70);

-- The mail that comes when a balance falls below a threshold. next_attempt_at is set while a mail is owed.
CREATE TABLE low_balance_alert (
  account_id      uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
  threshold       bigint      NOT NULL CHECK (threshold > 0),
  is_below        boolean     NOT NULL,
  next_attempt_at timestamptz,
  attempts        int         NOT NULL DEFAULT 0,
  notified_at     timestamptz
);
CREATE INDEX low_balance_alert_due ON low_balance_alert (next_attempt_at) WHERE next_attempt_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON top_up, payment_dispute, receivable, sandbox_payment, usage_rolled_up TO saldo_serve;
GRANT SELECT, INSERT ON payment_event TO saldo_serve;
GRANT SELECT ON sandbox_provider TO saldo_serve;
GRANT SELECT, INSERT, DELETE ON usage_roll_up TO saldo_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON low_balance_alert TO saldo_serve;
