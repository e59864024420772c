// The turns of processes that start at once: one of them changes the schema at a time, and the others wait until it is done.

import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ClientConfig } from "pg";
import { withClient } from "../connections.ts";

/** Any number that no other program locks: processes that start at once take turns by it. */
export const MIGRATION_LOCK = 5_841_020_118;
const LOCK_POLL_MS = 100;
/** A turn that comes sooner is not reported: most changes take less. */
const REPORT_AFTER_MS = 1_000;
/** Longer than an index of a large table takes. A start that fails then is repeated by what runs the nodes of a service. */
const MOST_WAIT_MS = 30 * 60_000;

// A lock by one number is shown as its two halves, with 1 behind them.
const HOLDER = `
SELECT a.pid, coalesce(a.application_name, '') AS application, coalesce(host(a.client_addr), '') AS address,
  extract(epoch FROM clock_timestamp() - a.xact_start)::float8 AS seconds
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND l.classid::bigint = ${MIGRATION_LOCK}::bigint >> 32 AND l.objid::bigint = ${MIGRATION_LOCK}::bigint & 4294967295 AND l.objsubid = 1`;

/** The session that changes the schema. */
export type LockHolder = {
  readonly pid: number;
  readonly application: string;
  /** Empty: it came by a socket, or this login may not see it. */
  readonly address: string;
  /** For how long it has changed it. Null: this login may not see it. */
  readonly seconds: number | null;
};

/** How a start waits for its turn. */
export type Turn = {
  /** Called once, where it waits for longer than a moment. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
  /** Left out: half an hour. */
  readonly mostMs?: number | undefined;
};

/**
 * Holds the lock in a transaction of a connection of its own, so that a pooler leaves it there. It polls, because a session that
 * waits for a lock keeps a snapshot, and an index that is made concurrently would wait for that one. Errors: those of the work; that another
 * session has held the lock for too long.
 */
export async function withMigrationLock<T>(owner: ClientConfig, turn: Turn, work: () => Promise<T>): Promise<T> {
  return withClient(owner, async (holder) => {
    await takeLock(holder, turn);
    const result = await work();
    await holder.query("COMMIT");
    return result;
  });
}

async function takeLock(client: Client, { onWait, mostMs = MOST_WAIT_MS }: Turn): Promise<void> {
  const sinceMs = performance.now();
  let isReported = onWait === undefined;
  for (;;) {
    await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS taken`,
    );
    if (rows[0]?.taken === true) return;
    await client.query("ROLLBACK");
    const waitedMs = performance.now() - sinceMs;
    const isTooLong = waitedMs > mostMs;
    if (isTooLong || (!isReported && waitedMs > REPORT_AFTER_MS)) {
      // Null: it has ended meanwhile.
      const [holder = null] = (await client.query<LockHolder>(HOLDER)).rows;
      if (holder !== null && !isReported) {
        isReported = true;
        onWait?.(holder);
      }
      if (holder !== null && isTooLong) throw new Error(tooLong(holder, waitedMs));
    }
    await sleep(LOCK_POLL_MS * (0.5 + Math.random()));
  }
}

function tooLong(holder: LockHolder, waitedMs: number): string {
  return (
    `The schema was not brought up to date: ${describeHolder(holder)} changes it, and this start has waited ` +
    `${Math.round(waitedMs / 1_000)} seconds. Start again when that session has ended. Where its process is gone, ` +
    `SELECT pg_terminate_backend(${holder.pid}) ends it.`
  );
}

/** Such as `the session 4711 (saldo, 10.0.0.3)`. */
export function describeHolder({ pid, application, address }: LockHolder): string {
  const from = [application, address].filter((each) => each !== "").join(", ");
  return `the session ${pid}${from === "" ? "" : ` (${from})`}`;
}
