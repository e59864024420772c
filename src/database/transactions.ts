// One use case, one transaction; and which failures of the database mean "again" and which mean "not now".

import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { PoolClient } from "pg";
import type { Database } from "./database.ts";

/** How often a use case runs at most when PostgreSQL asks for a repetition. */
export const MAX_ATTEMPTS = 5;
const BACKOFF_STEP_MS = 10;

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK_DETECTED = "40P01";
const RETRYABLE: ReadonlySet<string | undefined> = new Set([SERIALIZATION_FAILURE, DEADLOCK_DETECTED]);

/**
 * Runs the work in one READ COMMITTED transaction: committed when it returns, rolled back when it throws. What the work
 * does outside the database is not undone.
 */
export async function withTransaction<T>(
  { pool }: Pick<Database, "pool">,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error): void => {
    broken = error;
  };
  client.on("error", onError);
  try {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    const result = await work(client);
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((rollbackError: Error) => {
      // A connection that cannot roll back is thrown away, and PostgreSQL rolls back for it.
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}

/** Runs the work again, a bounded number of times, when it lost against another transaction and nothing was done. */
export async function withRetry<T>(work: () => Promise<T>, random: () => number = Math.random): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !RETRYABLE.has(sqlState(error))) throw error;
      await sleep(BACKOFF_STEP_MS * 2 ** attempt * random());
    }
  }
}

/** The SQLSTATE of an error, also of one that the ORM has wrapped. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof pg.DatabaseError) return error.code;
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code)) return error.code;
  return sqlState(error.cause);
}

/** Ending, ending after a crash, and not taking connections now; 53300 is one connection too many. */
const AWAY_STATES: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "53300"]);
const AWAY_ERRNO = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/;
/** What pg says when a connection ends under a query or none can be made; these errors carry no code. */
const AWAY_MESSAGE =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Query read timeout)/;

/** Whether the database could not be reached or went away under the statement. What the statement did is then unknown. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlState(error);
  if (state !== undefined) return AWAY_STATES.has(state) || state.startsWith("08");
  if (AWAY_MESSAGE.test(error.message)) return true;
  if ("code" in error && typeof error.code === "string" && AWAY_ERRNO.test(error.code)) return true;
  // The embedded server's socket is a file, which is gone while the server is.
  if ("syscall" in error && error.syscall === "connect") return true;
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return true;
  return isDatabaseAway(error.cause);
}
