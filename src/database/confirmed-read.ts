// Reads on which an answer rests: "this was done before". A row can be visible before the standby has it, where the wait of its
// commit was cancelled (its backend was ended) or forgotten (the server crashed and restarted). A failover then loses the row,
// after a caller was answered by it. A confirmed read waits in its turn: its transaction writes to the log and commits, and the
// standby confirms the log in order, with all that the transaction saw.

import type { Pool, PoolClient } from "pg";
import { withTransaction } from "./transactions.ts";

/** In a transaction of reads, lets its commit wait for the standby. It writes a message to the log that nothing reads. */
export const CONFIRM_READS = "SELECT pg_logical_emit_message(true, 'saldo', '')";

/** Reads in a transaction whose end waits until the standby has whatever was read. Without a standby it costs one flush. */
export async function readConfirmed<T>(pool: Pool, read: (client: PoolClient) => Promise<T>): Promise<T> {
  return withTransaction({ pool }, async (client) => {
    await client.query(CONFIRM_READS);
    return read(client);
  });
}
