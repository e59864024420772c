-- Merchants, their funds and fees, what they order, and how they are called back. Amounts of an asset are in its smallest unit.

CREATE TABLE merchant (
  id          uuid        NOT NULL PRIMARY KEY,
  account_id  uuid        NOT NULL REFERENCES account (id),
  environment text        NOT NULL CHECK (environment IN ('sandbox', 'production')),
  created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX merchant_account ON merchant (account_id);

-- A pair is shown once; only the digests stay. The key half is not secret but is stored like one, so that a dump of
-- the database names no credential at all.
CREATE TABLE merchant_credential (
  id            uuid        NOT NULL PRIMARY KEY,
  merchant_id   uuid        NOT NULL REFERENCES merchant (id),
  key_digest    bytea       NOT NULL UNIQUE,
  secret_digest bytea       NOT NULL,
  key_prefix    text        NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at    timestamptz
);

-- What a merchant has per asset: a ledger account.
CREATE TABLE merchant_fund (
  merchant_id uuid          NOT NULL REFERENCES merchant (id),
  asset       text          NOT NULL,
  id          uuid          NOT NULL UNIQUE,
  posted      numeric(38,0) NOT NULL DEFAULT 0,
  held        numeric(38,0) NOT NULL DEFAULT 0,
  PRIMARY KEY (merchant_id, asset),
  CONSTRAINT merchant_fund_never_negative CHECK (held >= 0 AND posted >= held)
) WITH (fillfactor = 50);

-- The most specific row that fits a quote applies whole: merchant and currency, merchant, currency, default. Rows are
-- never changed; a newer version replaces an older one. Amounts are decimal texts in whole coins, the rate is percent.
CREATE TABLE fee_schedule (
  id            uuid        NOT NULL PRIMARY KEY,
  merchant_id   uuid        REFERENCES merchant (id),
  currency_code text,
  version       int         NOT NULL CHECK (version > 0),
  flat          text        NOT NULL,
  rate          text        NOT NULL,
  min           text,
  max           text,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE UNIQUE INDEX fee_schedule_version ON fee_schedule (
  coalesce(merchant_id, '00000000-0000-0000-0000-000000000000'::uuid), coalesce(currency_code, ''), version);
INSERT INTO fee_schedule (id, currency_code, version, flat, rate) VALUES
  ('00000000-0000-7000-8000-00000000fee0', NULL, 1, '0', '0.3'),
  ('00000000-0000-7000-8000-00000000fee1', 'TRX', 1, '16.7', '0');

-- What a merchant may order of a currency, on whatever network, in whole coins; null: no such limit. The row is opened
-- with the first transfer, because it also counts what was ordered on a day: a sum of other rows cannot be locked.
CREATE TABLE merchant_limit (
  merchant_id    uuid           NOT NULL REFERENCES merchant (id),
  currency_code  text           NOT NULL,
  per_transfer   numeric(38,18) CHECK (per_transfer > 0),
  daily          numeric(38,18) CHECK (daily > 0),
  approval_above numeric(38,18) CHECK (approval_above >= 0),
  used_day       date,
  used           numeric(38,18) NOT NULL DEFAULT 0 CHECK (used >= 0),
  PRIMARY KEY (merchant_id, currency_code)
) WITH (fillfactor = 50);

-- What a production merchant may order until an operator sets something else. In whole coins, as merchant_limit.
CREATE TABLE default_limit (
  currency_code  text           NOT NULL PRIMARY KEY,
  per_transfer   numeric(38,18) CHECK (per_transfer > 0),
  daily          numeric(38,18) CHECK (daily > 0),
  approval_above numeric(38,18) CHECK (approval_above >= 0)
);
INSERT INTO default_limit (currency_code, per_transfer, daily, approval_above) VALUES
  ('USDT', 10000, 50000, 1000), ('USDC', 10000, 50000, 1000), ('ETH', 3, 15, 0.3), ('BNB', 15, 75, 1.5),
  ('BTC', 0.1, 0.5, 0.01), ('LTC', 100, 500, 10), ('SOL', 60, 300, 6), ('TRX', 30000, 150000, 3000);

-- What was ordered is never changed, only how it stands: the serving role may write no other column. implied_network: whether
-- leaving `network` out of the order would have meant the same.
CREATE TABLE transfer (
  id               uuid          NOT NULL PRIMARY KEY,
  merchant_id      uuid          NOT NULL REFERENCES merchant (id),
  environment      text          NOT NULL CHECK (environment IN ('sandbox', 'production')),
  external_id      text          NOT NULL,
  slug             text          NOT NULL CONSTRAINT transfer_slug UNIQUE,
  currency_code    text          NOT NULL,
  network          text          NOT NULL,
  implied_network  boolean       NOT NULL,
  asset            text          NOT NULL,
  address          text          NOT NULL,
  ordered_address  text          NOT NULL,
  received         numeric(38,0) NOT NULL CHECK (received > 0),
  fee              numeric(38,0) NOT NULL CHECK (fee >= 0),
  total            numeric(38,0) NOT NULL,
  fee_id           uuid          NOT NULL REFERENCES fee_schedule (id),
  status           text          NOT NULL
    CHECK (status IN ('PENDING', 'WAITING', 'SUBMITTED', 'CONFIRMED', 'REJECTED', 'CANCELED')),
  awaits_approval  boolean       NOT NULL,
  transaction_hash text,
  confirmations    int           NOT NULL DEFAULT 0 CHECK (confirmations >= 0),
  reason           text,
  created_at       timestamptz   NOT NULL DEFAULT clock_timestamp(),
  updated_at       timestamptz   NOT NULL DEFAULT clock_timestamp(),
  confirmed_at     timestamptz,
  CONSTRAINT transfer_external_id UNIQUE (merchant_id, environment, external_id),
  CONSTRAINT transfer_total CHECK (total = received + fee),
  CONSTRAINT transfer_confirmed CHECK (
    (confirmed_at IS NOT NULL) = (status = 'CONFIRMED') AND (status <> 'CONFIRMED' OR transaction_hash IS NOT NULL)),
  CONSTRAINT transfer_approval CHECK (NOT awaits_approval OR status IN ('WAITING', 'REJECTED', 'CANCELED'))
) WITH (fillfactor = 70);
CREATE INDEX transfer_of_merchant ON transfer (merchant_id, created_at DESC, id DESC);
-- Transfers under way are few beside those that have ended: workers and the audit look here.
CREATE INDEX transfer_open ON transfer (status, id) WHERE status IN ('PENDING', 'WAITING', 'SUBMITTED');
-- Operators look transfers up by the merchants' own names for them, and list those of a merchant, a status and a world.
CREATE INDEX transfer_by_external_id ON transfer (external_id);
CREATE INDEX transfer_by_merchant ON transfer (merchant_id, status, id);
CREATE INDEX transfer_by_status ON transfer (environment, status, id);

-- Every state a transfer has been in, with what was known then: its history, and the list of what is to be reported.
CREATE TABLE transfer_event (
  id               uuid        NOT NULL PRIMARY KEY,
  transfer_id      uuid        NOT NULL REFERENCES transfer (id),
  status           text        NOT NULL,
  transaction_hash text,
  confirmations    int         NOT NULL,
  reason           text,
  created_at       timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX transfer_event_of ON transfer_event (transfer_id, id);

-- url null: the merchant is not called back. stopped_at: every attempt had failed for too long; note says so. Whatever changes
-- deliveries of a merchant, but for their making, holds this row's lock.
CREATE TABLE callback_settings (
  merchant_id   uuid        NOT NULL PRIMARY KEY REFERENCES merchant (id),
  url           text,
  token         text        NOT NULL,
  secret        text        NOT NULL,
  failing_since timestamptz,
  stopped_at    timestamptz,
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

-- One for each event of a transfer that was written while its merchant wanted to be called, in the same transaction.
-- next_attempt_at is when it is due; while is_leased it is being attempted, until that moment at the latest.
-- is_passable: the receiver has answered often enough, only not with OK, so later events no longer wait for this one.
CREATE TABLE callback_delivery (
  event_id        uuid        NOT NULL PRIMARY KEY REFERENCES transfer_event (id),
  event_at        timestamptz NOT NULL,
  transfer_id     uuid        NOT NULL REFERENCES transfer (id),
  merchant_id     uuid        NOT NULL REFERENCES callback_settings (merchant_id),
  state           text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts        int         NOT NULL DEFAULT 0,
  is_leased       boolean     NOT NULL DEFAULT false,
  is_passable     boolean     NOT NULL DEFAULT false,
  next_attempt_at timestamptz,
  give_up_at      timestamptz NOT NULL,
  note            text,
  CONSTRAINT callback_due CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
  CONSTRAINT callback_lease CHECK (NOT is_leased OR state = 'pending')
) WITH (fillfactor = 70);
CREATE INDEX callback_delivery_due ON callback_delivery (merchant_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX callback_delivery_leased ON callback_delivery (merchant_id) WHERE is_leased;
CREATE INDEX callback_delivery_of_transfer ON callback_delivery (transfer_id, event_at);
CREATE INDEX callback_delivery_of_merchant ON callback_delivery (merchant_id, event_id DESC);

CREATE TABLE callback_attempt (
  id          uuid        NOT NULL PRIMARY KEY,
  event_id    uuid        NOT NULL REFERENCES callback_delivery (event_id),
  url         text        NOT NULL,
  started_at  timestamptz NOT NULL,
  duration_ms int         NOT NULL CHECK (duration_ms >= 0),
  http_status int,
  problem     text
);
CREATE INDEX callback_attempt_of ON callback_attempt (event_id, id);

GRANT SELECT, INSERT ON merchant, fee_schedule, transfer, transfer_event, callback_attempt TO saldo_serve;
GRANT SELECT, INSERT, UPDATE ON merchant_credential, merchant_fund, merchant_limit, default_limit, callback_settings,
  callback_delivery TO saldo_serve;
GRANT UPDATE (status, awaits_approval, transaction_hash, confirmations, reason, updated_at, confirmed_at)
  ON transfer TO saldo_serve;
