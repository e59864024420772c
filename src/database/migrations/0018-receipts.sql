-- Tax on top-ups, and the receipts of paid ones. A top-up's amount stays what its account is credited; tax is paid on top of it, and is null
-- where the version before wrote the row: no tax. tax_rate is in hundredths of a percent. receipted_at: the receipt is written;
-- noted_back: how much of what was given back, tax included, credit notes are written for.

ALTER TABLE top_up
  ADD COLUMN tax bigint,
  ADD COLUMN tax_rate int,
  ADD COLUMN tax_included boolean,
  ADD COLUMN tax_given_back bigint,
  ADD COLUMN receipted_at timestamptz,
  ADD COLUMN noted_back bigint,
  ADD CONSTRAINT top_up_tax CHECK (
    (tax IS NULL OR tax >= 0) AND (tax_rate IS NULL OR tax_rate BETWEEN 0 AND 10000)
    AND coalesce(tax_given_back, 0) BETWEEN 0 AND coalesce(tax, 0)) NOT VALID;

-- The last number of each series in each year. Its row is the lock behind which the next one is taken.
CREATE TABLE receipt_series (
  series      text NOT NULL,
  year        int  NOT NULL,
  last_number int  NOT NULL DEFAULT 0 CHECK (last_number >= 0),
  PRIMARY KEY (series, year)
);

-- A receipt of a paid top-up, or a credit note for what was given back of one. All that it shows is copied here, so that later
-- settings do not change it. given_back: what its top-up has given back up to this note; 0 on a receipt.
CREATE TABLE receipt (
  id           uuid        NOT NULL PRIMARY KEY,
  kind         text        NOT NULL CHECK (kind IN ('receipt', 'credit_note')),
  series       text        NOT NULL,
  year         int         NOT NULL,
  number       int         NOT NULL CHECK (number > 0),
  account_id   uuid        NOT NULL REFERENCES account (id),
  top_up_id    uuid        NOT NULL REFERENCES top_up (id),
  net          bigint      NOT NULL CHECK (net >= 0),
  tax          bigint      NOT NULL CHECK (tax >= 0),
  tax_rate     int         NOT NULL,
  tax_included boolean     NOT NULL,
  given_back   bigint      NOT NULL,
  provider     text        NOT NULL,
  seller       jsonb       NOT NULL,
  buyer        jsonb       NOT NULL,
  dated_at     timestamptz NOT NULL,
  issued_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT receipt_number UNIQUE (series, year, number),
  CONSTRAINT receipt_once UNIQUE (top_up_id, kind, given_back),
  CONSTRAINT receipt_amount CHECK (net + tax > 0 AND (kind = 'receipt') = (given_back = 0))
);
CREATE INDEX receipt_account ON receipt (account_id, id);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON receipt FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON receipt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE receipt ENABLE ALWAYS TRIGGER append_only, ENABLE ALWAYS TRIGGER append_only_truncate;

-- The buyer on an account's next receipts.
CREATE TABLE receipt_buyer (
  account_id uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
  name       text        NOT NULL,
  address    text        NOT NULL,
  npwp       text        NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

GRANT SELECT, INSERT, UPDATE ON receipt_series, receipt_buyer TO saldo_serve;
GRANT SELECT, INSERT ON receipt TO saldo_serve;
