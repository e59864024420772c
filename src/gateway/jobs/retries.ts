import type { Pool } from "pg";
import { forgetOldRetries } from "../retries/retries.ts";
import type { Tick } from "../../workers/tick.ts";

const EVERY_MS = 60_000;

/** Forgets idempotency keys and kept answers that are over. */
export function retriesTick(pool: Pool): Tick {
  return { name: "forget old retries", everyMs: EVERY_MS, run: () => forgetOldRetries(pool) };
}
