import type { Pool } from "pg";
import { rollUpUsage } from "../usage/roll-up.ts";
import type { Tick } from "../../workers/tick.ts";

const FIVE_MINUTES_MS = 5 * 60_000;
/** The part of its time that the database works for roll-ups beside requests. */
const SHARE = 0.2;

/** Rolls usage up, and reports accounts whose roll-ups had missed a record. */
export function usageTick(pool: Pool, onMissed: (accountIds: readonly string[]) => void): Tick {
  return {
    name: "roll usage up",
    everyMs: FIVE_MINUTES_MS,
    run: async (signal) => {
      const { recounted } = await rollUpUsage(pool, { share: SHARE, signal });
      if (recounted.length > 0) onMissed(recounted);
    },
  };
}
