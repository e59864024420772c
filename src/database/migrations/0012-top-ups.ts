import { Migration } from "@mikro-orm/migrations";

// Top-ups: the orders, what providers told of them, what accounts owe after a refund, and the sandbox provider's own table.
export class Migration0012TopUps extends Migration {
  override up(): void {
    // next_check_at is the queue: when somebody asks the provider next, null when nobody has to; failures
    // counts how often in a row nobody was told anything. opening_until: somebody is
    // opening the order at the provider. revision grows with whatever a watcher is to see.
    this.addSql(`
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
        UNIQUE (account_id, idempotency_key),
        CONSTRAINT top_up_credited CHECK (
          (paid_at IS NOT NULL) = (state IN ('paid', 'partially_refunded', 'refunded', 'charged_back'))),
        CONSTRAINT top_up_given_back CHECK (given_back = 0 OR paid_at IS NOT NULL)
      ) WITH (fillfactor = 70)`);
    this.addSql(`CREATE INDEX top_up_account ON top_up (account_id, id)`);
    this.addSql(`CREATE INDEX top_up_due ON top_up (next_check_at) WHERE next_check_at IS NOT NULL`);
    this.addSql(`CREATE INDEX top_up_changed ON top_up (changed_at)`);
    this.addSql(`CREATE INDEX top_up_reference ON top_up (provider, provider_reference)`);

    // What providers told, each once, as they told it: no status in here is believed. Bodies are not kept, they name people.
    this.addSql(`
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
      )`);
    this.addSql(`CREATE INDEX payment_event_top_up ON payment_event (top_up_id)`);
    this.addSql(
      `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON payment_event FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(
      `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON payment_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(`ALTER TABLE payment_event ENABLE ALWAYS TRIGGER append_only`);
    this.addSql(`ALTER TABLE payment_event ENABLE ALWAYS TRIGGER append_only_truncate`);

    // What an account owes us: it was given back by the provider when the account no longer had it.
    this.addSql(`
      CREATE TABLE receivable (
        id         uuid        NOT NULL PRIMARY KEY,
        account_id uuid        NOT NULL REFERENCES account (id),
        top_up_id  uuid        NOT NULL REFERENCES top_up (id),
        amount     bigint      NOT NULL CHECK (amount > 0),
        collected  bigint      NOT NULL DEFAULT 0 CHECK (collected BETWEEN 0 AND amount),
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      ) WITH (fillfactor = 70)`);
    this.addSql(`CREATE INDEX receivable_open ON receivable (account_id, id) WHERE collected < amount`);
    this.addSql(`CREATE INDEX receivable_top_up ON receivable (top_up_id)`);

    // The sandbox provider is a provider like any other, so this is its side of the world and not ours.
    this.addSql(`
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
      )`);
    this.addSql(`
      CREATE TABLE sandbox_provider (
        the_row        boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
        webhook_secret text    NOT NULL
      )`);
    // Play money, so its secret may lie beside it; random, so that nobody finds it in the sources.
    this.addSql(`
      INSERT INTO sandbox_provider (webhook_secret)
      SELECT encode(sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex')`);

    this.addSql(`GRANT SELECT, INSERT, UPDATE ON top_up, receivable, sandbox_payment TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT ON payment_event TO saldo_serve`);
    this.addSql(`GRANT SELECT ON sandbox_provider TO saldo_serve`);
  }
}
