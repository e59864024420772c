import { Migration } from "@mikro-orm/migrations";

// What processes find out about upstreams and models while they answer, so that all of them act on it.
export class Migration0026LearnedFacts extends Migration {
  override up(): void {
    // Upstreams that sent bytes which answer no request. Rows go after a month.
    this.addSql(`
      CREATE TABLE upstream_mark (
        upstream    text        NOT NULL PRIMARY KEY,
        mixed_up_at timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`GRANT SELECT, INSERT, UPDATE, DELETE ON upstream_mark TO saldo_serve`);

    // Models that were billed for output that was not shown, with the answer that showed it.
    this.addSql(`
      CREATE TABLE learned_model (
        model               text        NOT NULL PRIMARY KEY,
        upstream            text        NOT NULL,
        request_id          uuid        NOT NULL,
        hidden_output_since timestamptz NOT NULL DEFAULT clock_timestamp()
      )`);
    this.addSql(`GRANT SELECT, INSERT ON learned_model TO saldo_serve`);
  }
}
