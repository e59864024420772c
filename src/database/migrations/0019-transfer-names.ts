import { Migration } from "@mikro-orm/migrations";

// Operators look transfers up by the merchants' own names for them, over all merchants.
export class Migration0019TransferNames extends Migration {
  override up(): void {
    this.addSql(`CREATE INDEX transfer_by_external_id ON transfer (external_id)`);
  }
}
