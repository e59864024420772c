// Which history of the books a server continues. A system identifier is made with a cluster and copied with it; the timeline
// changes when a standby is promoted and when a backup is restored. pg_restore into the same cluster changes neither, but makes the
// database or its tables again under other numbers. What was written elsewhere, on disk or on a chain, belongs to the history that it was
// written beside: after a change the books may lack what they had.

import type { Client, Pool, PoolClient } from "pg";

/** The history of a server and its log. */
export type ServerHistory = { readonly system: string; readonly timeline: number };

/**
 * The history that a primary continues. `books`: the numbers of the database and of a table in it, which no standby changes. Null: it
 * was stored by a version that did not know them, or the database has no tables of ours.
 */
export type History = ServerHistory & { readonly books: string | null };

/** `timeline` is null on a standby, which may follow any. */
export const HISTORY_COLUMNS = `
  (SELECT system_identifier::text FROM pg_control_system()) AS system,
  CASE WHEN NOT pg_is_in_recovery() THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline,
  (SELECT oid FROM pg_database WHERE datname = current_database())::text || '/' || to_regclass('wallet')::oid::text AS books`;

type Columns = { readonly system: string; readonly timeline: number | null; readonly books: string | null };

/** Reads the history that a server continues. Null: it is a standby. */
export async function readHistory(client: Pick<Pool | PoolClient | Client, "query">): Promise<History | null> {
  const { rows } = await client.query<Columns>(`SELECT ${HISTORY_COLUMNS}`);
  const { system = "", timeline = null, books = null } = rows[0] ?? {};
  return timeline === null ? null : { system, timeline, books };
}

/** Whether two are the same, as far as both are known. */
export function isSameHistory(one: History, other: History): boolean {
  const isServer = one.system === other.system && one.timeline === other.timeline;
  return isServer && (one.books ?? other.books) === (other.books ?? one.books);
}
