import type { Pool } from "pg";

/**
 * Lets a lease pass by: every process but the newest one is overdue, and that one has renewed for a whole term. The long form of a test
 * waits instead, as `test/app/lifecycle.test.ts` and `test/faults/paused-gateway.test.ts` always do.
 */
export async function passLease(pool: Pick<Pool, "query">): Promise<void> {
  await pool.query(`
    UPDATE process SET gapless_since = gapless_since - interval '20 s',
      expires_at = CASE WHEN id = (SELECT id FROM process ORDER BY id DESC LIMIT 1) THEN expires_at ELSE clock_timestamp() END
    WHERE dead_at IS NULL`);
}
