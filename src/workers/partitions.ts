import type { Pool } from "pg";
import type { Tick } from "./tick.ts";

const SIX_HOURS_MS = 6 * 3_600_000;
const MONTHS_AHEAD = 13;

/** Makes the partitions of usage records for the months to come, long before they are needed. */
export function partitionTick(pool: Pool): Tick {
  return {
    name: "make partitions",
    everyMs: SIX_HOURS_MS,
    run: () => pool.query("SELECT ensure_usage_partitions(now()::date, $1)", [MONTHS_AHEAD]),
  };
}
