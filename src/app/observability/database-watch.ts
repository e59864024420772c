// The metrics of the database, read by one worker of a node now and then: a scrape costs the database nothing.

import type { Pool } from "pg";
import { type AuditKind, type AuditState, readAuditStates } from "../../ledger/audit/run.ts";
import type { Tick } from "../../workers/tick.ts";
import { type DatabaseRoom, watchRoom } from "./database-room.ts";

const WATCH_MS = 10_000;
/** Counting on would cost, and any is too many. */
const MOST_DEFAULT_ROWS = 1_000;

/** The database as it was seen last. */
export type DatabaseFacts = {
  /** When it was seen, on the clock of `performance.now()`. */
  readonly seenAtMs: number;
  /** Age of the oldest hold of any process; 0 when there is none. */
  readonly oldestHoldSeconds: number;
  /** The longest time since a lease was renewed, of the processes that are not declared dead. */
  readonly leaseAgeSeconds: number;
  /** Age of the transaction that keeps the oldest dead rows. */
  readonly oldestSnapshotSeconds: number;
  /** Usage records outside every month's partition, counted up to a thousand. */
  readonly defaultPartitionRows: number;
  /** Age of the last moment that a signed root covers; null before the first one. */
  readonly sealedAgeSeconds: number | null;
  /** Notifications of payments within a week whose orders the books do not have, counted up to a thousand. */
  readonly unknownPayments: number;
  readonly audits: Readonly<Record<AuditKind, AuditState>>;
  /** Room, connections and ids. */
  readonly room: DatabaseRoom;
};

const FACTS = `
SELECT
  (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(placed_at)), 0)::float8 FROM hold) AS "oldestHoldSeconds",
  (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(renewed_at)), 0)::float8 FROM process WHERE dead_at IS NULL) AS "leaseAgeSeconds",
  oldest_snapshot_seconds() AS "oldestSnapshotSeconds",
  (SELECT count(*)::int FROM (SELECT FROM usage_record_default LIMIT ${MOST_DEFAULT_ROWS}) strays) AS "defaultPartitionRows"`;

type NotInFacts = "seenAtMs" | "sealedAgeSeconds" | "unknownPayments" | "audits" | "room";

export type DatabaseWatch = {
  readonly tick: Tick;
  /** Null until it was seen for the first time. While the database is away, what was seen last. */
  readonly facts: () => DatabaseFacts | null;
};

export type WatchOptions = {
  readonly dataDir: string;
  /** Reads the age of the last moment that a signed root covers; null before the first one. */
  readonly readSealedAge: (pool: Pool) => Promise<number | null>;
  /** Counts notifications of payments whose orders the books do not have. */
  readonly countUnknownPayments: (pool: Pool) => Promise<number>;
};

/** Makes the watch; its tick does the reading. */
export function watchDatabase(
  pool: Pool,
  { dataDir, readSealedAge, countUnknownPayments }: WatchOptions,
): DatabaseWatch {
  const room = watchRoom(pool, dataDir);
  let facts: DatabaseFacts | null = null;
  const look = async (): Promise<void> => {
    const { rows } = await pool.query<Omit<DatabaseFacts, NotInFacts>>(FACTS);
    const audits = await readAuditStates(pool);
    const sealedAgeSeconds = await readSealedAge(pool);
    const unknownPayments = await countUnknownPayments(pool);
    if (rows[0] !== undefined)
      facts = {
        ...rows[0],
        sealedAgeSeconds,
        unknownPayments,
        audits,
        room: await room(),
        seenAtMs: performance.now(),
      };
  };
  return { tick: { name: "watch the database", everyMs: WATCH_MS, run: look }, facts: () => facts };
}
