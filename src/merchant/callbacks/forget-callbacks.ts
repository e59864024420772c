// The log of callbacks is kept for some days after a transfer has ended and its last delivery was given up, or would have been.

import type { Pool } from "pg";

/** What the database keeps in any case. */
export const LEAST_CALLBACK_LOG_DAYS = 90;

const MOST_AT_ONCE = 1_000;
/** More than merchants add in the minute between two rounds. */
const MOST_BATCHES = 100;
const FORGET = `SELECT forget_callbacks($1, ${MOST_AT_ONCE}) AS forgotten`;

/** Deletes old deliveries with their attempts, in batches that are a transaction each. None that may still be sent, or of an open transfer. */
export async function forgetCallbacks(pool: Pool, days: number): Promise<void> {
  for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
    const { rows } = await pool.query<{ forgotten: number }>(FORGET, [days]);
    if ((rows[0]?.forgotten ?? 0) < MOST_AT_ONCE) return;
  }
}
