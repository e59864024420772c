-- Alerts of accounts, by mail and by a signed webhook: billing/alerts/README.md.

-- What an account is notified of. daily_spend is micro-rupiah; null: the spend of days is not watched.
CREATE TABLE alert_settings (
  account_id    uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
  daily_spend   bigint      CHECK (daily_spend > 0),
  percents      integer[]   NOT NULL CHECK (percents <@ ARRAY[50, 80, 100]),
  mail_types    text[]      NOT NULL,
  webhook_types text[]      NOT NULL,
  since         timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

-- An alert: decided once, by this row, over all processes. A mail of it is owed while mail_at is set.
CREATE TABLE alert_event (
  id            uuid        NOT NULL PRIMARY KEY,
  account_id    uuid        NOT NULL REFERENCES account (id),
  type          text        NOT NULL CHECK (type IN ('balance.low', 'key.budget_reached', 'usage.daily', 'top_up.succeeded')),
  crossing      text        NOT NULL,
  percent       integer     NOT NULL DEFAULT 0,
  data          jsonb       NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  mail_at       timestamptz,
  mail_attempts integer     NOT NULL DEFAULT 0,
  mailed_at     timestamptz,
  CONSTRAINT alert_event_once UNIQUE (account_id, crossing, percent)
) WITH (fillfactor = 70);
CREATE INDEX alert_event_mail ON alert_event (mail_at) WHERE mail_at IS NOT NULL;

-- Where an account's alerts are posted; like callback_settings.
CREATE TABLE webhook_settings (
  account_id    uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
  url           text,
  secret        text        NOT NULL,
  failing_since timestamptz,
  stopped_at    timestamptz,
  updated_at    timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

CREATE TABLE webhook_delivery (
  event_id        uuid        NOT NULL PRIMARY KEY REFERENCES alert_event (id),
  event_at        timestamptz NOT NULL,
  account_id      uuid        NOT NULL REFERENCES webhook_settings (account_id),
  state           text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts        integer     NOT NULL DEFAULT 0,
  is_leased       boolean     NOT NULL DEFAULT false,
  is_passable     boolean     NOT NULL DEFAULT false,
  next_attempt_at timestamptz,
  give_up_at      timestamptz NOT NULL,
  note            text,
  CONSTRAINT webhook_due CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL)),
  CONSTRAINT webhook_lease CHECK (NOT is_leased OR state = 'pending')
) WITH (fillfactor = 70);
CREATE INDEX webhook_delivery_due ON webhook_delivery (account_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_delivery_leased ON webhook_delivery (account_id) WHERE is_leased;
CREATE INDEX webhook_delivery_of_account ON webhook_delivery (account_id, event_id DESC);

CREATE TABLE webhook_attempt (
  id          uuid        NOT NULL PRIMARY KEY,
  event_id    uuid        NOT NULL REFERENCES webhook_delivery (event_id),
  url         text        NOT NULL,
  started_at  timestamptz NOT NULL,
  duration_ms integer     NOT NULL CHECK (duration_ms >= 0),
  http_status integer,
  problem     text
);
CREATE INDEX webhook_attempt_of ON webhook_attempt (event_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON webhook_attempt FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON webhook_attempt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE webhook_attempt ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;

GRANT SELECT, INSERT, UPDATE ON alert_settings, alert_event, webhook_settings, webhook_delivery TO saldo_serve;
GRANT SELECT, INSERT ON webhook_attempt TO saldo_serve;
