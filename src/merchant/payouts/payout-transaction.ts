import type { Pool, PoolClient } from "pg";
import { withRetry, withTransaction } from "../../database/transactions.ts";

// A merchant's fund is locked by every order of its owner; whoever works in the background waits its turn.
const WAIT_FOR_ROWS = `SET LOCAL lock_timeout = '5s'`;

/** Runs one step of a payout in a transaction, again where PostgreSQL asks for it. Nothing of a chain is called inside. */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withRetry(() =>
    withTransaction({ pool }, async (client) => {
      await client.query(WAIT_FOR_ROWS);
      return work(client);
    }),
  );
}
