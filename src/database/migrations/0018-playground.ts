import { Migration } from "@mikro-orm/migrations";

// The key that stands for an account's own people in the dashboard's playground. Nobody has its secret.
export class Migration0018Playground extends Migration {
  override up(): void {
    this.addSql(`ALTER TABLE api_key ADD COLUMN is_playground boolean NOT NULL DEFAULT false`);
    this.addSql(`CREATE UNIQUE INDEX api_key_playground ON api_key (account_id) WHERE is_playground`);
  }
}
