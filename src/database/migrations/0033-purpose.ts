import { Migration } from "@mikro-orm/migrations";

// What a database is for. A demo's holds play money and credentials that were printed, so it never serves production, and a demo
// never begins in production's. A database from before this rule is a demo's where the demo's account is in it.
export class Migration0033Purpose extends Migration {
  override up(): void {
    // demo_credentials: the key and the pair that a demo prints, kept so that the next start prints the same ones.
    this.addSql(`
      CREATE TABLE database_purpose (
        the_row          boolean     NOT NULL PRIMARY KEY DEFAULT true CHECK (the_row),
        purpose          text        NOT NULL CHECK (purpose IN ('demo', 'production')),
        since            timestamptz NOT NULL DEFAULT clock_timestamp(),
        demo_credentials text,
        CONSTRAINT demo_credentials_in_demo CHECK (purpose = 'demo' OR demo_credentials IS NULL)
      )`);
    this.addSql(`
      INSERT INTO database_purpose (purpose)
      SELECT CASE WHEN bool_or(lower(email) = 'demo@saldo.example') THEN 'demo' ELSE 'production' END
      FROM customer HAVING count(*) > 0`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON database_purpose TO saldo_serve`);
    // Credentials of the demo's person are removed when a demo takes the address, and when it is cleared.
    this.addSql(`GRANT DELETE ON auth.credential TO saldo_serve`);
    // For encrypting it under another key.
    this.addSql(`GRANT UPDATE (secret) ON auth.signing_secret TO saldo_serve`);
  }
}
