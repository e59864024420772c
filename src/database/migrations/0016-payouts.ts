import { Migration } from "@mikro-orm/migrations";

// Payouts: the wallets that pay, every nonce of theirs and what became of it, every transaction that was ever signed; and the
// embedded chain of the sandbox.
export class Migration0016Payouts extends Migration {
  override up(): void {
    // next_nonce is taken under the row's lock. The lease keeps engines from doing the same work twice; that a payment goes
    // out once does not rest on it.
    this.addSql(`
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
        CONSTRAINT wallet_address UNIQUE (chain, address),
        CHECK (next_nonce >= first_nonce),
        CHECK ((leased_by IS NULL) = (leased_until IS NULL)),
        CHECK ((halted_at IS NULL) = (halt_reason IS NULL))
      ) WITH (fillfactor = 50)`);

    // One row per nonce. What it pays is the transfer's, whose order never changes; a nonce that somebody else used up before
    // we had chosen it has none.
    this.addSql(`
      CREATE TABLE payout (
        id             uuid        NOT NULL PRIMARY KEY,
        wallet_id      uuid        NOT NULL REFERENCES wallet (id),
        nonce          int         NOT NULL,
        transfer_id    uuid        REFERENCES transfer (id),
        state          text        NOT NULL
          CHECK (state IN ('chosen', 'signed', 'broadcast', 'confirmed', 'reverted', 'filled', 'displaced', 'foreign')),
        attempts       int         NOT NULL DEFAULT 0 CHECK (attempts >= 0),
        filling_reason text,
        final_hash     text,
        chosen_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
        ended_at       timestamptz,
        CONSTRAINT payout_nonce UNIQUE (wallet_id, nonce),
        CONSTRAINT payout_transfer CHECK ((transfer_id IS NULL) = (state = 'foreign')),
        CONSTRAINT payout_end CHECK (
          (ended_at IS NULL) = (state IN ('chosen', 'signed', 'broadcast')) AND (ended_at IS NULL) = (final_hash IS NULL))
      ) WITH (fillfactor = 70)`);
    // A transfer is paid by another nonce only when the one before was lost to somebody else.
    this.addSql(`CREATE UNIQUE INDEX payout_living ON payout (transfer_id) WHERE state <> 'displaced'`);
    this.addSql(`CREATE INDEX payout_of_transfer ON payout (transfer_id, id)`);
    this.addSql(
      `CREATE INDEX payout_open ON payout (wallet_id, nonce) WHERE state IN ('chosen', 'signed', 'broadcast')`,
    );

    // What was signed, before anybody else saw it. Only what the chain says of it is ever changed.
    this.addSql(`
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
      ) WITH (fillfactor = 70)`);
    this.addSql(`CREATE UNIQUE INDEX payout_attempt_final ON payout_attempt (payout_id) WHERE state = 'final'`);
    this.addSql(`
      CREATE FUNCTION refuse_other_bytes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (OLD.payout_id, OLD.number, OLD.kind, OLD.raw, OLD.hash, OLD.fee_most, OLD.fee_priority, OLD.signed_at)
           IS DISTINCT FROM
           (NEW.payout_id, NEW.number, NEW.kind, NEW.raw, NEW.hash, NEW.fee_most, NEW.fee_priority, NEW.signed_at) THEN
          RAISE EXCEPTION 'what was signed is never changed' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
      END $$`);
    this.addSql(
      `CREATE TRIGGER same_bytes BEFORE UPDATE ON payout_attempt FOR EACH ROW EXECUTE FUNCTION refuse_other_bytes()`,
    );
    this.addSql(`ALTER TABLE payout_attempt ENABLE ALWAYS TRIGGER same_bytes`);
    for (const table of ["payout", "payout_attempt"]) {
      this.addSql(`CREATE TRIGGER append_only BEFORE DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse_change()`);
      this.addSql(
        `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
      );
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_truncate`);
    }

    // The sandbox chain: transactions it was sent, and how many of its one wallet's nonces are used up.
    this.addSql(`
      CREATE TABLE sandbox_transaction (
        hash        text          NOT NULL PRIMARY KEY,
        nonce       int           NOT NULL,
        fee         numeric(38,0) NOT NULL,
        outcome     text          NOT NULL,
        ready_at_ms bigint,
        mined_at_ms bigint
      ) WITH (fillfactor = 70)`);
    this.addSql(
      `CREATE UNIQUE INDEX sandbox_transaction_holder ON sandbox_transaction (nonce) WHERE mined_at_ms IS NOT NULL`,
    );
    this.addSql(`CREATE INDEX sandbox_transaction_mempool ON sandbox_transaction (nonce) WHERE mined_at_ms IS NULL`);
    this.addSql(`
      CREATE TABLE sandbox_wallet (
        the_row          boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
        mined            int     NOT NULL DEFAULT 0,
        last_mined_at_ms bigint  NOT NULL DEFAULT 0
      ) WITH (fillfactor = 50)`);
    this.addSql(`INSERT INTO sandbox_wallet DEFAULT VALUES`);

    this.addSql(`GRANT SELECT, INSERT ON wallet, payout, payout_attempt, sandbox_transaction TO saldo_serve`);
    this.addSql(`
      GRANT UPDATE (next_nonce, leased_by, leased_until, halted_at, halt_reason) ON wallet TO saldo_serve`);
    this.addSql(`GRANT UPDATE (state, attempts, filling_reason, final_hash, ended_at) ON payout TO saldo_serve`);
    this.addSql(`
      GRANT UPDATE (broadcast_at, seen_at, state, block_number, block_hash) ON payout_attempt TO saldo_serve`);
    this.addSql(`GRANT UPDATE (ready_at_ms, mined_at_ms) ON sandbox_transaction TO saldo_serve`);
    this.addSql(`GRANT SELECT, UPDATE ON sandbox_wallet TO saldo_serve`);
  }
}
