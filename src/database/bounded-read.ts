// Reads that somebody waits for, and that end when they take too long instead of working on for nobody.

import type { Pool } from "pg";
import { UpstreamBusy } from "../kernel/errors.ts";
import { sqlState, sqlStates, withTransaction } from "./transactions.ts";

/** Runs a statement and gives its rows. */
export type BoundedQuery = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** The server says itself that it has ended a statement; by then it must not have been given up. */
const LAST_WORD_MS = 1_000;

/**
 * Runs the work in a transaction each of whose statements may take so long, whatever the pool allows the others. Errors:
 * UpstreamBusy when one takes longer.
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
    throw sqlState(error) === sqlStates.canceled ? new UpstreamBusy(undefined, { cause: error }) : error;
  }
}
