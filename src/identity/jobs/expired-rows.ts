import type { Pool } from "pg";
import { type KeptFor, removeExpired } from "../expired-rows.ts";
import type { Tick } from "../../workers/tick.ts";

const EVERY_MS = 60_000;

/** Removes sessions, links, counts of tries, unverified people and lines of the security log that are over. */
export function signInTick(pool: Pool, keptFor: KeptFor): Tick {
  return { name: "forget old sign-ins", everyMs: EVERY_MS, run: () => removeExpired(pool, keptFor) };
}
