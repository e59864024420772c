// One use case, one transaction; and which failures of the database mean "again" and which mean "not now".

import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase, Pool, PoolClient } from "pg";
import { invariant } from "../kernel/invariant.ts";
import { errorCode } from "./system-error.ts";

/** How often a piece of work runs at most when PostgreSQL asks for a repetition. */
export const MAX_ATTEMPTS = 5;
const BACKOFF_STEP_MS = 10;

/** What PostgreSQL calls the failures that we act on. */
export const sqlStates = {
  serializationFailure: "40001",
  deadlock: "40P01",
  lockTimeout: "55P03",
  uniqueViolation: "23505",
  /** A value that a function does not take, such as the name of a time zone. */
  invalidParameter: "22023",
  /** The statement was canceled, by a request or by a time limit. */
  canceled: "57014",
  /** A named statement is not there. */
  noSuchStatement: "26000",
} as const;
const RETRYABLE: ReadonlySet<string | undefined> = new Set([sqlStates.serializationFailure, sqlStates.deadlock]);

/** Longer than others hold rows, and far below the waits outside the request path. */
const LOCK_PATIENCE = "SET LOCAL lock_timeout = '5s'";

/**
 * Lets the rest of a transaction wait for rows that others hold. The time-out of serving is for requests, which had better be
 * refused soon; whatever is done outside their path waits behind them instead.
 */
export async function waitForLocks(client: ClientBase): Promise<void> {
  await client.query(LOCK_PATIENCE);
}

/**
 * Runs the work in one READ COMMITTED transaction: committed when it returns, rolled back when it throws. What the work
 * does outside the database is not undone.
 */
export async function withTransaction<T>(
  { pool }: { readonly pool: Pool },
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    const result = await work(client);
    // PostgreSQL answers the COMMIT of a failed transaction with a rollback, and calls that no error.
    const { command } = await client.query("COMMIT");
    invariant(command === "COMMIT", "a transaction whose work returned is committed");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch((rollbackError: Error) => {
      // A connection that cannot roll back is thrown away, and PostgreSQL rolls back for it.
      broken = rollbackError;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/**
 * Runs the work again, at most MAX_ATTEMPTS times in all, when it lost against another transaction: serialization
 * failures and deadlocks, which PostgreSQL has undone. No other error is repeated.
 */
export async function withRetry<T>(work: () => Promise<T>, random: () => number = Math.random): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !RETRYABLE.has(sqlState(error))) throw error;
      await sleep(BACKOFF_STEP_MS * 2 ** (attempt - 1) * (0.5 + random() / 2));
    }
  }
}

/** The SQLSTATE of an error that PostgreSQL raised, also of one that another error wraps. */
export function sqlState(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  // Only what PostgreSQL raised has a severity; a code alone may be the operating system's.
  return "severity" in error ? errorCode(error) : sqlState(error.cause);
}

/** The name of the constraint that a row broke, also of an error that another one wraps. */
export function brokenConstraint(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return "constraint" in error ? String(error.constraint) : brokenConstraint(error.cause);
}

/** What PostgreSQL wrote of an error that it raised, also of one that another error wraps. */
function messageOf(error: Error): string {
  return "severity" in error || !(error.cause instanceof Error) ? error.message : messageOf(error.cause);
}

/** Whether PostgreSQL had no disk, memory or other means for a statement. Nothing of it was written, and later it may work. */
export function isOutOfMeans(error: unknown): boolean {
  return /^(53|58)/.test(sqlState(error) ?? "");
}

/**
 * The server is ending, crashed, starting, full or has become a replica; 08 are the connection's own failures. 25P03 and 25P04: it
 * ended a session of ours whose transaction was idle, or took, for too long, because this process did not run.
 */
const AWAY_STATE = /^(57P01|57P02|57P03|53300|25006|25P03|25P04|08...)$/;
/** A replica's answers to what needs a transaction id or writes to the log; PostgreSQL gives these no state of their own. */
const IN_RECOVERY = { state: "XX000", message: /during recovery$/ };
const AWAY_CODE = /^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** The messages of pg when a connection ends during a query or cannot be opened; these errors have no code. */
const AWAY_MESSAGE =
  /Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|timeout exceeded when trying to connect|Query read timeout/;

/** Whether the database could not be reached or went away. What a statement did that was under way is then unknown. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const state = sqlState(error);
  if (state === IN_RECOVERY.state) return IN_RECOVERY.message.test(messageOf(error));
  if (state !== undefined) return AWAY_STATE.test(state);
  if (AWAY_MESSAGE.test(error.message) || AWAY_CODE.test(errorCode(error) ?? "")) return true;
  // The embedded server's socket is a file, and its absence is an ENOENT like any other but for the call.
  if ("syscall" in error && error.syscall === "connect") return true;
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return true;
  return isDatabaseAway(error.cause);
}
