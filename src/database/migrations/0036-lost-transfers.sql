-- What a signed transaction pays, so that a transfer which the books have lost can be made again with its payment. Null: a version
-- before this wrote the journal's line.
ALTER TABLE payout_lost_attempt ADD COLUMN transfer jsonb;

-- What a foreign transaction of a wallet paid. An order of the same payment may be the lost one, and waits for an operator.
CREATE TABLE payout_foreign_payment (
  hash          text          NOT NULL PRIMARY KEY,
  wallet_id     uuid          NOT NULL REFERENCES wallet (id),
  nonce         int           NOT NULL,
  network       text          NOT NULL,
  currency_code text          NOT NULL,
  address       text          NOT NULL,
  units         numeric(38,0) NOT NULL,
  found_at      timestamptz   NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX payout_foreign_payment_units ON payout_foreign_payment (units, address);

GRANT SELECT, INSERT ON payout_foreign_payment TO saldo_serve;
