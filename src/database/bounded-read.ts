// Reads that a caller waits for. They end when they take too long, because then no caller waits any more.

import type { Pool } from "pg";
import { ServiceBusy } from "../kernel/errors.ts";
import { sqlState, sqlStates, withTransaction } from "./transactions.ts";

/** Runs a statement and gives its rows. */
export type BoundedQuery = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** The margin in which the server reports that it has ended a statement, before the client gives up. */
const LAST_WORD_MS = 1_000;

/**
 * Runs the work in a transaction with a time limit of its own for each statement, in place of the pool's. Errors:
 * ServiceBusy when one takes longer.
 */
export async function readWithin<T>(
  pool: Pool,
  answerWithinMs: number,
  work: (query: BoundedQuery) => Promise<T>,
): Promise<T> {
  try {
    return await withTransaction({ pool }, async (client) => {
      await client.query(`SET LOCAL statement_timeout = ${answerWithinMs}`);
      return work(async <Row extends object>(text: string, values: readonly unknown[] = []) => {
        const query = { text, values: [...values], query_timeout: answerWithinMs + LAST_WORD_MS };
        return (await client.query<Row>(query)).rows;
      });
    });
  } catch (error) {
    throw sqlState(error) === sqlStates.canceled ? new ServiceBusy(undefined, { cause: error }) : error;
  }
}
