import type { Pool } from "pg";
import type { Tick } from "../../workers/tick.ts";

const SIX_HOURS_MS = 6 * 3_600_000;
const MONTHS_AHEAD = 13;

/** Makes the partitions of usage records for the coming months, long before they are needed. */
export function partitionTick(pool: Pool): Tick {
  return {
    name: "make partitions",
    everyMs: SIX_HOURS_MS,
    run: () => ensurePartitions(pool, new Date(), MONTHS_AHEAD),
  };
}

const ENSURE = "SELECT partition, failure FROM ensure_usage_partitions($1::date, $2)";

type Ensured = { readonly partition: string; readonly failure: string | null };

/**
 * Makes the partitions of so many months from a day on, each in a step of its own. Returns the names of the new ones. Errors: one
 * that names every failed month and the reason, after all others were made.
 */
export async function ensurePartitions(pool: Pool, from: Date, months: number): Promise<string[]> {
  const { rows } = await pool.query<Ensured>(ENSURE, [from.toISOString().slice(0, 10), months]);
  const failed = rows.filter(({ failure }) => failure !== null);
  if (failed.length > 0) {
    const reasons = failed.map(({ partition, failure }) => `${partition} (${failure})`).join("; ");
    throw new Error(`Months of usage records could not be made; see database/README.md, "A wrong clock": ${reasons}`);
  }
  return rows.map(({ partition }) => partition);
}
