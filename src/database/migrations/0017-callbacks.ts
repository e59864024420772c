import { Migration } from "@mikro-orm/migrations";

// How merchants are told of their transfers: where, what is to be told, and how each attempt went.
export class Migration0017Callbacks extends Migration {
  override up(): void {
    // url null: nobody is called back. stopped_at: every attempt had failed for too long; note says so. Whatever changes
    // deliveries of a merchant, but for their making, holds this row's lock.
    this.addSql(`
      CREATE TABLE callback_settings (
        merchant_id   uuid        NOT NULL PRIMARY KEY REFERENCES merchant (id),
        url           text,
        token         text        NOT NULL,
        secret        text        NOT NULL,
        failing_since timestamptz,
        stopped_at    timestamptz,
        updated_at    timestamptz NOT NULL DEFAULT clock_timestamp()
      ) WITH (fillfactor = 70)`);
    // One for each event of a transfer that was written while its merchant wanted to be called, in the same transaction.
    // next_attempt_at is when it is due; while is_leased it is being attempted, until that moment at the latest.
    // is_passable: the receiver has answered often enough, only not with OK, so later events no longer wait for this one.
    this.addSql(`
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
      ) WITH (fillfactor = 70)`);
    this.addSql(`
      CREATE INDEX callback_delivery_due ON callback_delivery (merchant_id, next_attempt_at) WHERE state = 'pending'`);
    this.addSql(`CREATE INDEX callback_delivery_leased ON callback_delivery (merchant_id) WHERE is_leased`);
    this.addSql(`CREATE INDEX callback_delivery_of_transfer ON callback_delivery (transfer_id, event_at)`);
    this.addSql(`CREATE INDEX callback_delivery_of_merchant ON callback_delivery (merchant_id, event_id DESC)`);

    this.addSql(`
      CREATE TABLE callback_attempt (
        id          uuid        NOT NULL PRIMARY KEY,
        event_id    uuid        NOT NULL REFERENCES callback_delivery (event_id),
        url         text        NOT NULL,
        started_at  timestamptz NOT NULL,
        duration_ms int         NOT NULL CHECK (duration_ms >= 0),
        http_status int,
        problem     text
      )`);
    this.addSql(`CREATE INDEX callback_attempt_of ON callback_attempt (event_id, id)`);
    this.addSql(
      `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON callback_attempt FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(
      `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON callback_attempt FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(`ALTER TABLE callback_attempt ENABLE ALWAYS TRIGGER append_only`);
    this.addSql(`ALTER TABLE callback_attempt ENABLE ALWAYS TRIGGER append_only_truncate`);

    this.addSql(`GRANT SELECT, INSERT, UPDATE ON callback_settings, callback_delivery TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT ON callback_attempt TO saldo_serve`);
  }
}
