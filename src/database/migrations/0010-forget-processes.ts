import { Migration } from "@mikro-orm/migrations";

// Every start of a process leaves a row, so the workers forget those that have long been dead.
export class Migration0010ForgetProcesses extends Migration {
  override up(): void {
    this.addSql(`GRANT DELETE ON process TO saldo_serve`);
  }
}
