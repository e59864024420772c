import type { Database } from "../../database/database.ts";
import { waitForLocks, withRetry, withTransaction } from "../../database/transactions.ts";

const CLOSE = `
UPDATE top_up SET state = 'canceled', next_check_at = NULL, opening_until = NULL, revision = revision + 1,
  changed_at = clock_timestamp()
WHERE provider = $1 AND state IN ('created', 'pending', 'review')`;

/**
 * Cancels what is still open at a provider that is gone for good, such as the sandbox of a demo that has become a real service.
 * That provider is not asked any more, so none of its orders is ever credited. Returns how many orders there were.
 */
export function closeOrders(database: Database, provider: string): Promise<number> {
  return withRetry(() =>
    withTransaction(database, async (client) => {
      // A process that is just being replaced may still ask about one of them, and a start must not fail for that.
      await waitForLocks(client);
      return (await client.query(CLOSE, [provider])).rowCount ?? 0;
    }),
  );
}
