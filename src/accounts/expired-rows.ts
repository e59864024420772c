// What sign-in leaves behind: sessions and links that are over, and buckets that are full again.

import type { Pool } from "pg";

const MOST_AT_ONCE = 1_000;

// By primary key in the outer statement: a row that was prolonged meanwhile is looked at again, and stays.
const STATEMENTS = [
  ["auth.session", "id", "expires_at"],
  ["auth.verification", "id", "expires_at"],
  ["auth.throttle", "bucket", "booked_until"],
].map(
  ([table, key, over]) => `
DELETE FROM ${table} WHERE ${over} < clock_timestamp() AND ${key} IN (
  SELECT ${key} FROM ${table} WHERE ${over} < clock_timestamp() ORDER BY ${over} LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
);

/** Removes a batch of each. */
export async function removeExpired(pool: Pool): Promise<void> {
  for (const statement of STATEMENTS) await pool.query(statement);
}
