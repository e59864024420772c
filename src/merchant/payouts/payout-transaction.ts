import type { Pool, PoolClient } from "pg";
import { waitForLocks, withRetry, withTransaction } from "../../database/transactions.ts";

/** Runs one step of a payout in a transaction, again where PostgreSQL asks for it. Nothing of a chain is called inside. */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withRetry(() =>
    withTransaction({ pool }, async (client) => {
      // A merchant's fund is locked by every order of its owner.
      await waitForLocks(client);
      return work(client);
    }),
  );
}
