import { Migration } from "@mikro-orm/migrations";
import { requestFunctions } from "./request-functions.ts";

// What admission asks of an account besides its balance, and the functions that decide on requests.
export class Migration0009AccountLimits extends Migration {
  override up(): void {
    // open_holds is counted by whoever places or resolves a hold: rows behind a lock cannot be counted exactly.
    this.addSql(`
      ALTER TABLE account
        ADD COLUMN frozen_at timestamptz,
        ADD COLUMN open_holds int NOT NULL DEFAULT 0,
        ADD COLUMN max_open_holds int NOT NULL DEFAULT 0 CHECK (max_open_holds >= 0)`);
    this.addSql(`
      UPDATE account a SET open_holds = h.n
      FROM (SELECT account_id, count(*)::int AS n FROM hold GROUP BY account_id) h WHERE a.id = h.account_id`);
    // PostgreSQL reads the text of every constraint anew for every statement, which took a tenth of a settlement. One text
    // says what three said; that a cost is not negative follows from 0 <= charge <= cost, and a basis comes from a type.
    for (const column of ["input_tokens_uncached", "input_tokens_cached", "output_tokens", "cost", "basis"])
      this.addSql(`ALTER TABLE usage_record DROP CONSTRAINT usage_record_${column}_check`);
    this.addSql(`
      ALTER TABLE usage_record ADD CONSTRAINT usage_record_tokens_check
        CHECK (least(input_tokens_uncached, input_tokens_cached, output_tokens) >= 0)`);
    for (const makeFunction of requestFunctions) this.addSql(makeFunction);
  }
}
