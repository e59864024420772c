import { hostname, userInfo } from "node:os";
import type { OperatorContext } from "../operator/audit-log/operator-actions.ts";
import type { Database } from "../database/database.ts";

/** What a command does is ordered by the login that runs it, on its machine. */
export async function operatorHere(database: () => Promise<Database>): Promise<OperatorContext> {
  return { database: await database(), operator: operatorName() };
}

function operatorName(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run under a number that has no name.
    return `uid ${process.getuid?.() ?? "unknown"}@${hostname()}`;
  }
}
