-- Payouts: the wallets that pay, every nonce of theirs and what became of it, every transaction that was ever signed; and the
-- embedded chain of the sandbox.

-- next_nonce is taken under the row's lock. The lease keeps engines from doing the same work twice; that a payment goes
-- out once does not rest on it. head_number: the highest head that was believed, head_at: when it was first seen.
CREATE TABLE wallet (
  id           uuid        NOT NULL PRIMARY KEY,
  chain        text        NOT NULL,
  address      text        NOT NULL,
  first_nonce  int         NOT NULL CHECK (first_nonce >= 0),
  next_nonce   int         NOT NULL,
  leased_by    uuid,
  leased_until timestamptz,
  halted_at    timestamptz,
  halt_reason  text,
  head_number  bigint,
  head_at      timestamptz,
  CONSTRAINT wallet_address UNIQUE (chain, address),
  CHECK (next_nonce >= first_nonce),
  CHECK ((leased_by IS NULL) = (leased_until IS NULL)),
  CHECK ((halted_at IS NULL) = (halt_reason IS NULL))
) WITH (fillfactor = 50);

-- What a wallet was ordered to send of an asset, in its smallest unit, on a day in Jakarta. Its row is written behind the
-- wallet's lock.
CREATE TABLE wallet_day (
  wallet_id uuid          NOT NULL REFERENCES wallet (id),
  asset     text          NOT NULL,
  day       date          NOT NULL,
  units     numeric(38,0) NOT NULL CHECK (units >= 0),
  PRIMARY KEY (wallet_id, asset)
) WITH (fillfactor = 50);

-- One row per nonce. What it pays is the transfer's, whose order never changes; a nonce that another signer used up before we
-- had chosen it has none. recheck_at: when a payout that has ended is compared with its chain again. reopened_at: its final
-- transaction had vanished.
CREATE TABLE payout (
  id                uuid        NOT NULL PRIMARY KEY,
  wallet_id         uuid        NOT NULL REFERENCES wallet (id),
  nonce             int         NOT NULL,
  transfer_id       uuid        REFERENCES transfer (id),
  state             text        NOT NULL
    CHECK (state IN ('chosen', 'signed', 'broadcast', 'confirmed', 'reverted', 'filled', 'displaced', 'foreign')),
  attempts          int         NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  filling_reason    text,
  final_hash        text,
  chosen_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at          timestamptz,
  recheck_at        timestamptz,
  reopened_at       timestamptz,
  short_accepted_at timestamptz,
  CONSTRAINT payout_nonce UNIQUE (wallet_id, nonce),
  CONSTRAINT payout_transfer CHECK ((transfer_id IS NULL) = (state = 'foreign')),
  CONSTRAINT payout_end CHECK (
    (ended_at IS NULL) = (state IN ('chosen', 'signed', 'broadcast')) AND (ended_at IS NULL) = (final_hash IS NULL))
) WITH (fillfactor = 70);
-- A transfer is paid by another nonce only when the one before was lost to another signer.
CREATE UNIQUE INDEX payout_living ON payout (transfer_id) WHERE state <> 'displaced';
CREATE INDEX payout_of_transfer ON payout (transfer_id, id);
CREATE INDEX payout_open ON payout (wallet_id, nonce) WHERE state IN ('chosen', 'signed', 'broadcast');
CREATE INDEX payout_lost ON payout (wallet_id, nonce) WHERE state IN ('displaced', 'foreign');
CREATE INDEX payout_recheck ON payout (wallet_id, recheck_at) WHERE recheck_at IS NOT NULL;

-- What was signed, written before it left the process. Only what the chain says of it is ever changed.
CREATE TABLE payout_attempt (
  payout_id    uuid          NOT NULL REFERENCES payout (id),
  number       int           NOT NULL CHECK (number > 0),
  kind         text          NOT NULL CHECK (kind IN ('payment', 'filler')),
  raw          text          NOT NULL,
  hash         text          NOT NULL CONSTRAINT payout_attempt_hash UNIQUE,
  fee_most     numeric(38,0) NOT NULL,
  fee_priority numeric(38,0) NOT NULL,
  signed_at    timestamptz   NOT NULL DEFAULT clock_timestamp(),
  broadcast_at timestamptz,
  seen_at      timestamptz,
  state        text          NOT NULL DEFAULT 'signed' CHECK (state IN ('signed', 'seen', 'mined', 'final')),
  block_number bigint,
  block_hash   text,
  PRIMARY KEY (payout_id, number),
  CONSTRAINT payout_attempt_block CHECK (
    (state IN ('mined', 'final')) = (block_hash IS NOT NULL) AND (block_hash IS NULL) = (block_number IS NULL))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX payout_attempt_final ON payout_attempt (payout_id) WHERE state = 'final';
CREATE TRIGGER same_bytes BEFORE UPDATE ON payout_attempt FOR EACH ROW EXECUTE FUNCTION refuse_other_bytes();
ALTER TABLE payout_attempt ENABLE ALWAYS TRIGGER same_bytes;

-- scope: 'all', a chain, or a chain and a wallet's address.
CREATE TABLE payout_stop (
  scope      text        NOT NULL PRIMARY KEY,
  operator   text        NOT NULL,
  reason     text        NOT NULL,
  stopped_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The sandbox chain: transactions it was sent, and how many of its one wallet's nonces are used up.
CREATE TABLE sandbox_transaction (
  hash        text          NOT NULL PRIMARY KEY,
  nonce       int           NOT NULL,
  fee         numeric(38,0) NOT NULL,
  outcome     text          NOT NULL,
  ready_at_ms bigint,
  mined_at_ms bigint
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX sandbox_transaction_holder ON sandbox_transaction (nonce) WHERE mined_at_ms IS NOT NULL;
CREATE INDEX sandbox_transaction_mempool ON sandbox_transaction (nonce) WHERE mined_at_ms IS NULL;
CREATE TABLE sandbox_wallet (
  the_row          boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
  mined            int     NOT NULL DEFAULT 0,
  last_mined_at_ms bigint  NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
INSERT INTO sandbox_wallet DEFAULT VALUES;

GRANT SELECT, INSERT ON wallet, payout, payout_attempt, sandbox_transaction TO saldo_serve;
GRANT SELECT, INSERT, UPDATE ON wallet_day TO saldo_serve;
GRANT SELECT, INSERT, DELETE ON payout_stop TO saldo_serve;
GRANT SELECT, UPDATE ON sandbox_wallet TO saldo_serve;
GRANT UPDATE (next_nonce, leased_by, leased_until, halted_at, halt_reason, head_number, head_at) ON wallet TO saldo_serve;
GRANT UPDATE (state, attempts, filling_reason, final_hash, ended_at, recheck_at, reopened_at, short_accepted_at)
  ON payout TO saldo_serve;
GRANT UPDATE (broadcast_at, seen_at, state, block_number, block_hash) ON payout_attempt TO saldo_serve;
GRANT UPDATE (ready_at_ms, mined_at_ms) ON sandbox_transaction TO saldo_serve;
