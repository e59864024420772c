// Which history of the books a server continues. A system identifier is made with a cluster and copied with it; the timeline
// changes when a standby is promoted and when a backup is restored. What was written elsewhere, on disk or on a chain, belongs to the history
// that it was written beside: after a change the books may lack what they had.

import type { Client, Pool, PoolClient } from "pg";

/** The history that a primary continues. */
export type History = { readonly system: string; readonly timeline: number };

/** `timeline` is null on a standby, which may follow any. */
export const HISTORY_COLUMNS = `
  (SELECT system_identifier::text FROM pg_control_system()) AS system,
  CASE WHEN NOT pg_is_in_recovery() THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END AS timeline`;

/** Reads the history that a server continues. Null: it is a standby. */
export async function readHistory(client: Pick<Pool | PoolClient | Client, "query">): Promise<History | null> {
  const { rows } = await client.query<{ system: string; timeline: number | null }>(`SELECT ${HISTORY_COLUMNS}`);
  const { system = "", timeline = null } = rows[0] ?? {};
  return timeline === null ? null : { system, timeline };
}

/** Whether two are the same. */
export function isSameHistory(one: History, other: History): boolean {
  return one.system === other.system && one.timeline === other.timeline;
}
