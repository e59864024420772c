import { Migration } from "@mikro-orm/migrations";
import { requestFunctions } from "./request-functions.ts";

// The function for many requests reads its lists by place, and writes the windows of all keys in one statement.
export class Migration0023ListsByPlace extends Migration {
  override up(): void {
    for (const makeFunction of requestFunctions) this.addSql(makeFunction);
  }
}
