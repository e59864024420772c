import { Migration } from "@mikro-orm/migrations";

export class Migration0004Merchant extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE merchant (
        id          uuid        NOT NULL PRIMARY KEY,
        account_id  uuid        NOT NULL REFERENCES account (id),
        environment text        NOT NULL CHECK (environment IN ('sandbox', 'production')),
        created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`CREATE INDEX merchant_account ON merchant (account_id)`);
    // A pair is shown once; only the digests stay. The key half is not secret but is stored like one, so that a dump of
    // the database names no credential at all.
    this.addSql(`
      CREATE TABLE merchant_credential (
        id            uuid        NOT NULL PRIMARY KEY,
        merchant_id   uuid        NOT NULL REFERENCES merchant (id),
        key_digest    bytea       NOT NULL UNIQUE,
        secret_digest bytea       NOT NULL,
        key_prefix    text        NOT NULL,
        created_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
        revoked_at    timestamptz
      )`);
    // What a merchant has per asset: a ledger account in the asset's smallest unit.
    this.addSql(`
      CREATE TABLE merchant_fund (
        merchant_id uuid          NOT NULL REFERENCES merchant (id),
        asset       text          NOT NULL,
        id          uuid          NOT NULL UNIQUE,
        posted      numeric(38,0) NOT NULL DEFAULT 0,
        held        numeric(38,0) NOT NULL DEFAULT 0,
        PRIMARY KEY (merchant_id, asset),
        CONSTRAINT merchant_fund_never_negative CHECK (held >= 0 AND posted >= held)
      ) WITH (fillfactor = 50)`);
    // The most specific row that fits a quote applies whole: merchant and currency, merchant, currency, default. Rows are
    // never changed; a newer version replaces an older one. Amounts are decimal texts in whole coins.
    this.addSql(`
      CREATE TABLE fee_schedule (
        id            uuid        NOT NULL PRIMARY KEY,
        merchant_id   uuid        REFERENCES merchant (id),
        currency_code text,
        version       int         NOT NULL CHECK (version > 0),
        flat          text        NOT NULL,
        rate          text        NOT NULL,
        min           text,
        max           text,
        created_at    timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`
      CREATE UNIQUE INDEX fee_schedule_version ON fee_schedule (
        coalesce(merchant_id, '00000000-0000-0000-0000-000000000000'::uuid), coalesce(currency_code, ''), version)`);
    this.addSql(`
      INSERT INTO fee_schedule (id, currency_code, version, flat, rate) VALUES
        ('00000000-0000-7000-8000-00000000fee0', NULL, 1, '0', '0.3'),
        ('00000000-0000-7000-8000-00000000fee1', 'TRX', 1, '16.7', '0')`);
    this.addSql(`GRANT SELECT, INSERT ON merchant, merchant_credential, merchant_fund, fee_schedule TO saldo_serve`);
    this.addSql(`GRANT UPDATE ON merchant_credential, merchant_fund TO saldo_serve`);
  }
}
