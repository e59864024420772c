import type { Pool } from "pg";
import { SERVING_SETTINGS } from "../../src/database/serving-settings.ts";

/** Runs the work while another session has locked rows, which it unlocks after twice the time that a request waits. */
export async function whileLocked<T>(pool: Pool, lock: string, work: () => Promise<T>): Promise<T> {
  const holder = await pool.connect();
  try {
    await holder.query("BEGIN");
    await holder.query(lock);
    const released = holder.query(`SELECT pg_sleep_for(2 * '${SERVING_SETTINGS.lock_timeout}'::interval); COMMIT`);
    const [outcome] = await Promise.all([work(), released]);
    return outcome;
  } finally {
    holder.release(true);
  }
}
