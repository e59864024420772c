-- Automatic top-ups: saved payment methods, what an account wants, the orders that are charged, and the mails: billing/auto-top-ups/README.md.

-- A way to pay that a provider saved for us. token is a secret and is encrypted; a removed method has none. label is what its owner sees.
CREATE TABLE payment_method (
  id         uuid        NOT NULL PRIMARY KEY,
  account_id uuid        NOT NULL REFERENCES account (id),
  provider   text        NOT NULL,
  token      text,
  label      text        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  removed_at timestamptz,
  CONSTRAINT payment_method_token CHECK ((token IS NULL) = (removed_at IS NOT NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX payment_method_one ON payment_method (account_id) WHERE removed_at IS NULL;

-- Money is micro-rupiah. resumed_at: refusals before it do not count. paused_at: too many charges in a row were refused.
CREATE TABLE auto_top_up (
  account_id  uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
  is_on       boolean     NOT NULL,
  threshold   bigint      NOT NULL CHECK (threshold > 0),
  amount      bigint      NOT NULL CHECK (amount > 0),
  monthly_cap bigint      NOT NULL CHECK (monthly_cap > 0),
  resumed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  paused_at   timestamptz,
  updated_at  timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);
CREATE INDEX auto_top_up_on ON auto_top_up (account_id) WHERE is_on AND paused_at IS NULL;

-- A mail that an account is owed, once for what it is about.
CREATE TABLE auto_top_up_notice (
  id            uuid        NOT NULL PRIMARY KEY,
  account_id    uuid        NOT NULL REFERENCES account (id),
  kind          text        NOT NULL CHECK (kind IN ('succeeded', 'failed', 'paused', 'capped')),
  about         text        NOT NULL,
  amount        bigint      NOT NULL,
  mail_at       timestamptz DEFAULT clock_timestamp(),
  mail_attempts integer     NOT NULL DEFAULT 0,
  mailed_at     timestamptz,
  CONSTRAINT auto_top_up_notice_once UNIQUE (account_id, about)
) WITH (fillfactor = 70);
CREATE INDEX auto_top_up_notice_due ON auto_top_up_notice (mail_at) WHERE mail_at IS NOT NULL;

-- method_id: the method that an automatic order charges. charge_called_at: when the provider was called for it, once for ever; it is
-- committed before the call. saves_method: the payer agreed to save the method that pays this order.
ALTER TABLE top_up
  ADD COLUMN method_id uuid,
  ADD COLUMN charge_called_at timestamptz,
  ADD COLUMN saves_method boolean,
  ADD CONSTRAINT top_up_method_id_fkey FOREIGN KEY (method_id) REFERENCES payment_method (id) NOT VALID;

-- The sandbox's own side: what the card that paid an order does when it is charged again.
ALTER TABLE sandbox_payment ADD COLUMN saved_card text;

GRANT SELECT, INSERT, UPDATE ON payment_method, auto_top_up, auto_top_up_notice TO saldo_serve;
