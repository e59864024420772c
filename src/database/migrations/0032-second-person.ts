import { Migration } from "@mikro-orm/migrations";

// What keeps one person, or one chain node, from emptying a wallet: orders that wait for a second operator, default limits of
// production merchants, stops and daily caps of payouts, and a later look at payments that were final.
export class Migration0032SecondPerson extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE operator_order (
        id              uuid        NOT NULL PRIMARY KEY,
        kind            text        NOT NULL,
        reference       text        NOT NULL,
        subject         text        NOT NULL,
        facts           jsonb       NOT NULL,
        payload         jsonb       NOT NULL,
        reason          text,
        ordered_by      text        NOT NULL,
        ordered_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at      timestamptz NOT NULL,
        state           text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'approved', 'refused')),
        decided_by      text,
        decided_at      timestamptz,
        decision_reason text,
        CONSTRAINT operator_order_reference UNIQUE (kind, reference),
        CONSTRAINT operator_order_decision CHECK (
          (state = 'pending') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL)),
        CONSTRAINT operator_order_second CHECK (state <> 'approved' OR lower(decided_by) <> lower(ordered_by))
      )`);
    this.addSql(`CREATE INDEX operator_order_pending ON operator_order (id) WHERE state = 'pending'`);
    this.addSql(`
      CREATE FUNCTION refuse_other_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF OLD.state <> 'pending'
           OR (OLD.id, OLD.kind, OLD.reference, OLD.subject, OLD.facts, OLD.payload, OLD.reason, OLD.ordered_by, OLD.ordered_at, OLD.expires_at)
              IS DISTINCT FROM
              (NEW.id, NEW.kind, NEW.reference, NEW.subject, NEW.facts, NEW.payload, NEW.reason, NEW.ordered_by, NEW.ordered_at, NEW.expires_at) THEN
          RAISE EXCEPTION 'an order is decided once and otherwise never changed' USING ERRCODE = 'restrict_violation';
        END IF;
        RETURN NEW;
      END $$`);
    this.addSql(
      `CREATE TRIGGER same_order BEFORE UPDATE ON operator_order FOR EACH ROW EXECUTE FUNCTION refuse_other_order()`,
    );
    this.addSql(
      `CREATE TRIGGER append_only BEFORE DELETE ON operator_order FOR EACH ROW EXECUTE FUNCTION refuse_change()`,
    );
    this.addSql(
      `CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON operator_order FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
    );
    for (const trigger of ["same_order", "append_only", "append_only_truncate"]) {
      this.addSql(`ALTER TABLE operator_order ENABLE ALWAYS TRIGGER ${trigger}`);
    }
    this.addSql(`GRANT SELECT, INSERT ON operator_order TO saldo_serve`);
    this.addSql(`GRANT UPDATE (state, decided_by, decided_at, decision_reason) ON operator_order TO saldo_serve`);

    // What a production merchant may order until an operator sets something else. In whole coins, as merchant_limit.
    this.addSql(`
      CREATE TABLE default_limit (
        currency_code  text           NOT NULL PRIMARY KEY,
        per_transfer   numeric(38,18) CHECK (per_transfer > 0),
        daily          numeric(38,18) CHECK (daily > 0),
        approval_above numeric(38,18) CHECK (approval_above >= 0)
      )`);
    this.addSql(`
      INSERT INTO default_limit (currency_code, per_transfer, daily, approval_above) VALUES
        ('USDT', 10000, 50000, 1000), ('USDC', 10000, 50000, 1000), ('ETH', 3, 15, 0.3), ('BNB', 15, 75, 1.5),
        ('BTC', 0.1, 0.5, 0.01), ('LTC', 100, 500, 10), ('SOL', 60, 300, 6), ('TRX', 30000, 150000, 3000)`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON default_limit TO saldo_serve`);
    // Limits that were opened by an order and never set by an operator.
    this.addSql(`
      UPDATE merchant_limit l SET per_transfer = d.per_transfer, daily = d.daily, approval_above = d.approval_above
      FROM default_limit d, merchant m
      WHERE d.currency_code = l.currency_code AND m.id = l.merchant_id AND m.environment = 'production'
        AND l.per_transfer IS NULL AND l.daily IS NULL AND l.approval_above IS NULL
        AND NOT EXISTS (SELECT FROM operator_action a WHERE a.action = 'merchant limit' AND a.subject = l.merchant_id::text
                        AND a.facts ->> 'currencyCode' = l.currency_code)`);

    // scope: 'all', a chain, or a chain and a wallet's address.
    this.addSql(`
      CREATE TABLE payout_stop (
        scope      text        NOT NULL PRIMARY KEY,
        operator   text        NOT NULL,
        reason     text        NOT NULL,
        stopped_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`GRANT SELECT, INSERT, DELETE ON payout_stop TO saldo_serve`);
    // What a wallet was told to send of an asset on a day in Jakarta. Its row is written behind the wallet's lock.
    this.addSql(`
      CREATE TABLE wallet_day (
        wallet_id uuid          NOT NULL REFERENCES wallet (id),
        asset     text          NOT NULL,
        day       date          NOT NULL,
        units     numeric(38,0) NOT NULL CHECK (units >= 0),
        PRIMARY KEY (wallet_id, asset)
      ) WITH (fillfactor = 50)`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON wallet_day TO saldo_serve`);

    // The highest head that was believed, and when it was first seen.
    this.addSql(`ALTER TABLE wallet ADD COLUMN head_number bigint, ADD COLUMN head_at timestamptz`);
    this.addSql(`GRANT UPDATE (head_number, head_at) ON wallet TO saldo_serve`);
    // recheck_at: when a payout that has ended is compared with its chain again. reopened_at: its final transaction had vanished.
    this.addSql(`
      ALTER TABLE payout ADD COLUMN recheck_at timestamptz, ADD COLUMN reopened_at timestamptz,
                         ADD COLUMN short_accepted_at timestamptz`);
    this.addSql(`GRANT UPDATE (recheck_at, reopened_at, short_accepted_at) ON payout TO saldo_serve`);
    this.addSql(`CREATE INDEX payout_recheck ON payout (wallet_id, recheck_at) WHERE recheck_at IS NOT NULL`);
  }
}
