import { Migration } from "@mikro-orm/migrations";

// What an operator has ordered without a second one in the last day, by currency, so that many small orders count as one. The row
// is the lock that parallel orders of one operator queue at; a minute of it is one entry, so it never has more than a day of them.
export class Migration0034OrderedAlone extends Migration {
  override up(): void {
    this.addSql(`
      CREATE TABLE ordered_alone (
        operator      text             NOT NULL,
        currency_code text             NOT NULL,
        minutes       timestamptz[]    NOT NULL DEFAULT '{}',
        amounts       numeric(38,18)[] NOT NULL DEFAULT '{}',
        PRIMARY KEY (operator, currency_code),
        CONSTRAINT ordered_alone_pairs CHECK (cardinality(minutes) = cardinality(amounts))
      )`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE ON ordered_alone TO saldo_serve`);
  }
}
