// Reads that somebody waits for, and that end when they take too long instead of working on for nobody.

import type { Pool, PoolClient } from "pg";
import { UpstreamBusy } from "../kernel/errors.ts";
import { sqlState, sqlStates, withTransaction } from "./transactions.ts";

/** Runs the work in a transaction each of whose statements may take so long. Errors: UpstreamBusy when one takes longer. */
export async function readWithin<T>(
  pool: Pool,
  answerWithinMs: number,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  try {
    return await withTransaction({ pool }, async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${answerWithinMs}`);
      return work(client);
    });
  } catch (error) {
    throw sqlState(error) === sqlStates.canceled ? new UpstreamBusy(undefined, { cause: error }) : error;
  }
}
