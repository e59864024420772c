import { hostname, userInfo } from "node:os";
import type { PoolClient } from "pg";
import { type OperatorAction, recordAction } from "../accounts/operator-actions.ts";
import { type Database } from "../database/database.ts";
import { withTransaction } from "../database/transactions.ts";

/** Does what an operator ordered and writes down who, in one transaction. `line` says what was done. */
export function doAndRecord<Outcome>(
  database: Pick<Database, "pool">,
  work: (client: PoolClient) => Promise<Outcome>,
  line: (outcome: Outcome) => Omit<OperatorAction, "operator"> | null,
): Promise<Outcome> {
  return withTransaction(database, async (client) => {
    const outcome = await work(client);
    // Null: nothing was changed, so there is nothing to tell.
    const action = line(outcome);
    if (action !== null) await recordAction(client, { operator: operatorName(), ...action });
    return outcome;
  });
}

/** The login that runs the command, on its machine. */
function operatorName(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    // A container may run under a number that has no name.
    return `uid ${process.getuid?.() ?? "unknown"}@${hostname()}`;
  }
}
