// The log of deliveries is kept for some days after the last one was given up, or would have been. A function of the database deletes it.

import type { Pool } from "pg";
import type { CallbackKind } from "./callback-kind.ts";

/** What the database keeps in any case. */
export const LEAST_LOG_DAYS = 90;

const MOST_AT_ONCE = 1_000;
/** More than receivers add in the minute between two rounds. */
const MOST_BATCHES = 100;

/** Deletes old deliveries with their attempts, in batches that are a transaction each. None that may still be sent. */
export async function forgetDeliveries({ tables }: CallbackKind, pool: Pool, days: number): Promise<void> {
  const forget = `SELECT ${tables.forget}($1, ${MOST_AT_ONCE}) AS forgotten`;
  for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
    const { rows } = await pool.query<{ forgotten: number }>(forget, [days]);
    if ((rows[0]?.forgotten ?? 0) < MOST_AT_ONCE) return;
  }
}
