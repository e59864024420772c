import { Migration } from "@mikro-orm/migrations";

// Merchants' transfers: what was ordered, every state it has been in, and what a merchant may order.
export class Migration0015Transfers extends Migration {
  override up(): void {
    // What a merchant may order of a currency, on whatever network, in whole coins; null: no such limit. The row is opened
    // with the first transfer, because it also counts what was ordered on a day: a sum of other rows cannot be locked.
    this.addSql(`
      CREATE TABLE merchant_limit (
        merchant_id    uuid           NOT NULL REFERENCES merchant (id),
        currency_code  text           NOT NULL,
        per_transfer   numeric(38,18) CHECK (per_transfer > 0),
        daily          numeric(38,18) CHECK (daily > 0),
        approval_above numeric(38,18) CHECK (approval_above >= 0),
        used_day       date,
        used           numeric(38,18) NOT NULL DEFAULT 0 CHECK (used >= 0),
        PRIMARY KEY (merchant_id, currency_code)
      ) WITH (fillfactor = 50)`);

    // Amounts are in the smallest unit of the asset. What was ordered is never changed, only how it stands: the serving role
    // may write no other column. implied_network: whether leaving \`network\` out of the order would have meant the same.
    this.addSql(`
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
      ) WITH (fillfactor = 70)`);
    this.addSql(`CREATE INDEX transfer_of_merchant ON transfer (merchant_id, created_at DESC, id DESC)`);
    // Transfers under way are few beside those that have ended: workers and the audit look here.
    this.addSql(`
      CREATE INDEX transfer_open ON transfer (status, id) WHERE status IN ('PENDING', 'WAITING', 'SUBMITTED')`);

    // Every state a transfer has been in, with what was known then: its history, and the list of what is to be told.
    this.addSql(`
      CREATE TABLE transfer_event (
        id               uuid        NOT NULL PRIMARY KEY,
        transfer_id      uuid        NOT NULL REFERENCES transfer (id),
        status           text        NOT NULL,
        transaction_hash text,
        confirmations    int         NOT NULL,
        reason           text,
        created_at       timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`CREATE INDEX transfer_event_of ON transfer_event (transfer_id, id)`);

    this.addSql(
      `CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON transfer_event FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(`CREATE TRIGGER append_only BEFORE DELETE ON transfer FOR EACH ROW EXECUTE FUNCTION refuse_change()`);
    for (const table of ["transfer", "transfer_event"]) {
      this.addSql(
        `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
      );
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only`);
      this.addSql(`ALTER TABLE ${table} ENABLE ALWAYS TRIGGER append_only_truncate`);
    }

    this.addSql(`GRANT SELECT, INSERT, UPDATE ON merchant_limit TO saldo_serve`);
    this.addSql(`GRANT SELECT, INSERT ON transfer, transfer_event TO saldo_serve`);
    this.addSql(`
      GRANT UPDATE (status, awaits_approval, transaction_hash, confirmations, reason, updated_at, confirmed_at)
      ON transfer TO saldo_serve`);
  }
}
