import { Migration } from "@mikro-orm/migrations";

// Disputes of payers, each by the provider's own name for it: what comes late does not open one again that has ended, and a
// dispute stands beside whatever else is wrong with a top-up.
export class Migration0021Disputes extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE payment_dispute (
        provider   text        NOT NULL,
        dispute_id text        NOT NULL,
        top_up_id  uuid        NOT NULL REFERENCES top_up (id),
        state      text        NOT NULL CHECK (state IN ('open', 'won', 'lost', 'settled')),
        told_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (provider, dispute_id)
      )`);
    this.addSql(`CREATE INDEX payment_dispute_top_up ON payment_dispute (top_up_id)`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON payment_dispute TO saldo_serve`);

    // How its disputes stand together, while somebody has to look at them.
    this.addSql(`ALTER TABLE top_up ADD COLUMN dispute text CHECK (dispute IN ('open', 'lost'))`);
    // Until now they were sentences of the problem.
    this.addSql(`
      UPDATE top_up SET problem = NULL, dispute = CASE WHEN problem LIKE '%has taken it back%' THEN 'lost' ELSE 'open' END
      WHERE problem LIKE 'The payer disputes the payment%'`);
  }
}
