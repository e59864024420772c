import { Migration } from "@mikro-orm/migrations";

// What operators ask for is rare among what there is: nonces that a wallet has lost, top-ups that somebody has to look at, that
// owe something, or are in one state. Going through all payouts or top-ups for them would take ever longer.
export class Migration0022RareRows extends Migration {
  override up(): void {
    this.addSql(`CREATE INDEX payout_lost ON payout (wallet_id, nonce) WHERE state IN ('displaced', 'foreign')`);
    this.addSql(`CREATE INDEX top_up_attention ON top_up (id)
      WHERE state = 'review' OR problem IS NOT NULL OR dispute IS NOT NULL`);
    this.addSql(`CREATE INDEX top_up_by_state ON top_up (provider, state, id)`);
    this.addSql(`CREATE INDEX receivable_owed ON receivable (top_up_id) WHERE collected < amount`);
  }
}
