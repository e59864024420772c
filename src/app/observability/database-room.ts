// What a database has used up of what it cannot do without for years: room, connections and transaction ids. Read once a minute, because
// counting files costs more than the figures of database-watch.ts.

import { statfs } from "node:fs/promises";
import type { Pool } from "pg";

const LOOK_AFTER_MS = 60_000;

/** The room of a database as it was seen last. A figure that this login may not see is null. */
export type DatabaseRoom = {
  readonly bytes: number;
  /** The write-ahead log on the server. */
  readonly walBytes: number | null;
  /** The most log that one replication slot keeps for a standby or a backup which does not take it. */
  readonly slotWalBytes: number;
  /** Slots whose log the server has removed: what holds them has to begin again. */
  readonly lostSlots: number;
  /** How much of the ids is used since the last freeze, of transactions or of multixacts: at 1 the server refuses all writes. */
  readonly wraparoundShare: number;
  readonly connectionsShare: number;
  /** Dead rows that no vacuum has removed yet, by hot table. */
  readonly deadRows: Readonly<Record<HotTable, number>>;
  /** Of the disk under SALDO_DATA_DIR; null where that folder does not exist. */
  readonly diskFreeBytes: number | null;
  readonly diskFreeShare: number | null;
};

/** The tables that each request changes, and the one that each process changes every five seconds. */
export const HOT_TABLES = ["account", "api_key", "hold", "process"] as const;
export type HotTable = (typeof HOT_TABLES)[number];

/** Both kinds of ids are 32 bits wide, half of which may be in use. */
const IDS = 2_147_483_648;
const ROOM = `
SELECT
  pg_database_size(current_database())::float8 AS bytes,
  write_ahead_log_bytes()::float8 AS "walBytes",
  -- A lost slot keeps nothing more; it was behind by more than the server keeps.
  (SELECT coalesce(max(CASE WHEN wal_status = 'lost' THEN greatest(pg_size_bytes(current_setting('max_slot_wal_keep_size')), 0)
    ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn) END), 0)::float8 FROM pg_replication_slots) AS "slotWalBytes",
  (SELECT count(*)::float8 FROM pg_replication_slots WHERE wal_status = 'lost') AS "lostSlots",
  (SELECT max(greatest(age(datfrozenxid), mxid_age(datminmxid)))::float8 / ${IDS} FROM pg_database) AS "wraparoundShare",
  (SELECT count(*)::float8 / current_setting('max_connections')::int FROM pg_stat_activity
    WHERE datid IS NOT NULL AND usesysid IS NOT NULL) AS "connectionsShare",
  (SELECT jsonb_object_agg(name, coalesce(pg_stat_get_dead_tuples(to_regclass(name)), 0))
    FROM unnest($1::text[]) AS name) AS "deadRows"`;

/** Makes the reader of a database's room. It reads when the last reading is a minute old, and returns that one until then. */
export function watchRoom(pool: Pool, dataDir: string): () => Promise<DatabaseRoom> {
  let last: { readonly room: DatabaseRoom; readonly atMs: number } | null = null;
  return async () => {
    const now = performance.now();
    if (last === null || now - last.atMs >= LOOK_AFTER_MS) last = { room: await readRoom(pool, dataDir), atMs: now };
    return last.room;
  };
}

async function readRoom(pool: Pool, dataDir: string): Promise<DatabaseRoom> {
  type Row = Omit<DatabaseRoom, "diskFreeBytes" | "diskFreeShare">;
  const { rows } = await pool.query<Row>(ROOM, [HOT_TABLES]);
  const [row] = rows;
  if (row === undefined) throw new Error("a database has a size");
  const disk = await statfs(dataDir).catch(() => null);
  return {
    ...row,
    diskFreeBytes: disk === null ? null : disk.bavail * disk.bsize,
    diskFreeShare: disk === null || disk.blocks === 0 ? null : disk.bavail / disk.blocks,
  };
}
