-- Which history of the books a wallet has paid in, and the journals of signed transactions that nodes keep outside the database.
-- After a change of history each journal is compared with the books before the wallet takes another nonce.

ALTER TABLE wallet ADD COLUMN system_identifier text, ADD COLUMN timeline int;

-- A journal, and the history in which it was compared with the books last. final_nonce: the highest nonce that was final when
-- the journal removed it.
CREATE TABLE payout_journal (
  wallet_id         uuid        NOT NULL REFERENCES wallet (id),
  id                uuid        NOT NULL,
  host              text        NOT NULL,
  final_nonce       int,
  system_identifier text        NOT NULL,
  timeline          int         NOT NULL,
  compared_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (wallet_id, id)
);

-- A transaction that a journal has and the books lacked. resolved_at: the books have it again, or it can never be mined.
CREATE TABLE payout_lost_attempt (
  hash         text          NOT NULL PRIMARY KEY,
  wallet_id    uuid          NOT NULL REFERENCES wallet (id),
  journal_id   uuid          NOT NULL,
  nonce        int           NOT NULL,
  transfer_id  uuid          NOT NULL,
  number       int           NOT NULL,
  kind         text          NOT NULL CHECK (kind IN ('payment', 'filler')),
  raw          text          NOT NULL,
  fee_most     numeric(38,0) NOT NULL,
  fee_priority numeric(38,0) NOT NULL,
  found_at     timestamptz   NOT NULL DEFAULT clock_timestamp(),
  resolved_at  timestamptz
);

GRANT UPDATE (system_identifier, timeline) ON wallet TO saldo_serve;
GRANT SELECT, INSERT, UPDATE, DELETE ON payout_journal TO saldo_serve;
GRANT SELECT, INSERT ON payout_lost_attempt TO saldo_serve;
GRANT UPDATE (resolved_at) ON payout_lost_attempt TO saldo_serve;
