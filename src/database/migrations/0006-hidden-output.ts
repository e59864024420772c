import { Migration } from "@mikro-orm/migrations";

// Models that write output nobody sees as it is produced: their streams hold the whole bound instead of a slab at a time.
export class Migration0006HiddenOutput extends Migration {
  override up(): void {
    this.addSql(`ALTER TABLE catalog_model ADD COLUMN hidden_output boolean NOT NULL DEFAULT false`);
  }
}
