import { Migration } from "@mikro-orm/migrations";

// Operators list the transfers of a merchant, of a status and of a world, newest first. What fits may be rare or nothing, and
// going along all transfers until a page of it is found would take ever longer.
export class Migration0020TransferLists extends Migration {
  override up(): void {
    this.addSql(`CREATE INDEX transfer_by_merchant ON transfer (merchant_id, status, id)`);
    this.addSql(`CREATE INDEX transfer_by_status ON transfer (environment, status, id)`);
  }
}
