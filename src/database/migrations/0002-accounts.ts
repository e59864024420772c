import { Migration } from "@mikro-orm/migrations";

// Who owns a ledger account. Sign-in comes with its own schema; this is what the rest of the service knows of a customer.
export class Migration0002Accounts extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE customer (
        account_id uuid        NOT NULL PRIMARY KEY REFERENCES account (id),
        email      text        NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`CREATE UNIQUE INDEX customer_email ON customer (lower(email))`);
    this.addSql(`GRANT SELECT, INSERT ON customer TO saldo_serve`);
  }
}
